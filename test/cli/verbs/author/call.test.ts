/** `creel call`: one hook from the shell. What comes out is the outcome; a mistake in what went in says where it is. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Outcome } from "creel";
import { contextFor } from "../../../../src/host/run/absent-context.ts";
import { prepare } from "../../../../src/host/run/prepare.ts";
import { CATALOG } from "../../../../src/protocol/catalog.ts";
import type { AnyHook } from "../../../../src/protocol/catalog.ts";
import { sampleEvent } from "../../../../src/protocol/rules/samples.ts";
import { folder } from "../../../support/files.ts";
import { creelHere } from "../../../support/cli-in-process.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const GUARD = `export default (api) => {
  api.on("before_tool_call", (event) => {
    api.logger.info("judging " + event.toolName);
    if (event.toolName === "rm") return { block: true, blockReason: "never " + api.pluginConfig.tone };
    if (event.toolName === "throw") {
      throw new Error("on purpose");
    }
    if (event.toolName === "ask") return { requireApproval: { title: "May it?", description: "x" } };
    if (event.toolName === "forge") return { block: true, blockReason: "a\\u001b[2J\\u009b31m\\u202e\\nb", params: { x: "\\u009b31m\\u202e\\u001b" } };
    if (event.toolName === "rewrite") return { params: { safe: true }, blok: true };
  }, { priority: 7 });
  api.on("llm_input", () => {});
};
`;
const guard = folder({ "creel.plugin.json": '{ "id": "guard" }', "index.js": GUARD });
const event = (toolName: string) => JSON.stringify({ toolName, params: {} });
const call = (toolName: string, ...more: string[]) =>
  creelHere("call", "before_tool_call", "--plugin", guard, "--isolation", "thread", "--event", event(toolName), ...more);

describe("creel call", () => {
  it("prints the decision, who made it and why, and a line per call with what it cost; log lines, and what to type next, go to stderr", async () => {
    const { code, out, err } = await call("rm");
    expect(code).toBe(0);
    expect(out).toMatch(/^before_tool_call {2}block by guard\n {2}reason +never undefined\n {2}result +\{\n {14}"block": true,\n/);
    expect(out).toMatch(/\n {2}✓ guard {2}ok {2}priority 7 +[\d.<]+ ms, cpu [\d.<]+ ms\n$/);
    expect(err).toBe(`guard info: judging rm\nnext: creel install ${guard}\n`);
  });

  it("with --json prints the outcome and nothing else on stdout", async () => {
    const { code, out } = await call("rewrite", "--json");
    const outcome = JSON.parse(out) as Outcome;
    expect(code).toBe(0);
    expect(outcome).toMatchObject({
      hook: "before_tool_call",
      decision: "pass",
      result: { params: { safe: true } },
      by: null,
      reason: null,
    });
    expect(outcome.calls).toMatchObject([{ plugin: "guard", status: "ok", ignored: ["blok"] }]);
  });

  it("shows a handler's failure with its place, and exits with 0: the hook was run", async () => {
    const { code, out } = await call("throw");
    expect(code).toBe(0);
    expect(out).toContain("before_tool_call  block by guard");
    expect(out).toMatch(/✗ guard {2}failed[^]+on purpose\n {6}at .*index\.js:6:/);
  });

  it("prints nothing of a plugin's that a terminal would obey, and JSON means the same without it", async () => {
    // oxlint-disable-next-line no-control-regex -- that is the point
    const orders = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;
    const [page, json] = [await call("forge"), await call("forge", "--json")];
    expect(page.out).not.toMatch(orders);
    expect(page.out).toContain(String.raw`"x": "\u009b31m\u202e\u001b"`);
    expect(json.out).not.toMatch(orders);
    expect(JSON.parse(json.out)).toMatchObject({ result: { params: { x: "\u009b31m\u202e\u001b" } } });
  });

  it("answers for the user if told to; otherwise there is none", async () => {
    expect((await call("ask")).out).toMatch(/block by guard[^]+approval +cancelled, asked for by guard/);
    expect((await call("ask", "--approve", "allow-once")).out).toMatch(/pass\n[^]+approval +allow-once, asked for by guard/);
  });

  it("tells every request and every change after the first one", async () => {
    const second = folder({
      "creel.plugin.json": '{ "id": "second" }',
      "index.js": `export default (api) => api.on("before_tool_call", () => ({ params: { x: 1 }, requireApproval: { title: "\\u001b[2JReally?", description: "y", severity: "critical" } }));`,
    });
    const { out } = await call("ask", "--plugin", second, "--approve", "deny");
    expect(out).toMatch(
      /block by guard[^]+approval +deny, asked for by guard: "May it\?"\n +deny, asked for by second: " \[2JReally\?" \(critical\)\n/,
    );
    expect(out).toMatch(/\n +second changed x after the first request\n/);
  });

  it("with a configuration, its plugins are called as it says", async () => {
    const config = JSON.stringify({
      plugins: { load: { paths: ["./guard"] }, entries: { guard: { config: { tone: "ever" } } } },
      sandbox: { spare: false },
    });
    const where = folder({
      "creel.json": config,
      "guard/creel.plugin.json": '{ "id": "guard" }',
      "guard/index.js": GUARD,
      "event.json": event("rm"),
    });
    const args = ["--config", `${where}/creel.json`, "--event", `@${where}/event.json`, "--isolation", "thread"];
    const { code, out, err } = await creelHere("call", "before_tool_call", ...args);
    expect(code).toBe(0);
    expect(out).toContain("never ever");
    // It may not read conversations there, and says so.
    expect(err).toContain("allowConversationAccess");
  });

  it("takes a hook whose name has a colon", async () => {
    expect(JSON.parse((await creelHere("call", "session:end", "--example")).out)).toMatchObject({ action: "end" });
    expect((await creelHere("call", "session:ned", "--example")).code).toBe(2);
  });

  it("says that nobody listens", async () => {
    const args = ["--plugin", guard, "--isolation", "thread", "--event", '{"to":"x","content":"y"}'];
    const { code, out } = await creelHere("call", "message_sending", ...args);
    expect([code, out]).toEqual([0, expect.stringContaining("no plugin that is loaded listens to message_sending")]);
  });

  it("does not run without a plugin that was named and does not load: exit code 1, with its place", async () => {
    const broken = folder({ "index.ts": "export default () => {\n  throw new Error('no');\n};\n" });
    const { code, out, err } = await call("rm", "--plugin", broken);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/did not load: [^]+at .*index\.ts:2:9\)?\n {2}Fix: /);
    expect(await call("rm", "--plugin", "./nowhere")).toMatchObject({ code: 1, err: expect.stringContaining("nowhere") });
  });

  it.each([
    [["before_tool_cal"], 'no hook named "before_tool_cal"; did you mean "before_tool_call"?'],
    [[], "expected the name of one hook"],
    [["before_tool_call"], "an event is required"],
    [["before_tool_call", "--event", event("x")], "there is nothing to call"],
    [["before_tool_call", "--event", '{"toolName":'], "the event cannot be read from --event"],
    [["before_tool_call", "--event", "@nowhere.json"], "the event cannot be read from nowhere.json"],
    [["before_tool_call", "--event", "[]"], "is not an object"],
    [["before_tool_call", "--event", '{"params":{}}'], 'not valid at "toolName"'],
    [
      ["before_tool_call", "--event", event("x"), "--ctx", '{"toolName":"x","agentId":7}'],
      'the context of "before_tool_call" is not valid at "agentId"',
    ],
  ])("answers %j with exit code 2, what is wrong and what to do", async (args, message) => {
    const { code, out, err } = await creelHere("call", ...args);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(message);
    expect(err).toContain("Fix:");
  });

  it("--example prints an event that the hook takes, of every hook there is", async () => {
    const { code, out } = await creelHere("call", "before_tool_call", "--example");
    expect([code, JSON.parse(out)]).toEqual([0, { toolName: "…", params: {} }]);
    for (const hook of Object.values(CATALOG) as AnyHook[]) {
      const sample = JSON.parse(JSON.stringify(sampleEvent(hook))) as object;
      expect(prepare(hook, sample, contextFor(hook, sample as Record<string, unknown>)).event).toMatchObject(sample);
    }
  });

  it("the real command reads stdin, and runs in a process of its own", async () => {
    const args = ["-C", "source", "src/cli/main.ts", "call", "before_tool_call", "--plugin", guard, "--event", "-", "--json"];
    const child = spawn(process.execPath, args, { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
    child.stdin.end(event("rm"));
    const [out, code] = await Promise.all([text(child.stdout), new Promise((resolve) => child.on("close", resolve))]);
    expect([code, JSON.parse(out)]).toEqual([0, expect.objectContaining({ decision: "block", by: "guard" })]);
  });
});
