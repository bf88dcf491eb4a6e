/** What open pages are told, and in what order, of a host whose runs begin and end exactly between two looks of the console. */
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ConsoleHost } from "../../src/console/console-host.ts";
import { Feed } from "../../src/console/feed.ts";
import { rowOf } from "../../src/console/page-lines.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import type { PendingApproval, RunRecord } from "../../src/protocol/live-report.ts";

type Line = Partial<Record<"hello" | "away", unknown>> & {
  readonly runs?: RunRecord[];
  readonly flying?: RunRecord[];
  readonly approvals?: PendingApproval[];
  readonly log?: { readonly seq: number }[];
  readonly logs?: object[];
};

const record = (seq: number): RunRecord => ({
  seq,
  at: 0,
  runId: `h1-${seq}`,
  hook: "agent_end",
  number: seq,
  wallMs: 1,
  chain: { rootRunId: `h1-${seq}`, depth: 0, path: [], runIds: [] },
  calls: [],
});
const inFlight = (seq: number): RunRecord => {
  const { wallMs: _, number: __, ...flying } = record(seq);
  return flying;
};

/** A host that has these runs and approvals now; `asked` is what it was asked for. */
function fakeHost() {
  const now = { ended: [] as RunRecord[], flying: [] as RunRecord[], approvals: [] as PendingApproval[], isAway: false };
  const asked: number[] = [];
  const facts = new EventEmitter();
  const host = {
    id: "h1",
    on: (name: string, heard: (fact: object) => void) => (facts.on(name, heard), () => facts.off(name, heard)),
    plugins: () => [],
    recentFacts: async () => [],
    pendingApprovals: async () => now.approvals,
    stats: () => Promise.reject(new Error("no numbers")),
    runs: async ({ since = 0 }: { since?: number } = {}) => {
      if (now.isAway) throw new Error("gone");
      asked.push(since);
      return [...now.flying, ...now.ended.filter(({ seq }) => seq > since).toReversed()];
    },
  };
  return { now, asked, facts, host: host as unknown as ConsoleHost };
}

/** An open page: the lines that it was sent. */
function page(): { lines: Line[]; response: ServerResponse; close: () => void } {
  const lines: Line[] = [];
  const response = Object.assign(new EventEmitter(), {
    destroyed: false,
    write: (text: string) => (lines.push(JSON.parse(text) as Line), true),
    end: () => {},
  });
  return { lines, response: response as unknown as ServerResponse, close: () => void response.emit("close") };
}

const tick = () => vi.advanceTimersByTimeAsync(LIMITS.console.tickMs);
const ids = (runs: readonly RunRecord[] | undefined) => runs?.map(({ runId }) => runId);

const told = (lines: Line[]) => lines.flatMap(({ approvals }) => (approvals ? [approvals.map(({ id }) => id)] : []));

