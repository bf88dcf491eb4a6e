/**
 * The audit log of a host: what it says of a run is what happened, it has no secret in it, no plugin can forge or paint a line of it, and a run that
 * passes is not in it. One host plays all scenes; the log is read when it is closed.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import type { Outcome, SessionPatch } from "creel";
import type { AuditRun, AuditState } from "../../src/protocol/audit-line.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import { AuditLog } from "../../src/state/audit-log.ts";
import { actor, sending, toolCall } from "../support/actors.ts";
import { folder, QUICK } from "../support/files.ts";
import { contract, next, open, plugin } from "../support/host.ts";

const SECRET = "s3cr3t/Xq9+Zw=7vK2mPd4Lr8";
const TOKEN = "token-of-the-plugin-itself";
const PASSWORD = "password-in-a-config";
const IN_BASE64 = Buffer.from(`user:${SECRET}`).toString("base64");

/** Ends a line, clears a screen, turns the writing around, in old and new ways. */
const HOSTILE = String.raw`"a\nb\u001b[2J\u009b31m\u202ec\u2028{\"v\":1}"`;

contract("the audit log", (isolation) => {
  const dir = join(folder({}, QUICK), "state");
  const outcomes: Record<string, Outcome> = {};
  const runs = new Map<string, AuditRun>();
  const states: AuditState[] = [];
  const log = new AuditLog(dir);
  const recorded = (scene: string) => runs.get(outcomes[scene]!.runId);
  const text = () =>
    readdirSync(log.dir)
      .map((name) => readFileSync(join(log.dir, name), "utf8"))
      .join("");

  beforeAll(async () => {
    const host = await open(isolation, {
      // So that a chain takes several hops.
      lanes: 2,
      config: { stateDir: dir, secrets: { API: { origins: ["https://api.example.com"], value: SECRET, header: "authorization" } } },
      plugins: [
        actor("first", { priority: 3 }),
        actor("second", { priority: 2 }),
        {
          ...actor("third", { priority: 1 }),
          env: { API_TOKEN: TOKEN, PLACE: "harmless-place" },
          config: { ...actor("third", { priority: 1 }).config, login: { password: PASSWORD } },
        },
        plugin("slow", `api.on("before_tool_call", () => new Promise(() => {}), { timeoutMs: 40, priority: -1, matcher: ["slow_tool"] });`),
        plugin("looper", `api.on("session:patch", (e) => api.session.patch({ key: e.sessionKey, label: "again" }));`, {
          grants: { session: ["patch"] },
        }),
        plugin("thrower", `api.on("agent_end", () => { throw new Error("no"); });`, { hooks: { allowConversationAccess: true } }),
        plugin(
          "asker",
          `api.on("before_tool_call", (e) => e.params.ask && { requireApproval: { title: "May it?", description: "It asks." } }, { priority: -2 });`,
        ),
      ],
      gateway: {
        patchSession: async (patch: SessionPatch) => ({ sessionEntry: { label: patch.label } }),
        requestApproval: async () => ({ decision: "deny", by: "alice" }),
      },
    });
    const tool = async (scene: string, script: Record<string, string>, params: Record<string, unknown> = {}) => {
      outcomes[scene] = await host.run("before_tool_call", toolCall(script, { command: "ls", ...params }), {
        toolName: "web_search",
        agentId: "main",
      });
    };
    const nested = next(
      host,
      "run",
      ({ outcome }) => outcome.hook === "session:patch" && outcome.calls.some(({ status }) => status === "recursion"),
    );
    await tool("passes", { second: "return { params: { command: 'pwd' } }" });
    await tool("blocks", {
      second: "return { params: { command: 'rm' } }",
      third: "return event.params.command === 'rm' ? { block: true, blockReason: 'no rm', blok: 1 } : undefined",
    });
    await tool("fails", { first: "throw new TypeError('broken')" });
    outcomes["times out"] = await host.run("before_tool_call", toolCall({}, {}, "slow_tool"));
    await tool("asks", {}, { ask: true });
    await tool("hostile", {
      first: `return { block: true, blockReason: ${HOSTILE} + "x".repeat(5000), params: { [${HOSTILE}]: ${HOSTILE} } }`,
    });
    await tool("throws hostile", { first: `throw new Error(${HOSTILE})` });
    await tool(
      "secret",
      {
        first: `return { block: true, blockReason: event.params.key + " " + "${TOKEN}" + " ${PASSWORD}", params: { again: event.params.basic } }`,
      },
      // One of them lies where it is cut.
      {
        key: SECRET,
        basic: IN_BASE64,
        place: "harmless-place",
        long: `${"x".repeat(LIMITS.audit.valueChars - 420)}${`${SECRET} `.repeat(20)}`,
      },
    );
    await tool("long", { first: "return { block: true, blockReason: 'z'.repeat(2000) }" }, { text: "y".repeat(LIMITS.audit.replayChars) });
    outcomes.open = await host.run(
      "message_sending",
      sending({ second: "return { content: 'two' }", third: "throw new Error(event.content)" }),
      { channelId: "chat" },
    );
    await host.patchSession({ key: "agent:main:x", label: "first" });
    outcomes.recursion = (await nested).outcome;
    for (let times = 0; times < LIMITS.audit.runsPerWindow + 10; times++)
      outcomes.thrower = await host.run("agent_end", { runId: "r", messages: [], success: true, do: { second: "return 1" } });
    await host.reload("first");
    host.disable("first");
    await host.close();
    for await (const run of log.runs()) runs.set(run.runId, run);
    for await (const state of log.states()) states.unshift(state);
  });

  it("a run in which everybody answered, and nobody objected, is not in it", () => {
    expect([outcomes.passes!.decision, recorded("passes")]).toEqual(["pass", undefined]);
    expect(text().includes("pwd")).toBe(false);
  });

  it("a chain of rewrite and block: each call with what it saw, what it returned, what it might have used", () => {
    const run = recorded("blocks")!;
    expect(run).toMatchObject({
      hook: "before_tool_call",
      decision: "block",
      by: "third",
      reason: "no rm",
      failure: "closed",
      chain: { depth: 0 },
    });
    expect(run.event).toMatchObject({ value: { toolName: "web_search", params: { command: "ls" } } });
    expect(run.context).toEqual({ value: { toolName: "web_search", agentId: "main" } });
    const [first, second, third, slow] = run.calls;
    expect(first).not.toHaveProperty("saw");
    expect(first).not.toHaveProperty("returned");
    expect(second).toMatchObject({ status: "ok", returned: { value: { params: { command: "rm" } } }, changed: ["params"] });
    expect(second).not.toHaveProperty("saw");
    expect(third).toMatchObject({
      plugin: "third",
      priority: 1,
      saw: { value: { params: { command: "rm" } } },
      returned: { value: { block: true, blockReason: "no rm", blok: 1 } },
      ignored: ["blok"],
      budget: { wallMs: { value: 15_000, origin: "catalog" }, cpuMs: { value: 2_000, origin: "operator, for this plugin" } },
    });
    expect(third!.wallMs).toBe(outcomes.blocks!.calls[2]!.wallMs);
    expect(slow).toMatchObject({ plugin: "slow", status: "skipped" });
  });

  it("failures: who, how, where, and against which budget", () => {
    expect(recorded("fails")).toMatchObject({
      decision: "block",
      by: "first",
      calls: [{ status: "failed", error: { code: "ERR_CALL_FAILED", message: expect.stringContaining("broken") } }, {}, {}, {}, {}],
    });
    const slow = recorded("times out")!.calls.find(({ plugin: id }) => id === "slow")!;
    expect(slow).toMatchObject({
      status: "timeout",
      budget: { wallMs: { value: 40, origin: "author" } },
      error: { code: "ERR_CALL_TIMEOUT" },
    });
    expect(slow.wallMs).toBeGreaterThanOrEqual(39);
    expect(recorded("open")).toMatchObject({
      decision: "pass",
      failure: "open",
      calls: [
        {},
        { changed: ["content"] },
        { status: "failed", saw: { value: { content: "two" } }, error: { message: expect.stringContaining("two") } },
      ],
    });
  });

  it("an approval and its end; a call that was not made because it is the plugin's own doing, with its chain", () => {
    expect(recorded("asks")).toMatchObject({
      decision: "block",
      by: "asker",
      approval: {
        pluginId: "asker",
        resolution: "deny",
        requests: [{ pluginId: "asker", title: "May it?", resolution: "deny" }],
        answeredBy: "alice",
      },
    });
    const run = recorded("recursion")!;
    expect(run.chain).toMatchObject({ depth: 1, path: ["looper:session:patch"] });
    expect(run.chain.rootRunId).not.toBe(run.runId);
    expect(run.calls.find(({ plugin: id }) => id === "looper")).toMatchObject({
      status: "recursion",
      error: { code: "ERR_RECURSION_OWN" },
    });
  });

  it("no text of a plugin's begins a line, orders a terminal anything, or takes more room than it may", () => {
    for (const scene of ["hostile", "throws hostile"]) expect(recorded(scene)).toBeDefined();
    // oxlint-disable-next-line no-control-regex -- that is the point
    expect(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/.test(text())).toBe(false);
    expect(log.unreadable).toBe(0);
    const { reason, calls } = recorded("hostile")!;
    expect(reason!.length).toBeLessThanOrEqual(LIMITS.audit.textChars);
    expect(reason).toMatch(/^a b \[2J 31m c \{"v":1\}x+$/);
    // Data is kept as it was: the file has it escaped, and to print it safely is the reader's affair.
    expect(calls[0]!.changed).toEqual(["params"]);
    expect(recorded("hostile")!.calls[0]!.returned).toHaveProperty("chars");
    expect(
      Math.max(
        ...text()
          .split("\n")
          .map((line) => line.length),
      ),
    ).toBeLessThan(2 * LIMITS.audit.lineChars);
  });

  it("no secret that the host knows is in it, also in other forms, also where it was cut", () => {
    const run = recorded("secret")!;
    expect(run.reason).toBe("[secret API] [secret API_TOKEN] [secret password]");
    expect(run.event).toHaveProperty("chars");
    const all = text();
    for (const secret of [SECRET, TOKEN, PASSWORD, IN_BASE64, Buffer.from(SECRET).toString("base64").slice(4, -4)])
      expect(all.includes(secret)).toBe(false);
    // Nor a piece of one.
    for (let at = 0; at + 8 <= SECRET.length; at++) expect(all.includes(SECRET.slice(at, at + 8))).toBe(false);
    expect(all.includes("harmless-place")).toBe(true);
  });

  it("what is too long is cut, and says so", () => {
    const run = recorded("long")!;
    expect(run.event).toMatchObject({ text: expect.stringMatching(/^\{"toolName"/), chars: expect.any(Number) });
    // No secret begins with its last character; what may be the beginning of one is left out, too.
    expect((run.event as { text: string }).text).toHaveLength(LIMITS.audit.valueChars);
    expect((run.event as { chars: number }).chars).toBeGreaterThan(LIMITS.audit.replayChars);
    expect(run.unknown).toContain("longer than");
    expect(run.calls[0]).not.toHaveProperty("returned");
  });

  it("a plugin that fails all the time fills no log: further runs are counted, its breaker's changes are told", () => {
    const mine = states.filter((state) => "plugin" in state && state.plugin === "thrower");
    expect(mine.map(({ kind }) => kind)).toContain("quarantine");
    expect(mine.find(({ kind }) => kind === "dropped")).toMatchObject({ hook: "agent_end", count: 10 });
    expect([...runs.values()].filter(({ hook }) => hook === "agent_end")).toHaveLength(LIMITS.audit.runsPerWindow);
    expect(recorded("thrower")).toBeUndefined();
  });

  it("reloads and switches at run time are told, loads at the start are not", () => {
    const mine = states.flatMap((state) => (state.kind === "plugin" ? `${state.plugin} ${state.status}` : []));
    expect(mine).toEqual(["first ready", "first disabled"]);
  });

  it("what plugins used is counted, with what they were called for", async () => {
    expect((await log.usage("looper")).used).toEqual(new Map([["session:patch", 1]]));
    const { calls, since, until } = await log.usage("slow");
    expect(calls).toEqual(new Map([["before_tool_call", 1]]));
    expect(Date.parse(since!)).toBeLessThan(Date.parse(until!));
  });
});

it("without events there are none in it; disabled, or without a state folder, there is no log", async () => {
  const states = folder({}, QUICK);
  const blocker = plugin("blocker", `api.on("before_tool_call", () => ({ block: true, blockReason: "no", params: { mine: 1 } }));`);
  const scenes = [
    { stateDir: join(states, "none"), audit: { events: "none" } },
    { stateDir: join(states, "off"), audit: { enabled: false } },
  ] as const;
  for (const config of scenes) {
    await using host = await open("thread", { config, plugins: [blocker] });
    await host.run("before_tool_call", { toolName: "exec", params: { yours: 1 } });
  }
  const found: AuditRun[] = [];
  for await (const run of new AuditLog(scenes[0].stateDir).runs()) found.push(run);
  expect(found).toMatchObject([{ decision: "block", by: "blocker", reason: "no", calls: [{ status: "ok" }] }]);
  for (const left of ["event", "context", "result"]) expect(found[0]).not.toHaveProperty(left);
  expect(JSON.stringify(found)).not.toMatch(/yours|mine/);
  expect(readdirSync(states)).toEqual(["none"]);
});
