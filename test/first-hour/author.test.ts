/** A plugin author's first hour with the packed package (A1 to A11 of the report): from `creel init` to a plugin that can be installed. */
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { write } from "../support/files.ts";
import { packedCreel } from "../support/packed.ts";
import { CTRL_C, hasPty } from "../support/pty.ts";
import { Person } from "./person.ts";

const PLUGIN = (body: string) => `import type { PluginApi } from "creel/plugin";\nexport default (api: PluginApi) => {\n${body}\n};\n`;

describe("an author", { timeout: 90_000 }, () => {
  let me: Person;
  const at = (...parts: string[]) => join(me.home, ...parts);
  const plugin = (name: string, body: string, manifest: object = {}) =>
    write(at(name), {
      "creel.plugin.json": JSON.stringify({ id: name, version: "0.1.0", ...manifest }, undefined, 2),
      "package.json": JSON.stringify({ name, version: "0.1.0", type: "module" }),
      "index.ts": PLUGIN(body),
    });
  beforeAll(async () => {
    me = await Person.begin();
  }, 120_000);

  it("starts with creel init, and its plugin, its test and its check pass as they are", async () => {
    const { code, text } = await me.creel("init", "first");
    expect([code, existsSync(at("first/index.ts"))]).toEqual([0, true]);
    expect(text).toContain("creel ");
    if (!existsSync(at("first/node_modules"))) symlinkSync((await packedCreel()).modules, at("first/node_modules"));
    expect((await me.creel("check", "./first")).code).toBe(0);
    const tested = await me.run(process.execPath, ["--test"], at("first"));
    expect(tested.text).toMatch(/pass [1-9]/);
  });

  it("A6 sees a syntax error with its frame, in check and in --json with file, line and column", async () => {
    plugin("broken", "  const isForbidden == 3;");
    const { code, out } = await me.creel("check", "./broken");
    expect([code, out.includes("(index.ts:3:9)"), out.includes("╭─[ index.ts:3:9 ]")]).toEqual([1, true, true]);
  });

  it("A7 sees the whole stack of a failure at a terminal, in lines of TypeScript", async () => {
    plugin(
      "deep",
      `  const inner = () => { throw new Error("deep"); };\n  const outer = () => inner();\n  api.on("before_tool_call", () => outer());`,
    );
    const { out } = await me.creel("call", "before_tool_call", "--plugin", "./deep", "--event", '{"toolName":"t","params":{}}');
    expect(out).toMatch(/index\.ts:3:\d+[^]*index\.ts:4:\d+[^]*index\.ts:5:\d+/);
  });

  it("A8 sees all problems of a manifest at once, each with its line and what was meant", async () => {
    plugin("wrong", "", { version: 3, permissions: { shedule: {}, kv: "yes" } });
    const { code, err } = await me.creel("check", "./wrong");
    expect(code).toBe(1);
    expect(err.split("\n").filter((line) => line.startsWith("  line ")).length).toBeGreaterThanOrEqual(3);
    expect(err).toContain('did you mean "schedule"?');
    expect(existsSync(join((await packedCreel()).root, "docs/reference/creel.plugin.schema.json"))).toBe(true);
  });

  it("A10 is told that a folder does not exist, and calls tools, commands and jobs", async () => {
    expect((await me.creel("check", "./nope")).text).toContain("nope");
    const tool = `{ name: "search", description: "d", parameters: { type: "object" }, execute: async (_id, args) => ({ content: [{ type: "text", text: "found " + (args as { q: string }).q }] }) }`;
    plugin("tools", `  api.registerTool(${tool});`);
    const called = await me.creel("call", "tool:search", "--plugin", "./tools", "--argument", '{"q":"fish"}');
    expect([called.code, called.out.includes("found fish")]).toEqual([0, true]);
  });

  it("A11 is told that a hook has no such field, beside a correct one", async () => {
    plugin("typo", `  api.on("before_tool_call", () => ({ blok: true, blockReason: "x" }) as never);`);
    const { text } = await me.creel("call", "before_tool_call", "--plugin", "./typo", "--event", '{"toolName":"t","params":{}}');
    expect(text).toContain("blok");
  });

  it("A1 A9 packs what will be installed, and the package holds no test", async () => {
    plugin("packed", `  api.on("message_sending", () => undefined);`);
    writeFileSync(at("packed/index.test.ts"), "");
    const { code, text } = await me.creel("pack", "./packed");
    expect([code, /\.tgz/.test(text)]).toEqual([0, true]);
    expect((await me.creel("help", "writing-plugins")).out).toContain("#");
  });

  it.runIf(hasPty)("keeps creel dev open: it shows the failure of a new version, and the last good one stays", async () => {
    plugin("live", `  api.on("before_tool_call", () => ({ block: true, blockReason: "one" }));`);
    const screen = me.terminal(`creel dev ./live --event '{"toolName":"t","params":{}}' --hook before_tool_call || creel dev --help`);
    await screen.shows("before_tool_call");
    screen.type(CTRL_C);
    await screen.ended;
    expect(readFileSync(at("live/index.ts"), "utf8")).toContain("one");
  });
});
