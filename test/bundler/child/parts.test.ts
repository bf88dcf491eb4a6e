/** Parts of a plugin that OpenClaw's SDK loads by the names of their files are in its bundle, with their loaders. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bundleFile } from "../../../src/bundler/bundle.ts";
import { Parts } from "../../../src/bundler/child/parts.ts";
import { folder } from "../../support/files.ts";

const SDK = "openclaw/plugin-sdk/channel-entry-contract";
const IMPORT = `import { loadBundledEntryExportSync as load } from "${SDK}";`;
const named = (specifier: string): string => `${IMPORT} export default load(import.meta.url, { specifier: ${JSON.stringify(specifier)} });`;

function load(_: string, reference: Record<symbol, (() => unknown) | undefined>): unknown {
  return reference[Symbol.for("creel.part")]?.();
}

/** Runs the bundle with an SDK that calls the loader beside the name, and gives what it exports by default. */
async function run(files: Record<string, string>, entry = "index.ts", prepare: (root: string) => void = () => {}): Promise<unknown> {
  const root = folder(files);
  prepare(root);
  const { code } = await bundleFile(root, join(root, entry));
  expect(code).not.toContain(root);
  const sdk = { __esModule: true, loadBundledEntryExportSync: load };
  const module = { exports: {} as { default?: unknown } };
  // oxlint-disable-next-line typescript/no-implied-eval -- text of our own
  new Function("module", "exports", "require", code)(module, module.exports, (name: string) => {
    expect(name).toBe(SDK);
    return sdk;
  });
  return module.exports.default;
}

it("a part runs when it is first loaded, once, and finds what its module has as require of no use", async () => {
  const files = {
    "index.ts": `${IMPORT}
      const require = (name: string) => "not this one";
      const log = ((globalThis as any).partsLog = [] as string[]);
      const ask = (exportName: string) => load(import.meta.url, { specifier: "./api.js", exportName }) as { a: number };
      log.push("index");
      export default [ask("a").a, ask("b").a, log.join(), typeof require];`,
    "api.ts": `import { b } from "./b.js"; (globalThis as any).partsLog.push("api"); export const a: number = b;`,
    "b.ts": `export const b = 7;`,
  };
  expect(await run(files)).toEqual([7, 7, "index,api", "function"]);
});

it("the name is looked for as OpenClaw does: as it is, as its source, and without src", async () => {
  const index = `${IMPORT} const at = (part) => load(import.meta.url, part)?.name;
    export default [at({ specifier: "./a.mjs" }), at({ specifier: \`./src/b.js\` }), at({ "specifier": "./lib/c.cjs" }), at({ specifier: "./none.js" })];`;
  const parts = { "a.mts": `export const name = "a";`, "b.js": `export const name = "b";`, "lib/c.cjs": `exports.name = "c";` };
  expect(await run({ "index.js": index, "package.json": `{ "type": "module" }`, ...parts }, "index.js")).toEqual([
    "a",
    "b",
    "c",
    undefined,
  ]);
});

it("a CommonJS file names parts, too", async () => {
  const files = {
    "index.cjs": `"use strict"; const { loadBundledEntryExportSync } = require("${SDK}");
      exports.default = [loadBundledEntryExportSync("", { specifier: "./a.cjs" }).a, (function () { return this; })()];`,
    "a.cjs": `exports.a = 1;`,
  };
  expect(await run(files, "index.cjs")).toEqual([1, undefined]);
});

it("SECURITY: a name that leads out of the folder, also by a link, brings no file in", async () => {
  const outside = folder({ "key.js": `export const key = "s3cr3t";` });
  for (const specifier of [`./../${outside.split("/").at(-1)}/key.js`, join(outside, "key.js"), "./x/../../key.js"])
    expect(await run({ "index.ts": named(specifier) })).toBeUndefined();
  const link = (root: string): void => symlinkSync(join(outside, "key.js"), join(root, "linked.js"));
  await expect(run({ "index.ts": named("./linked.js") }, "index.ts", link)).rejects.toThrow(/not a file of the plugin's folder/);
});

it("other modules are left alone, whatever they call specifier", () => {
  const root = folder({ "a.js": "", "b.js": "" });
  const look = (code: string) => new Parts(root).placed(code, join(root, "b.js"), false);
  expect(look(`export default { specifier: "./a.js" };`)).toBeUndefined();
  expect(look(`defineBundledChannelEntry({ plugin: { specifier: name }, runtime: { [specifier]: "./a.js" } });`)).toBeUndefined();
  expect(look(`defineBundledChannelEntry({ specifier: "./a.js"`)).toBeUndefined();
  expect(look(`export default defineBundledChannelEntry({ plugin: { specifier: "./a.js" } });`)?.code).toContain(
    "import { load as __creel_part_0 }",
  );
  expect(look(`"x"; exports.default = defineBundledChannelEntry({ plugin: { specifier: "./a.js" } });`)?.code).toContain("var { load:");
});
