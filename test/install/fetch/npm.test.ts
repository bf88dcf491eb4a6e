/** The operator's npm resolves and downloads; it runs nothing, and what it brings is pinned by its bytes. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { announced, pack, resolve } from "../../../src/install/fetch/npm.ts";
import { folder } from "../../support/files.ts";
import { openRegistry } from "../../support/registry.ts";
import type { Registry } from "../../support/registry.ts";

let registry: Registry;
let env: Registry["env"];
const mark = folder({});
const touch = (name: string): string => `node -e "require('fs').writeFileSync('${join(mark, name)}', '')"`;

beforeAll(async () => {
  registry = await openRegistry();
  ({ env } = registry);
  const scripts = Object.fromEntries(["preinstall", "install", "postinstall", "prepare", "prepack"].map((name) => [name, touch(name)]));
  await registry.publish({ name: "leaf", version: "1.0.0", scripts }, { "index.js": "module.exports = 1;" });
  await registry.publish({ name: "leaf", version: "2.0.0", scripts }, { "index.js": "module.exports = 2;" });
  await registry.publish({ name: "@scope/middle", version: "1.1.0", dependencies: { leaf: "^1.0.0" } }, { "index.js": "" });
});
afterAll(() => registry[Symbol.asyncDispose]());

describe("npm, as creel install uses it", () => {
  it("dependencies are resolved as npm would place them, each with its integrity, and none of their scripts runs", async () => {
    const found = await resolve({ leaf: "2.0.0", "@scope/middle": "^1.0.0" }, folder({}), { env });
    expect(found.map(({ path, version, hasInstallScript }) => [path, version, hasInstallScript])).toEqual([
      ["node_modules/@scope/middle", "1.1.0", false],
      ["node_modules/@scope/middle/node_modules/leaf", "1.0.0", true],
      ["node_modules/leaf", "2.0.0", true],
    ]);
    expect(found.every(({ integrity }) => integrity.startsWith("sha512-"))).toBe(true);
    expect(readdirSync(mark)).toEqual([]);
  });

  it("archives are the registry's bytes, in the order they were asked for", async () => {
    const into = folder({});
    const made = await pack(["leaf@2.0.0", "@scope/middle@1.1.0"], into, { env });
    expect(made.map(({ name, version }) => `${name}@${version}`)).toEqual(["leaf@2.0.0", "@scope/middle@1.1.0"]);
    for (const { path } of made) expect(readFileSync(path).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
    expect(readdirSync(mark)).toEqual([]);
  });

  it("what the registry says about a version comes as it is said, and what it does not say, or says oddly, is not made up", async () => {
    const attestations = { url: "https://example.com/a", provenance: { predicateType: "https://slsa.dev/provenance/v1" } };
    const says = {
      deprecated: "use leaf",
      publishedAt: "2026-01-02T03:04:05.678Z",
      dist: { attestations, signatures: [{ keyid: "k", sig: "s" }] },
    };
    await registry.publish({ name: "stated", version: "1.0.0" }, {}, says);
    await registry.publish(
      { name: "odd", version: "1.0.0" },
      {},
      { publishedAt: "yesterday", dist: { attestations: "all", signatures: {} } },
    );
    const [stated, odd, plain] = await Promise.all(
      ["stated", "odd", "leaf"].map((name) => announced({ name, version: "1.0.0" }, folder({}), { env })),
    );
    expect(stated).toEqual({
      deprecated: "use leaf",
      publishedAt: new Date("2026-01-02T03:04:05.678Z"),
      provenance: "https://slsa.dev/provenance/v1",
      isSigned: true,
    });
    const nothing = { deprecated: undefined, publishedAt: undefined, provenance: undefined, isSigned: false };
    expect([odd, plain]).toEqual([nothing, nothing]);
  });

  it("a dependency that no registry vouches for is refused", async () => {
    await expect(resolve({ here: "file:../x" }, folder({ "../x/package.json": "{}" }), { env })).rejects.toMatchObject({
      code: "ERR_INSTALL_SPEC",
    });
  });

  it("a package that does not exist is npm's complaint, in one line", async () => {
    await expect(pack(["no-such-package"], folder({}), { env })).rejects.toMatchObject({
      code: "ERR_INSTALL_NPM",
      message: expect.stringMatching(/^npm pack failed: .*404/) as string,
    });
  });
});
