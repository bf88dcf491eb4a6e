/**
 * What a module says about its own place is replaced before bundling: by its place inside the cell, without moving its
 * lines.
 */
import { SourceMap } from "node:module";
import { sep } from "node:path";
import { describe, expect, it } from "vitest";
import { bundleFile, bundleText } from "../../../src/bundler/bundle.ts";
import { placed } from "../../../src/bundler/child/meta.ts";
import { GuestNames } from "../../../src/bundler/child/names.ts";
import { folder } from "../../support/files.ts";

const run = (text: string, path = "/plugin/src/a.js"): unknown => {
  const code = placed(text, path, false)?.code ?? text;
  // oxlint-disable-next-line typescript/no-implied-eval -- text of our own
  return new Function(code.replace("export default", "return"))() as unknown;
};

describe("import.meta", () => {
  it("is the module's place inside the cell", () => {
    const fields = `export default [import.meta.url, import.meta.dirname, import.meta . filename, import.meta.main, import.meta.resolve("../b.json"), import.meta === import.meta]`;
    expect(run(fields, "/plugin/src/ü a.js")).toEqual([
      "file:///plugin/src/%C3%BC%20a.js",
      "/plugin/src",
      "/plugin/src/ü a.js",
      false,
      "file:///plugin/b.json",
      true,
    ]);
  });

  it("is left alone where it is text", () => {
    expect(placed(`export default "import.meta.url" + 1; // import.meta`, "/plugin/a.js", false)).toBeUndefined();
    expect(placed("import.meta.url {", "/plugin/a.js", false)).toBeUndefined();
    expect(placed(`{ "a": "import.meta" }`, "/plugin/a.json", false)).toBeUndefined();
  });
});

describe("__dirname and __filename", () => {
  it("are there in modules of both kinds, after directives", () => {
    expect(run(`export default [__dirname, __filename]`)).toEqual(["/plugin/src", "/plugin/src/a.js"]);
    expect(run(`"use strict"; return [__dirname, (function () { return this; })()];`, "/plugin/a.cjs")).toEqual(["/plugin", undefined]);
    expect(placed(`declare const __dirname: string; export default __dirname as string`, "/plugin/a.ts", false)?.code).toContain(
      `var __dirname = "/plugin"`,
    );
  });

  it.each([
    `const __dirname = "mine"; export default __dirname`,
    `export default __dirname; var { x: __dirname } = {}`,
    `import __dirname from "./x"; export default __dirname`,
    `function __dirname() {} export default __dirname`,
    `export const [__dirname] = ["mine"];`,
  ])("are the module's own if it declares them: %s", (text) => {
    expect(placed(text, "/plugin/a.js", false)).toBeUndefined();
  });
});

describe("a bundle", () => {
  it("keeps its lines and columns, and tells no path of the machine's", async () => {
    const text = `const a: string = "😀"; const b = [import.meta.url, __dirname]; export default () => { throw new Error(a + b); };\nexport const second = import.meta.url;`;
    const root = folder({ "index.ts": text });
    const { code, map, own } = await bundleFile(root, `${root}${sep}index.ts`);
    expect(code + map + own).not.toContain(root);
    const line = code.split("\n").findIndex((one) => one.includes("throw new Error"));
    const found = new SourceMap(JSON.parse(map) as never).findEntry(line, code.split("\n")[line]!.indexOf("throw")) as {
      originalLine: number;
      originalColumn: number;
    };
    expect([found.originalLine, found.originalColumn]).toEqual([0, text.indexOf("throw")]);
  });

  it("lists the Node modules it requires, and the files that import them", async () => {
    const { builtins, readsFiles } = await bundleText(
      `import fs from "node:fs"; import "path"; import os from "os"; import type { A } from "net"; export default () => fs.readFileSync`,
    );
    expect(builtins).toMatchObject([
      { name: "fs", importers: ["plugin.ts"] },
      { name: "path", importers: ["plugin.ts"] },
    ]);
    expect(readsFiles).toBe(true);
    expect(await bundleText(`import path from "path"; export default path.join`)).toMatchObject({ readsFiles: false, own: "" });
    const root = folder({
      "index.js": `export { default } from "./lib/b.cjs"`,
      "lib/b.cjs": `const fs = require("fs/promises"); module.exports = fs`,
    });
    expect(await bundleFile(root, `${root}${sep}index.js`)).toMatchObject({
      builtins: [{ name: "fs/promises", importers: ["lib/b.cjs"] }],
      readsFiles: true,
    });
  });

  it("names packages by their own folders, however they are nested", () => {
    const root = folder({});
    const names = new GuestNames(root);
    expect(
      [
        `${root}/src/a.ts`,
        `${root}/node_modules/x/a.js`,
        "/somewhere/node_modules/.pnpm/x@1/node_modules/@s/x/a.js",
        "/elsewhere/a.js",
      ].map((id) => names.path(id)),
    ).toEqual(["/plugin/src/a.ts", "/plugin/node_modules/x/a.js", "/plugin/node_modules/@s/x/a.js", "/plugin/plugin.js"]);
  });
});
