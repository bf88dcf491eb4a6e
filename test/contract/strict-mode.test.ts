/** Modules are strict, as the language says; CommonJS files are sloppy where Node would run them so. Stacks are right in either. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { sending } from "../support/actors.ts";
import { folder } from "../support/files.ts";
import { contract, open } from "../support/host.ts";

/** What `this` is in a function that is called without one says which mode it is in. */
const MODE = `(function () { return this === undefined ? "strict" : "sloppy"; })()`;
const ESM = `export default (api) => { api.on("message_sending", () => ({ content: ${MODE} })); };`;
const CJS = `module.exports = (api) => { api.on("message_sending", () => ({ content: ${MODE} })); };`;
const MODULE = `{ "type": "module" }`;

contract("strict mode", (isolation) => {
  const modeOf = async (plugin: { source: string } | { path: string }): Promise<string | undefined> => {
    await using host = await open(isolation, { plugins: [{ id: "p", ...plugin }] });
    expect(host.inspect("p").error).toBe(undefined);
    return (await host.run("message_sending", sending({}), { channelId: "chat" })).result?.content;
  };

  it.each([
    ["a module", ESM, "strict"],
    ["CommonJS", CJS, "sloppy"],
    ["CommonJS that asks for it", `// a comment\n/* and\nanother */ 'use strict';\n${CJS}`, "strict"],
    ["a module that talks about it", `// "use strict"\n${ESM}`, "strict"],
    ["CommonJS that only talks about it", `// "use strict"\n${CJS}`, "sloppy"],
    ["CommonJS that says it too late", `/* a */ void 0; /* b */ "use strict"; ${CJS}`, "sloppy"],
    ["CommonJS that asks for it second", `#!/usr/bin/env node\n"use client"; "use strict"; ${CJS}`, "strict"],
  ])("%s given as text", async (_, source, mode) => {
    expect(await modeOf({ source })).toBe(mode);
  });

  it.each([
    ["plugin.ts", ESM, {}, "strict"],
    ["plugin.js", ESM, { "package.json": `{ "type": "commonjs" }` }, "strict"],
    ["plugin.js", CJS, {}, "sloppy"],
    ["plugin.js", CJS, { "package.json": "{}" }, "sloppy"],
    ["plugin.js", CJS, { "package.json": MODULE }, "strict"],
    ["plugin.cjs", CJS, { "package.json": MODULE }, "sloppy"],
    ["plugin.cjs", `"use strict"; ${CJS}`, {}, "strict"],
    ["plugin.mjs", ESM, {}, "strict"],
    ["src/plugin.js", CJS, { "package.json": MODULE, "src/package.json": "{}" }, "sloppy"],
  ])("of a file: %s, case %#", async (name, text, more, mode) => {
    expect(await modeOf({ path: join(folder({ [name]: text, ...more }), name) })).toBe(mode);
  });

  it("a strict plugin and its sloppy dependency each keep their own, and errors in either their place", async () => {
    const root = folder({
      "index.ts": `import type { PluginApi } from "creel/plugin";
import sloppy, { fail } from "old";
import { mode as strict } from "./lib.ts";

const dynamic = import("./more.cjs");
export default (api: PluginApi) => {
  api.on("message_sending", async (event) => {
    if (event.content === "dependency") fail();
    if (event.content === "plugin") throw new Error("in the plugin");
    return { content: [${MODE}, strict(), sloppy(), (await dynamic).default()].join() };
  });
};
`,
      "lib.ts": `export function mode(): string {\n  return ${MODE};\n}\n`,
      "more.cjs": `undeclared = () => ${MODE};\nmodule.exports = undeclared;\n`,
      "node_modules/old/index.js": `var other = require("./other");\n\nmodule.exports = function () { return ${MODE} + other; };\nmodule.exports.fail = function fail() { throw new Error("in the dependency"); };\n`,
      "node_modules/old/other.js": `implicit = "!";\nmodule.exports = implicit;\n`,
    });
    await using host = await open(isolation, { plugins: [{ id: "p", path: root }] });
    expect(host.inspect("p").error).toBe(undefined);
    const run = (content: string) => host.run("message_sending", sending({}, content), { channelId: "chat" });
    expect((await run("")).result?.content).toBe("strict,strict,sloppy!,sloppy");
    expect((await run("plugin")).calls[0]?.error).toMatchObject({ at: expect.stringMatching(/^index\.ts:9:\d+$/) });
    const { at, stack } = (await run("dependency")).calls[0]!.error!;
    expect(at).toMatch(/^node_modules\/old\/index\.js:4:\d+$/);
    expect(stack).toMatch(/index\.ts:8:\d+/);
  });

  it("a sloppy plugin may depend on a module, and on what Node has and the sandbox has not", async () => {
    const root = folder({
      "index.js": `const { mode } = require("./lib.mjs");\nmodule.exports = (api) => {\n  leaked = ${MODE};\n  api.on("message_sending", (event) => event.content === "repl" ? require("node:repl") : { content: leaked + mode() });\n};\n`,
      "lib.mjs": `export const mode = () => "+";\n`,
    });
    await using host = await open(isolation, { plugins: [{ id: "p", path: root }] });
    expect((await host.run("message_sending", sending({}, ""), { channelId: "chat" })).result?.content).toBe("sloppy+");
    const [call] = (await host.run("message_sending", sending({}, "repl"), { channelId: "chat" })).calls;
    expect(call?.error).toMatchObject({ code: "ERR_PLUGIN_MODULE" });
  });

  it("an error while loading has its place in a plugin of both kinds, too", async () => {
    const root = folder({
      "index.ts": `import "./old.cjs";\nexport default () => {};\n`,
      "old.cjs": `\n\nleaked = 1;\nthrow new Error("top " + leaked);\n`,
    });
    await using host = await open(isolation, { allowFailed: true, plugins: [{ id: "p", path: root }] });
    expect(host.inspect("p").error).toMatchObject({ code: "ERR_PLUGIN_LOAD", at: expect.stringMatching(/^old\.cjs:4:\d+$/) });
  });

  it("the name of a file cannot colour a terminal", async () => {
    const name = "a\u001b[31m.ts";
    const root = folder({
      "index.ts": `export { f as default } from ${JSON.stringify(`./${name}`)};\n`,
      [name]: `export const f = () => {\n  throw new Error("x");\n};\n`,
    });
    await using host = await open(isolation, { allowFailed: true, plugins: [{ id: "p", path: root }] });
    expect(host.inspect("p").error?.at).toMatch(/^a \[31m\.ts:2:\d+$/);
  });
});
