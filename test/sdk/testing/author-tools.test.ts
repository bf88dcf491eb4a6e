/** The tools of an author's test: matchers, snapshots, coverage from inside the isolate, and generated events. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createHarness, creelMatchers, expectOutcome, snapshotOf } from "../../../src/sdk/testing/testing.ts";
import { CATALOG } from "../../../src/protocol/catalog.ts";
import type { AnyHook, HookName } from "../../../src/protocol/catalog.ts";
import type { Outcome } from "../../../src/protocol/outcome.ts";
import { fuzz } from "../../../src/sdk/testing/fuzz.ts";
import type { CreelMatchers } from "../../../src/sdk/testing/testing.ts";
import { folder } from "../../support/files.ts";

declare module "vitest" {
  // oxlint-disable-next-line typescript/no-empty-object-type, typescript/no-explicit-any, typescript/no-unused-vars
  interface Matchers<R, T> extends CreelMatchers {}
}
expect.extend(creelMatchers as never);
afterEach(() => void vi.unstubAllEnvs());

const root = fileURLToPath(new URL("../../..", import.meta.url));
const SOURCE = `import { reasonOf } from "./reason.ts";

export default {
  id: "covered",
  register(api) {
    api.on("before_tool_call", (event) => {
      const command = String(event.params.command);
      if (command === "ask") return { requireApproval: { title: "Run it?", description: command } };
      if (command === "rewrite") return { params: { command: "ls" } };
      if (command.includes("rm")) {
        return { block: true, blockReason: reasonOf(command) };
      }
      return undefined;
    });
    api.on("message_sending", (event) => {
      if (event.content.includes("__proto__")) throw new Error("not this word");
      return undefined;
    });
  },
};
`;
const REASON = `export function reasonOf(command: string): string {
  if (command.length > 100) {
    return "a long one";
  }
  return "no " + command;
}

export function unused(): string {
  return "never";
}
`;
const plugin = folder({ "index.ts": SOURCE, "reason.ts": REASON, "creel.plugin.json": `{ "id": "covered", "main": "index.ts" }` });
const call = (command: string): { toolName: string; params: Record<string, unknown> } => ({ toolName: "exec", params: { command } });

/** A file in a report of c8: how often each statement was run, which is a line to it. */
interface Reported {
  readonly statementMap: Readonly<Record<string, { readonly start: { readonly line: number } }>>;
  readonly s: Readonly<Record<string, number>>;
}

/** What c8 makes of the files that Node and the harness have left in `from`, by the path of each file of `where`. */
function reportOfC8(from: string, where: string): Readonly<Record<string, Reported>> {
  const c8 = createRequire(import.meta.url).resolve("c8/bin/c8.js");
  const args = [c8, "report", "--temp-directory", from, "--reporter", "json", "--reports-dir", from];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: where, encoding: "utf8", env: { PATH: process.env.PATH } });
  expect([status, stderr]).toEqual([0, ""]);
  return JSON.parse(readFileSync(join(from, "coverage-final.json"), "utf8")) as Record<string, Reported>;
}

/** What fuzz reports about a plugin that throws at these events. */
async function smallest(hook: AnyHook, throws: (event: Record<string, unknown>) => boolean, seed: number): Promise<unknown> {
  const run = async (event: Record<string, unknown>): Promise<Outcome> => {
    const error = throws(event) ? { code: "ERR_CALL_FAILED", message: "no" } : undefined;
    return { calls: [{ plugin: "x", status: error ? "failed" : "ok", ...(error && { error }) }] } as never;
  };
  return (await fuzz(hook, run, { runs: 1_000, seed })).failure?.event;
}

