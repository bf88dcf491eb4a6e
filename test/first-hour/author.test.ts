/** A plugin author's first hour with the packed package (A1 to A11 of the report): from `creel init` to a plugin that can be installed. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { scaffold } from "../../src/cli/init/scaffold.ts";
import { CATALOG } from "../../src/protocol/catalog.ts";
import { write } from "../support/files.ts";
import { packedCreel } from "../support/packed.ts";
import { CTRL_C, hasPty } from "../support/pty.ts";
import { Person } from "./person.ts";

const EVENT = '{"toolName":"t","params":{}}';
const PLUGIN = (body: string) => `import type { PluginApi } from "creel/plugin";\nexport default (api: PluginApi) => {\n${body}\n};\n`;
const gate = (reason: string) => `  api.on("before_tool_call", () => ({ block: true, blockReason: "${reason}" }));`;

describe("an author", { timeout: 90_000 }, () => {
  let me: Person;
  const at = (...parts: string[]) => join(me.home, ...parts);
  const plugin = (name: string, body: string, manifest: object = {}) =>
    write(at(name), {
      "creel.plugin.json": JSON.stringify({ id: name, ...manifest }, undefined, 2),
      "package.json": JSON.stringify({ name, version: "0.1.0", type: "module" }),
      "index.ts": PLUGIN(body),
    });
  /** Runs a hook or a function of a plugin. */
  const call = (what: string, name: string, ...more: string[]) =>
    me.creel("call", what, "--plugin", `./${name}`, "--isolation", "thread", ...more);
  const check = (name: string, ...more: string[]) => me.creel("check", `./${name}`, "--types", "none", ...more);
  beforeAll(async () => {
    me = await Person.begin();
  }, 180_000);

  it("A10 starts with creel init: its test passes as it is, and dev is among the scripts", async () => {
    const { code, text } = await me.creel("init", "first");
    expect([code, existsSync(at("first/index.ts"))]).toEqual([0, true]);
    expect(text).toContain("creel ");
    if (!existsSync(at("first/node_modules"))) symlinkSync((await packedCreel()).modules, at("first/node_modules"));
    const tested = await me.run(process.execPath, ["--test", "--test-isolation=none"], at("first"));
    expect(tested.text).toMatch(/pass [1-9]/);
    expect(JSON.parse(readFileSync(at("first/package.json"), "utf8"))).toMatchObject({ scripts: { dev: "creel dev ." } });
    // The build changes imports of Node's modules: in its own files, and in no text that it writes for others.
    const written = scaffold({ id: "first", hook: CATALOG.before_tool_call, creel: { dependency: "", isCheckout: false } });
    for (const name of Object.keys(written).filter((one) => one !== "package.json"))
      expect([name, readFileSync(at("first", name), "utf8")]).toEqual([name, written[name]]);
    expect(written[".gitignore"]).toContain("node_modules/");
  });

  it("A9 changes the version in one file, packs a package that npm can publish, and finds how in the guide", async () => {
    const file = at("first/package.json");
    writeFileSync(file, readFileSync(file, "utf8").replace('"0.1.0"', '"0.2.0"'));
    const packed = await me.creel("pack", "./first", "--types", "none", "--json");
    const { version, file: archive } = JSON.parse(packed.out) as { version: string; file: string };
    expect([packed.code, version]).toEqual([0, "0.2.0"]);
    const { stdout } = await me.sh(`tar -tzf ${archive} && tar -xzOf ${archive} package/package.json`);
    expect(stdout).not.toContain("index.test.ts");
    expect(stdout).not.toContain('"private"');
    expect((await me.creel("help", "writing-plugins")).out).toContain("npm publish");
  });

  it("A1 packs a plugin whose dependency has more than 5,000 files into one small archive", async () => {
    plugin("big", `  api.on("message_sending", () => ({ content: String(one) }));`);
    writeFileSync(at("big/index.ts"), `import { one } from "heavy";\n${readFileSync(at("big/index.ts"), "utf8")}`);
    mkdirSync(at("big/node_modules/heavy/all"), { recursive: true });
    for (let n = 0; n < 5_100; n++) writeFileSync(at(`big/node_modules/heavy/all/${n}.js`), "");
    write(at("big/node_modules/heavy"), {
      "package.json": `{ "name": "heavy", "version": "4.4.0", "type": "module", "main": "index.js" }`,
      "index.js": "export const one = 1;\n",
    });
    const { code, out } = await me.creel("pack", "./big", "--types", "none");
    expect([code, /is packed in big-0\.1\.0\.tgz \(0\.\d KB\)/.test(out)]).toEqual([0, true]);
  });

  it("A2 is told which permissions the code needs and the manifest does not request, as the manifest would say it", async () => {
    plugin("needs", `  api.on("message_sending", async () => { await api.kv.set("n", 1); await fetch("https://api.example.com/v1"); });`);
    const { code, out } = await check("needs");
    expect(code).toBe(0);
    for (const key of ["kv", "fetch:https://api.example.com"]) {
      expect(out).toContain(`its code seems to need ${key} `);
      expect(out).toContain(`"permissions": { ${JSON.stringify(key)}: "why it needs this" }`);
    }
  });

  it("A3 grants while developing: a permission by its key, or what the manifest requests", async () => {
    plugin(
      "counts",
      `  api.on("before_tool_call", async () => { await api.kv.set("n", 1); return { block: true, blockReason: "kept" }; });`,
      {
        permissions: { kv: "counts" },
      },
    );
    const without = await call("before_tool_call", "counts", "--event", EVENT);
    expect(without.text).toContain("--grant kv");
    for (const grant of ["kv", "requested"]) {
      const { out } = await call("before_tool_call", "counts", "--event", EVENT, "--grant", grant);
      expect([grant, out.includes("kept")]).toEqual([grant, true]);
    }
  });

  it("A4 is led from a handler that takes too long to its slow line", async () => {
    plugin("slow", `  api.on("before_tool_call", () => {\n    for (;;) {}\n  });`);
    const { text } = await call("before_tool_call", "slow", "--event", EVENT);
    const [, command = ""] = /next: creel (profile .+)/.exec(text) ?? [];
    const { stdout } = await me.sh(`creel ${command}`);
    expect(stdout).toContain("slow/index.ts:4");
  });

  it("A5 sees in a test which handler failed, where and what to do, without printing the outcome", async () => {
    plugin("fails", `  api.on("message_sending", () => {\n    throw new Error("wrong path");\n  });`);
    writeFileSync(
      at("fails/one.mjs"),
      `import { createHarness } from "creel/testing";\nawait using harness = await createHarness({ plugin: import.meta.dirname });\nawait harness.run("message_sending", { to: "a", content: "b" }, { channelId: "c" });\n`,
    );
    const { code, err } = await me.run(process.execPath, ["fails/one.mjs"]);
    expect(code).toBe(0);
    expect(err).toMatch(/creel: fails failed in message_sending: .*wrong path.*\(.*index\.ts:4:\d+\)\n {2}Fix: /);
  });

  it("A6 sees a syntax error with its frame, in check and in --json with file, line and column", async () => {
    plugin("broken", "  const isForbidden == 3;");
    const { code, out } = await check("broken");
    expect([code, out.includes("(index.ts:3:9)"), out.includes("╭─[ index.ts:3:9 ]")]).toEqual([1, true, true]);
    const { problems } = JSON.parse((await check("broken", "--json")).out) as { problems: { at: string }[] };
    expect(problems[0]!.at).toBe("index.ts:3:9");
  });

  it("A7 sees the whole stack of a failure at a terminal, in lines of TypeScript", async () => {
    const [inner, outer] = [`const inner = () => { throw new Error("deep"); };`, "const outer = () => inner();"];
    plugin("deep", `  ${inner}\n  ${outer}\n  api.on("before_tool_call", () => outer());`);
    const { out } = await call("before_tool_call", "deep", "--event", EVENT);
    expect(out).toMatch(/index\.ts:3:\d+[^]*index\.ts:4:\d+[^]*index\.ts:5:\d+/);
  });

  it("A8 sees all problems of a manifest at once, each with its line and what was meant", async () => {
    plugin("wrong", "", { version: 3, permissions: { shedule: "later", kv: 7 } });
    const { code, err } = await check("wrong");
    expect(code).toBe(1);
    expect(err.split("\n").filter((line) => line.startsWith("  line ")).length).toBeGreaterThanOrEqual(3);
    expect(err).toContain('did you mean "schedule"?');
  });

  it("A10 is told that a folder does not exist, and calls a tool, a command, a method and a job", async () => {
    expect((await check("nope")).text).toContain('"./nope" does not exist');
    const tool = `{ name: "search", description: "d", parameters: { type: "object" }, execute: async (_id, args) => ({ content: [{ type: "text", text: "found " + (args as { q: string }).q }] }) }`;
    plugin(
      "tools",
      `  api.registerTool(${tool});
  api.registerCommand({ name: "hello", description: "d", handler: async (ctx: { args?: string }) => ({ text: "said " + ctx.args }) });
  api.registerGatewayMethod("tools.sum", async ({ respond }: { respond: (ok: boolean, value: unknown) => void }) => respond(true, { sum: 3 }));
  api.schedule.on("nightly", () => api.logger.info("it is night"));`,
    );
    const grant = ["--grant", "schedule"];
    const calls = await Promise.all([
      call("tool:search", "tools", ...grant, "--argument", '{"q":"fish"}'),
      call("command:hello", "tools", ...grant, "--argument", "ann"),
      call("method:tools.sum", "tools", ...grant),
      call("job:nightly", "tools", ...grant),
    ]);
    const wanted = ["found fish", "said ann", '"sum": 3', "it is night"];
    expect(calls.map(({ text }, index) => (text.includes(wanted[index]!) ? wanted[index] : text))).toEqual(wanted);
  });

  it("A11 is told that a hook has no such field, beside a correct one: by check, and by the call", async () => {
    plugin("typo", `  api.on("before_tool_call", () => ({ blok: true, blockReason: "x" }));`);
    const [checked, called] = await Promise.all([me.creel("check", "./typo"), call("before_tool_call", "typo", "--event", EVENT)]);
    expect(checked).toMatchObject({ code: 1, out: expect.stringContaining("the hook has no such result field: blok") });
    expect(called.out).toContain("ignored, because the hook has no such field: blok");
  });

  it.runIf(hasPty)("A10 keeps creel dev open: a version that does not load is shown with its frame, the next good one runs", async () => {
    plugin("live", gate("one"));
    const screen = me.terminal(`creel dev ./live --isolation thread --hook before_tool_call --event '${EVENT}'`);
    await screen.shows('"blockReason": "one"');
    await screen.shows("watching");
    writeFileSync(at("live/index.ts"), PLUGIN("  const isForbidden == 3;"));
    await screen.shows("index.ts:3:9");
    writeFileSync(at("live/index.ts"), PLUGIN(gate("two")));
    await screen.shows("two");
    screen.type(CTRL_C);
    expect(await screen.ended).toBe(0);
  });
});