describe("the feed", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const anew = { seq: 0, host: "" };

  it("a page that is opened while a run is in flight is told that it is over, though it ends before the next look", async () => {
    const { now, host } = fakeHost();
    using feed = new Feed(host, { log: () => {}, hasTools: false });
    const [first, second] = [page(), page()];
    await feed.join(first.response, [], anew);
    await tick();
    now.flying = [inFlight(1)];
    await feed.join(second.response, [], anew);
    expect(ids(second.lines[0]!.flying)).toEqual(["h1-1"]);
    now.flying = [];
    now.ended = [record(1)];
    await tick();
    for (const { lines } of [first, second]) expect(ids(lines.findLast(({ flying }) => flying !== undefined)!.flying)).toEqual([]);
    expect(ids(second.lines.findLast(({ runs }) => runs !== undefined)!.runs)).toEqual(["h1-1"]);
  });

  it("an approval that is answered before the next look is taken from the page that has just been opened", async () => {
    const { now, facts, host } = fakeHost();
    using feed = new Feed(host, { log: () => {}, hasTools: false });
    const [first, second] = [page(), page()];
    await feed.join(first.response, [], anew);
    facts.emit("approval", { seq: 1 });
    await tick();
    now.approvals = [{ id: "a1" } as PendingApproval];
    await feed.join(second.response, [], anew);
    now.approvals = [];
    facts.emit("approval", { seq: 2 });
    await tick();
    expect(told(second.lines)).toEqual([["a1"], []]);
    expect(told(first.lines).slice(-2)).toEqual([["a1"], []]);
  });

  it("a page that comes back and has missed nothing is sent no run twice, and the host is asked for later ones only", async () => {
    const { now, asked, host } = fakeHost();
    now.ended = [record(1), record(2)];
    using feed = new Feed(host, { log: () => {}, hasTools: false });
    const first = page();
    await feed.join(first.response, [], anew);
    first.close();
    const again = page();
    await feed.join(again.response, [], { seq: 2, host: "h1" });
    await tick();
    now.ended.push(record(3));
    await tick();
    expect(asked).toEqual([0, 2, 2, 2]);
    expect(again.lines.map(({ runs }) => ids(runs)).filter((one) => one !== undefined)).toEqual([[], ["h1-3"]]);
  });

  it("an open page makes the host tell runs several times a second and measure itself once and with each sample; a page that is gone, nothing more", async () => {
    const { asked, host } = fakeHost();
    let measured = 0;
    const parts = { hooks: [], plugins: [], processes: [], eventLoop: { meanMs: 0, p99Ms: 0, maxMs: 0 }, inFlight: 3, isRecording: false };
    Object.assign(host, { stats: async () => ((measured += 1), { ...parts, host: "h1", at: Date.now() }) });
    using feed = new Feed(host, { log: () => {}, hasTools: false });
    const { sampleMs, tickMs } = LIMITS.console;
    await vi.advanceTimersByTimeAsync(2 * sampleMs);
    expect([measured, asked.length]).toEqual([3, 0]);
    const open = page();
    await feed.join(open.response, [], anew);
    await vi.advanceTimersByTimeAsync(4 * sampleMs);
    expect([measured, asked.length]).toEqual([3 + 1 + 4, 1 + (4 * sampleMs) / tickMs]);
    expect(open.lines.filter((line) => "stats" in line)).toMatchObject([{ hello: {}, stats: { inFlight: 3 } }, { stats: { inFlight: 3 } }]);
    open.close();
    await vi.advanceTimersByTimeAsync(2 * sampleMs);
    expect([measured, asked.length]).toEqual([8 + 2, 1 + (4 * sampleMs) / tickMs]);
  });

  it("a host that is away when a page comes back: what it had waiting for an answer is not said to be over, and no run is lost", async () => {
    const { now, host } = fakeHost();
    now.approvals = [{ id: "a1" } as PendingApproval];
    using feed = new Feed(host, { log: () => {}, hasTools: false });
    const [first, second] = [page(), page()];
    await feed.join(first.response, [], anew);
    now.isAway = true;
    await feed.join(second.response, [], { seq: 4, host: "h1" });
    expect(first.lines.filter(({ approvals }) => approvals?.length === 0)).toEqual([]);
    now.isAway = false;
    now.ended = [record(5)];
    await tick();
    expect(ids(second.lines.findLast(({ runs }) => runs !== undefined)!.runs)).toEqual(["h1-5"]);
  });
});

const linesOf = (lines: Line[]) => lines.flatMap(({ log }) => (log ? [log.map(({ seq }) => seq)] : []));

describe("log lines", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("are told together, many at once, and none twice to a page that is opened meanwhile", async () => {
    const { facts, host } = fakeHost();
    const recent: object[] = [];
    Object.assign(host, { recentFacts: async () => recent });
    using feed = new Feed(host, { log: () => {}, hasTools: false });
    const [first, second] = [page(), page()];
    const say = (seq: number) => {
      recent.push({ event: "log", fact: { seq } });
      facts.emit("log", { seq });
    };
    await feed.join(first.response, [], { seq: 0, host: "" });
    for (const seq of [1, 2]) say(seq);
    expect(linesOf(first.lines)).toEqual([]);
    await feed.join(second.response, [], { seq: 0, host: "" });
    expect([linesOf(first.lines), second.lines[0]!.logs]).toEqual([[[1, 2]], [{ seq: 1 }, { seq: 2 }]]);
    say(3);
    await tick();
    expect([linesOf(first.lines), linesOf(second.lines)]).toEqual([[[1, 2], [3]], [[3]]]);
    // A flood does not wait, and does not pile up.
    for (let at = 0; at < 2 * LIMITS.console.logsAtOnce; at++) facts.emit("log", { seq: 10 + at });
    expect(linesOf(second.lines).map(({ length }) => length)).toEqual([1, LIMITS.console.logsAtOnce, LIMITS.console.logsAtOnce]);
  });
});