describe("matchers", () => {
  it("say what an outcome is, with expect and without", async () => {
    await using harness = await createHarness({ plugin });
    const [blocked, rewritten, passed] = [
      await harness.run("before_tool_call", call("rm x")),
      await harness.run("before_tool_call", call("rewrite")),
      await harness.run("before_tool_call", call("ls")),
    ];
    harness.approvals.answer("allow-once");
    const asked = await harness.run("before_tool_call", call("ask"));
    expect(blocked).toBlock("no rm");
    expect(blocked).toBlock(/^no rm x$/);
    expect(passed).not.toBlock();
    expect(rewritten).toRewrite({ params: { command: "ls" } });
    expect(rewritten).not.toRewrite({ params: { command: "rm" } });
    expect(asked).toAskApproval("Run it?");
    expect(passed).not.toAskApproval();
    expect(passed).toStayWithin({ cpuMs: 1_000 });
    expect(passed).not.toStayWithin({ cpuMs: 0 });
    expectOutcome(blocked).toBlock("no rm");
    expectOutcome(passed).not.toBlock();
    expect(() => expectOutcome(passed).toBlock()).toThrow('"decision": "pass"');
    expect(() => expectOutcome(blocked).not.toBlock()).toThrow("expected the run not to block");
  });

  it("do not take a failure that blocks for a block of the plugin's", async () => {
    await using harness = await createHarness({
      plugin: { id: "x", source: `export default (api) => api.on("before_tool_call", () => { throw new Error("oh"); });` },
    });
    const failed = await harness.run("before_tool_call", call("ls"));
    expect(failed.decision).toBe("block");
    expect(failed).not.toBlock();
    expect(failed).not.toStayWithin({});
  });

  it("fail a test of Node's own runner with what the outcome was", async () => {
    const where = folder({
      "a.test.ts": `import { test } from "node:test";
import { expectOutcome } from "creel/testing";
const outcome = { decision: "pass", calls: [{ plugin: "x", cpuMs: 1, wallMs: 1 }] } as never;
test("holds", () => expectOutcome(outcome).toStayWithin({ cpuMs: 2 }));
test("holds not", () => expectOutcome(outcome).toBlock("x"));
`,
      "package.json": '{ "type": "module" }',
    });
    mkdirSync(join(where, "node_modules"));
    symlinkSync(root, join(where, "node_modules/creel"));
    const flags = ["-C", "source", "--test", "--test-isolation", "none", "--test-reporter", "tap"];
    const { stdout } = spawnSync(process.execPath, flags, { cwd: where, encoding: "utf8", env: { PATH: process.env.PATH } });
    expect(stdout).toMatch(/^ok 1 - holds$/m);
    expect(stdout).toMatch(/^not ok 2 - holds not$/m);
    expect(stdout).toContain("expected the run to block because of x");
    expect(stdout).toContain("ERR_ASSERTION");
  });

  it("snapshots have nothing that differs from run to run", async () => {
    await using harness = await createHarness({ plugin });
    const one = snapshotOf(await harness.run("before_tool_call", call("rm x")));
    expect(snapshotOf(await harness.run("before_tool_call", call("rm x")))).toEqual(one);
    expect(one).toMatchObject({ decision: "block", reason: "no rm x", calls: [{ plugin: "covered", status: "ok" }] });
  });
});

describe("coverage", () => {
  it("counts the author's TypeScript lines inside the isolate, and c8 reports them by file and line", async () => {
    const reports = mkdtempSync(join(tmpdir(), "creel-coverage-"));
    vi.stubEnv("NODE_V8_COVERAGE", reports);
    const harness = await createHarness({ plugin, coverage: true });
    await harness.run("before_tool_call", call("rm x"));
    await harness.run("before_tool_call", call("ls"));
    const files = await harness.coverage();
    const linesOf = (name: string): Readonly<Record<number, number>> => files.find(({ file }) => file.endsWith(name))!.lines;
    // The handler ran twice, its block once, what throws never.
    expect(linesOf("index.ts")).toMatchObject({ 7: 2, 11: 1, 16: 0 });
    expect(linesOf("reason.ts")).toMatchObject({ 2: 1, 3: 0, 5: 1, 9: 0 });
    expect(await harness.lcov()).toMatch(/SF:.*reason\.ts\n(?:DA:.*\n)*DA:3,0\n/);
    await harness.close();
    const name = readdirSync(reports).find((file) => file.startsWith("coverage-"));
    const { result } = JSON.parse(readFileSync(join(reports, name!), "utf8")) as {
      result: { url: string; functions: { ranges: { startOffset: number; endOffset: number; count: number }[] }[] }[];
    };
    const { ranges } = result.find(({ url }) => url.endsWith("/reason.ts"))!.functions[0]!;
    const missed = ranges
      .filter(({ count }) => count === 0)
      .map(({ startOffset, endOffset }) => REASON.slice(startOffset, endOffset).trim());
    expect(missed).toContain('return "a long one";');
    expect(missed).not.toContain('return "no " + command;');
    // Every line of its report, by its number: what has no code counts as run once.
    const reported = reportOfC8(reports, plugin);
    for (const { file, lines } of files) {
      const { s, statementMap } = reported[file]!;
      const counts = Object.entries(statementMap).map(([at, { start }]) => [start.line, s[at]]);
      const expected = readFileSync(file, "utf8")
        .split("\n")
        .slice(0, -1)
        .map((_, at) => [at + 1, lines[at + 1] ?? 1]);
      expect([file, counts]).toEqual([file, expected]);
    }
  });

  it("is empty without the option", async () => {
    await using harness = await createHarness({ plugin });
    expect(await harness.coverage()).toEqual([]);
  });
});

