/** A plugin and what it needs come into a staging folder: verified, unpacked by the rules for archives, and nothing of it has run. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fetchPlugin } from "../../../src/install/fetch/fetch.ts";
import type { FetchStep } from "../../../src/install/fetch/fetch.ts";
import { pack } from "../../../src/install/fetch/npm.ts";
import { folder } from "../../support/files.ts";
import { openRegistry } from "../../support/registry.ts";
import type { Registry } from "../../support/registry.ts";

let registry: Registry;
const staging = (): string => mkdtempSync(join(folder({}), "staging-"));

beforeAll(async () => {
  registry = await openRegistry();
  await registry.publish({ name: "leaf", version: "1.0.0" }, { "index.js": "module.exports = 1;" });
  await registry.publish({ name: "leaf", version: "2.0.0" }, { "index.js": "module.exports = 2;" });
  await registry.publish({ name: "middle", version: "1.0.0", dependencies: { leaf: "^1.0.0" } }, { "index.js": "" });
  await registry.publish(
    {
      name: "plugin",
      version: "3.1.0",
      dependencies: { middle: "1", leaf: "2", openclaw: "*" },
      peerDependencies: { openclaw: "*" },
      devDependencies: { nowhere: "1" },
      optionalDependencies: { nowhere: "1" },
      scripts: { postinstall: "false", test: "false" },
      bin: "index.js",
    },
    { "index.js": "export default () => {};" },
  );
  await registry.publish({ name: "changed", version: "1.0.0" }, { "index.js": "" });
  registry.tamper("changed");
});
afterAll(() => registry[Symbol.asyncDispose]());

describe("fetching a plugin", () => {
  it("a package comes with what it needs, where npm would put it, each step said", async () => {
    const steps: FetchStep[] = [];
    const { env } = registry;
    const found = await fetchPlugin({ kind: "npm", spec: "plugin@^3" }, staging(), { env, progress: (step) => void steps.push(step) });
    expect(found.resolved).toBe("plugin@3.1.0");
    expect(found.integrity).toMatch(/^sha512-/);
    expect(found.package).toMatchObject({ name: "plugin", version: "3.1.0", installScripts: ["postinstall"], hasBin: true });
    expect(found.dependencies.map(({ path }) => path)).toEqual([
      "node_modules/leaf",
      "node_modules/middle",
      "node_modules/middle/node_modules/leaf",
    ]);
    expect(readFileSync(join(found.root, "node_modules/leaf/index.js"), "utf8")).toContain("2");
    expect(readFileSync(join(found.root, "node_modules/middle/node_modules/leaf/index.js"), "utf8")).toContain("1");
    expect(steps.map(({ step }) => step)).toEqual(["fetch", "verify", "unpack", "fetch", "verify", "unpack", "unpack", "unpack"]);
    // What the gateway provides, what is optional and what is for development only was never asked for.
    expect(registry.requests.filter((path) => /openclaw|nowhere/.test(path))).toEqual([]);
  });

  it("bytes that are not the announced ones are refused, and nothing is left of them", async () => {
    const into = staging();
    await expect(fetchPlugin({ kind: "npm", spec: "changed" }, into, { env: registry.env })).rejects.toMatchObject({
      code: expect.stringMatching(/^ERR_INSTALL_(?:NPM|INTEGRITY)$/) as string,
    });
    expect(existsSync(join(into, "plugin", "index.js"))).toBe(false);
  });

  it("a tarball on disk has the integrity of its bytes", async () => {
    const [packed] = await pack([folder({ "package.json": JSON.stringify({ name: "x", version: "1.0.0" }), "index.js": "1" })], staging(), {
      env: registry.env,
    });
    const found = await fetchPlugin({ kind: "tarball", path: packed!.path }, staging());
    expect(found.integrity).toBe(packed!.integrity);
    expect(found.files.map(({ path }) => path)).toEqual(["index.js", "package.json"]);
  });

  it("a folder is copied without what is the author's own, and its integrity is that of its files", async () => {
    const files = { "index.ts": "1", "lib/a.ts": "2", "node_modules/x/index.js": "3", ".git/HEAD": "4" };
    const [one, two, other] = await Promise.all(
      [files, files, { ...files, "lib/a.ts": "3" }].map((content) => fetchPlugin({ kind: "folder", path: folder(content) }, staging())),
    );
    expect(one!.files.map(({ path }) => path)).toEqual(["index.ts", "lib/a.ts"]);
    expect(readdirSync(one!.root)).toEqual(["index.ts", "lib"]);
    expect(one!.integrity).toBe(two!.integrity);
    expect(one!.integrity).not.toBe(other!.integrity);
    expect(one!.package).toBeUndefined();
  });

  it("of a folder a link is left out, and native code is refused", async () => {
    const linked = folder({ "index.js": "" });
    symlinkSync(tmpdir(), join(linked, "outside"));
    expect((await fetchPlugin({ kind: "folder", path: linked }, staging())).files).toMatchObject([{ path: "index.js" }]);
    const native = folder({ "index.js": "", "build/addon.node": "\u007fELF" });
    await expect(fetchPlugin({ kind: "folder", path: native }, staging())).rejects.toMatchObject({ code: "ERR_ARCHIVE_NATIVE" });
  });

  it("a package.json that two readers would read differently is refused", async () => {
    const twice = folder({ "package.json": '{ "name": "a", "name": "b" }', "index.js": "" });
    await expect(fetchPlugin({ kind: "folder", path: twice }, staging())).rejects.toMatchObject({ code: "ERR_INSTALL_JSON" });
  });
});