interface Store {
  readonly runs: RunRecord[];
  readonly flying: { readonly value: readonly RunRecord[] };
  readonly missed: { readonly value: number };
  readonly addRuns: (runs: readonly RunRecord[]) => void;
  readonly setFlying: (runs: readonly RunRecord[]) => void;
  readonly setHost: (id: string) => void;
}

/** The page's own store, which needs no more of a browser than this. The repository is checked without the types of one. */
async function pageStore(): Promise<Store> {
  vi.stubGlobal("document", { hidden: true });
  vi.resetModules();
  const path: string = "../../src/console/page/store.ts";
  return (await import(path)) as Store;
}

describe("a row", () => {
  const passed: RunRecord = {
    ...record(81_234),
    at: 1_795_131_234_567,
    runId: "h637dfe0f-81234",
    hook: "before_tool_call",
    toolName: "exec",
    wallMs: 0.10393900005146861,
    decision: "pass",
    calls: [
      { plugin: "guard", priority: 0, status: "ok", wallMs: 0.0411239998, cpuMs: 0.04, startMs: 0.03, lane: 0, attempt: 1, batch: 1 },
    ],
  };

  it("of a run that passed is about 200 bytes of a line: what the lists of the page show, in microseconds", () => {
    const text = JSON.stringify(rowOf(passed));
    expect(JSON.parse(text)).toEqual({
      seq: 81_234,
      at: 1_795_131_234_567,
      runId: "h637dfe0f-81234",
      hook: "before_tool_call",
      toolName: "exec",
      number: 81_234,
      wallMs: 0.104,
      decision: "pass",
      calls: [{ plugin: "guard", wallMs: 0.041 }],
    });
    expect(text.length).toBeLessThan(210);
  });

  it("has what stopped or caused a run, cut where it is a plugin's text, and no stack", () => {
    const error = { code: "ERR_CALL_FAILED" as const, message: "m".repeat(1_000), stack: "secret lines" };
    const chain = { rootRunId: "h1-1", depth: 1, path: ["p:before_tool_call"], runIds: ["h1-1"], by: "p" };
    const [call] = passed.calls;
    const row = rowOf({ ...passed, reason: "r".repeat(1_000), by: "guard", chain, calls: [{ ...call!, status: "failed", error }] });
    expect(row).toMatchObject({ by: "guard", cause: { by: "p", path: ["p:before_tool_call"] } });
    expect([row.reason!.length, row.calls![0]!.error!.length]).toEqual([LIMITS.console.rowChars + 1, LIMITS.console.rowChars + 1]);
    expect(JSON.stringify(row)).not.toContain("secret lines");
  });
});

describe("the page's store", () => {
  it("a run that has ended is not in flight as well, in whatever order it was told", async () => {
    const store = await pageStore();
    store.setFlying([inFlight(1), inFlight(2)]);
    store.addRuns([record(1)]);
    expect(ids(store.flying.value)).toEqual(["h1-2"]);
    store.addRuns([record(2)]);
    store.setFlying([inFlight(2), inFlight(3)]);
    expect([ids(store.flying.value), ids(store.runs)]).toEqual([["h1-3"], ["h1-1", "h1-2"]]);
  });

  it("counts the runs between those that it is told, not those before the first, not what comes twice, and not another host's", async () => {
    const store = await pageStore();
    store.setHost("h1");
    store.addRuns([record(700), record(701)]);
    expect(store.missed.value).toBe(0);
    store.addRuns([record(701), record(702), record(1_000)]);
    expect(store.missed.value).toBe(297);
    store.setHost("h2");
    store.addRuns([record(50)]);
    expect(store.missed.value).toBe(297);
  });
});
