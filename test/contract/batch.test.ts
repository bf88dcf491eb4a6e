/** Calls of a batchable handler that arrive together are made in one turn of its cell. Apart from the time they take, that makes no difference. */
import { describe, expect, it } from "vitest";
import type { Host, Outcome } from "creel";
import { LIMITS } from "../../src/protocol/limits.ts";
import { contract, open, plugin, recorder } from "../support/host.ts";

/** What a call does is in the event's text; what it answers is that text, the how-manieth of its turn it was, and which cell it was in. */
const SOURCE = `
  const born = String(Math.random());
  let place = 0;
  const loop = () => { for (;;); };
  const deeds = {
    throws: () => { throw new Error("on purpose"); },
    loops: loop,
    "loops later": () => void Promise.resolve().then(loop),
    "fills its heap": () => { const kept = []; for (;;) kept.push(new Array(1e5).fill(kept.length)); },
    rejects: () => void Promise.reject(new Error("nobody waits for it")),
    logs: () => console.log("in its turn"),
    "logs later": () => Promise.resolve().then(() => Promise.resolve()).then(() => console.log("in its turn")),
    "is slow": () => { for (const end = Date.now() + 40; Date.now() < end;); },
    "is large": () => "x".repeat(40 * 1024),
    "waits for ever": () => new Promise(() => {}),
  };
  api.on("message_sending", (event) => {
    place += 1;
    Promise.resolve().then(() => { place = 0; });
    const content = [event.content, place, born].join();
    const done = deeds[event.content]?.();
    if (typeof done === "string") return { content, metadata: { done } };
    return done ? done.then(() => ({ content })) : { content };
  });
`;

const CALLS = 24;
/** Behind so many others. */
const AT = 8;

const plain = (calls = CALLS): string[] => Array.from({ length: calls }, (_, at) => `plain ${at}`);
const withDeed = (deed: string): string[] => plain().with(AT, deed);
const said = (outcome: Outcome<{ content?: string }> | undefined): string[] => String(outcome?.result?.content).split(",");
const placeOf = (outcome: Outcome | undefined): number => Number(said(outcome as never)[1]);
const cellOf = (outcome: Outcome | undefined): string => said(outcome as never)[2]!;
const statusOf = (outcome: Outcome): string => outcome.calls[0]!.status;

function send(host: Host, contents: readonly string[]): Promise<Outcome[]> {
  return Promise.all(contents.map((content) => host.run("message_sending", { to: "alice", content }, { channelId: "chat" })));
}

/** As often as it takes until the calls before the one in question did share its turn: on a busy machine none is sure to be quick. */
async function together(host: Host, contents: readonly string[]): Promise<Outcome[]> {
  for (;;) {
    for (let turns = 0; turns < LIMITS.lane.batchableTurns; turns++) await send(host, ["plain"]);
    const outcomes = await send(host, contents);
    // Of those before the one in question all may be lost with it.
    if (outcomes.slice(0, AT).every((outcome, at) => placeOf(outcome) === at + 1 || statusOf(outcome) !== "ok")) return outcomes;
    await host.release("gate");
  }
}