describe("fuzz", { timeout: 60_000 }, () => {
  it("finds an event that makes the plugin throw, and makes it as small as it can", async () => {
    await using harness = await createHarness({ plugin });
    const { failure, seed } = await harness.fuzz("message_sending", { runs: 400 });
    expect(failure).toMatchObject({ event: { content: "__proto__" }, call: { error: { at: "index.ts:16:54" } } });
    expect(await harness.fuzz("message_sending", { runs: 400, seed })).toMatchObject({ failure: { event: failure!.event } });
  });

  it("finds an event that takes more than the CPU time of a call", async () => {
    const source = `export default (api) => api.on("message_sending", ({ content }) => { if (content.includes("rm -rf")) for (;;); });`;
    await using harness = await createHarness({ plugin: { id: "slow", source } });
    const { failure } = await harness.fuzz("message_sending", { runs: 100 });
    expect(failure!.event.content).toBe("rm -rf");
    // On a busy machine a turn is ended before it has had all of it.
    expect(failure!.call.error!.code).toMatch(/^ERR_CALL_(?:CPU|TURN)$/);
  });

  it("gives the smallest event: a text without a character too many, a number next to one that is answered, no field too many", async () => {
    const { message_sending: sending, after_tool_call: after } = CATALOG;
    for (let seed = 1; seed <= 5; seed++) {
      expect(await smallest(sending, ({ content }) => String(content).length > 100, seed)).toMatchObject({
        to: "",
        content: expect.stringMatching(/^[^]{101}$/) as string,
      });
      expect(await smallest(sending, ({ content }) => /^[^]+m -r/.test(String(content)), seed)).toEqual({ to: "", content: "rm -r" });
      expect(await smallest(after, ({ durationMs }) => Number(durationMs) > 5, seed)).toEqual({ toolName: "", params: {}, durationMs: 6 });
    }
  });

  it("reports nothing about a handler that answers every event, and calls it with every event that it makes, whatever the hook", async () => {
    const names = Object.keys(CATALOG) as HookName[];
    const source = `let calls = 0; export default (api) => { for (const hook of ${JSON.stringify(names)}) api.on(hook, () => void (calls += 1)); api.registerGatewayMethod("calls", ({ respond }) => respond(true, calls)); };`;
    const hooks = { allowConversationAccess: true, allowInstallDecisions: true };
    await using harness = await createHarness({ plugin: { id: "all", source }, hooks, permissions: ["prompt"] });
    for (const hook of names)
      expect([hook, await harness.fuzz(hook, { runs: 5 })]).toEqual([hook, { seed: 1, runs: 5, failure: undefined }]);
    expect((await harness.call({ method: "calls" })).value).toEqual({ ok: true, payload: names.length * 5 });
  });

  it("does not take events that never reached the plugin for events that it answered", async () => {
    const source = `export default (api) => api.on("before_tool_call", ({ params }) => { if (params.command) throw new Error("no"); }, { matcher: ["exec"] });`;
    await using harness = await createHarness({ plugin: { id: "narrow", source } });
    await expect(harness.fuzz("message_sending")).rejects.toThrow(
      "narrow does not listen to message_sending: fuzz one of before_tool_call",
    );
    await expect(harness.fuzz("before_tool_call", { runs: 20 })).rejects.toThrow(
      "called with none of 20 events: the handler's own options",
    );
    const { failure } = await harness.fuzz("before_tool_call", { fields: { toolName: "exec" } });
    expect(failure!.event).toEqual({ toolName: "exec", params: { command: expect.anything() as unknown } });
    await expect(harness.fuzz("before_tool_call", { fields: { toolName: 5 } })).rejects.toThrow('not valid at "toolName"');
    await harness.close();
    await expect(harness.fuzz("before_tool_call")).rejects.toThrow("closed");
  });
});
