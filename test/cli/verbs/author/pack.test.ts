/** `creel pack`: what it prints is what an operator will be asked, and what creel check refuses is not packed. */
import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { creelHere } from "../../../support/cli-in-process.ts";
import { folder } from "../../../support/files.ts";

const SOURCE = `export default (api) => {
  api.on("before_tool_call", async () => {
    await api.kv.set("n", 1);
    await fetch("https://api.example.com/v1");
    return undefined;
  });
};
`;
const plugin = (permissions: object, source = SOURCE, main = "index.js"): string =>
  folder({
    "creel.plugin.json": JSON.stringify({ id: "counts", main, permissions }),
    "package.json": JSON.stringify({ name: "counts", version: "2.0.0" }),
    [main]: source,
  });

async function unrequested(permissions: object): Promise<string[]> {
  const { out } = await creelHere("check", plugin(permissions), "--types", "none", "--json");
  return (JSON.parse(out) as { unrequested: { key: string }[] }).unrequested.map(({ key }) => key);
}

describe("creel pack", () => {
  it("writes the archive, and says what an operator will be asked and what the manifest forgot", async () => {
    const root = plugin({ kv: { reason: "it counts" } });
    const file = join(root, "out.tgz");
    const { code, out } = await creelHere("pack", root, "--out", file, "--types", "none");
    expect(code).toBe(0);
    expect(out).toContain(`✓ counts 2.0.0 is packed in ${file}`);
    expect(out).toContain("Can stop   before_tool_call");
    expect(out).toMatch(/^ {2}kv: .*\(it counts\)$/m);
    expect(out).toContain(`"permissions": { "fetch:https://api.example.com": "why it needs this" }`);
    expect(out).toContain(`next: creel install ${file}\n`);
    const again = await creelHere("pack", root, "--out", join(root, "again.tgz"), "--types", "none", "--json");
    expect(readFileSync(join(root, "again.tgz")).equals(readFileSync(file))).toBe(true);
    expect(JSON.parse(again.out)).toMatchObject({ version: "2.0.0", integrity: expect.stringMatching(/^sha512-/) as string });
  });

  it("writes nothing if creel check has a problem", async () => {
    const root = plugin({}, "export default () => { throw new Error('no'); };\n");
    const file = join(root, "out.tgz");
    const { code, out } = await creelHere("pack", root, "--out", file, "--types", "none");
    expect([code, existsSync(file)]).toEqual([1, false]);
    expect(out).toContain("✗ register:");
  });

  it("writes nothing if a type is wrong", async () => {
    const root = plugin(
      {},
      `import type { PluginApi } from "creel/plugin";
export default (api: PluginApi) => { api.on("before_tool_call", () => ({ blok: true, blockReason: "x" })); };
`,
      "index.ts",
    );
    mkdirSync(join(root, "node_modules"));
    symlinkSync(join(import.meta.dirname, "../../../.."), join(root, "node_modules/creel"));
    const file = join(root, "out.tgz");
    const { code, out } = await creelHere("pack", root, "--out", file, "--types", "required");
    expect([code, existsSync(file)]).toEqual([1, false]);
    expect(out).toMatch(/✗ types:[^]*blok/);
  });
});

describe("creel check", () => {
  it("names the permissions that the code needs and the manifest does not request", async () => {
    const asked = { kv: { reason: "x" }, fetch: [{ origin: "https://api.example.com", methods: ["GET"], pathPrefix: "/v1", reason: "x" }] };
    expect(await unrequested(asked)).toEqual([]);
    expect(await unrequested({ fetch: asked.fetch })).toEqual(["kv"]);
    expect(await unrequested({})).toEqual(["fetch:https://api.example.com", "kv"]);
  });
});