contract("calls in a batch", (isolation) => {
  const hosted = (more: object = {}): Promise<Host> =>
    open(isolation, { plugins: [plugin("gate", SOURCE, { hooks: { timeoutMs: 10_000, cpuMs: 100 } })], ...more });

  it("are made in one turn, and each has its own event and its own answer", async () => {
    await using host = await hosted();
    const outcomes = await together(host, plain());
    expect(outcomes.map((outcome) => said(outcome as never)[0])).toEqual(plain());
    expect(new Set(outcomes.map(cellOf)).size).toBe(1);
  });

  it("have separate turns until the handler has shown that it is batchable", async () => {
    await using host = await hosted();
    expect((await send(host, plain())).map(placeOf)).toEqual(plain().map(() => 1));
  });

  it.each(["logs", "logs later", "rejects", "is slow"])("have turns of their own again after one that %s", async (deed) => {
    await using host = await hosted();
    await together(host, plain());
    await send(host, [deed]);
    expect((await send(host, plain())).map(placeOf)).toEqual(plain().map(() => 1));
  });

  it("are answered separately when one throws", async () => {
    await using host = await hosted();
    const outcomes = await together(host, withDeed("throws"));
    expect(outcomes.map(statusOf)).toEqual(plain().map((_, at) => (at === AT ? "failed" : "ok")));
    expect(outcomes[AT]!.calls[0]!.error?.message).toContain("on purpose");
  });

  it("keep their answers when one loops: that one times out, and the calls behind it are made in the next cell", async () => {
    await using host = await hosted();
    const outcomes = await together(host, withDeed("loops"));
    expect(outcomes.map(statusOf)).toEqual(plain().map((_, at) => (at === AT ? "cpu" : "ok")));
    const [before, after] = [outcomes.slice(0, AT), outcomes.slice(AT + 1)];
    expect(new Set(before.map(cellOf)).size).toBe(1);
    expect(new Set(after.map(cellOf)).size).toBe(1);
    expect(cellOf(before[0])).not.toBe(cellOf(after[0]));
    expect(after.map((outcome) => said(outcome as never)[0])).toEqual(plain().slice(AT + 1));
  });

  it("keep their answers when one loops after it has answered, except the last of its turn, which is blamed", async () => {
    await using host = await hosted();
    const outcomes = await together(host, withDeed("loops later"));
    const culprit = outcomes.findIndex((outcome) => statusOf(outcome) === "cpu");
    expect(culprit).toBeGreaterThanOrEqual(AT);
    expect(outcomes.map(statusOf)).toEqual(plain().map((_, at) => (at === culprit ? "cpu" : "ok")));
    expect(outcomes.findIndex((outcome, at) => at > culprit && cellOf(outcome) === cellOf(outcomes[0]))).toBe(-1);
  });

  it("are all answered when any one of them fills the heap", async () => {
    await using host = await hosted({ config: { limits: { heapMb: 16 } } });
    const outcomes = await together(host, withDeed("fills its heap"));
    const statuses = outcomes.map(statusOf);
    expect(statuses.filter((status) => status === "memory")).toHaveLength(1);
    expect(statuses[AT]).not.toBe("ok");
    for (const status of statuses) expect(["ok", "memory", "crashed"]).toContain(status);
    expect((await send(host, ["plain"])).map(statusOf)).toEqual(["ok"]);
  });

  it("keep their answers when one leaves a rejection behind, which is logged", async () => {
    const { logger, lines } = recorder();
    await using host = await hosted({ logger });
    const outcomes = await together(host, withDeed("rejects"));
    expect(outcomes.map(statusOf)).toEqual(plain().map(() => "ok"));
    expect(lines.some(({ fields }) => String(fields.text).includes("nobody waits for it"))).toBe(true);
  });

  it.each(["logs", "logs later"])("leave what is theirs: a line of one that %s is said to be its own", async (deed) => {
    await using host = await hosted();
    const lines: (string | undefined)[] = [];
    host.on("log", ({ text, runId }) => void (text === "in its turn" && lines.push(runId)));
    const outcomes = await together(host, withDeed(deed));
    // The line comes after the answer.
    await send(host, ["plain"]);
    expect(outcomes.map(statusOf)).toEqual(plain().map(() => "ok"));
    expect(lines.at(-1)).toBe(outcomes[AT]!.runId);
  });

  it("do not wait for each other: a call that waits uses up only its own time", async () => {
    await using host = await hosted({ plugins: [plugin("gate", SOURCE, { hooks: { timeoutMs: 300, cpuMs: 100 } })] });
    const outcomes = await together(host, withDeed("waits for ever"));
    expect(outcomes.map(statusOf)).toEqual(plain().map((_, at) => (at === AT ? "timeout" : "ok")));
  });

  describe("their cost", () => {
    it("is charged to the call that caused it", async () => {
      await using host = await hosted();
      const outcomes = await together(host, withDeed("is slow"));
      const wallMs = outcomes.map(({ calls }) => calls[0]!.wallMs);
      expect(wallMs[AT]).toBeGreaterThan(35);
      expect(Math.max(...wallMs.slice(0, AT))).toBeLessThanOrEqual(1);
    });

    it("is at most as much text as fits into a cell", async () => {
      await using host = await hosted();
      const outcomes = await together(host, [...plain(AT), ...plain(CALLS).map(() => "is large")]);
      expect(outcomes.map(statusOf)).toEqual(outcomes.map(() => "ok"));
      expect(Math.max(...outcomes.map(placeOf))).toBeLessThanOrEqual(AT + Math.ceil(LIMITS.lane.batchBytes / (40 * 1024)) + 1);
    });
  });
});
