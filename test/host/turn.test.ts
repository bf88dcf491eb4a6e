/** A turn and its three hooks: who may skip it, what the others are told, and that none of them can fail it. */
import { describe, expect, it } from "vitest";
import { runTurn } from "../../src/host/turn.ts";
import type { TurnContext, TurnHost } from "../../src/host/turn.ts";
import { contract, next, open, plugin, recorder, sharedHost } from "../support/host.ts";

const CTX = { sessionKey: "agent:main:main", agentId: "main" } as const;

type Event = Record<string, any>;

/** A host on which nobody listens, or somebody aborts; it notes what it is told. */
function fakeHost(abort?: { by: string; reason: string }) {
  const told: [hook: string, event: Event][] = [];
  const host: TurnHost = {
    run: async (hook, event) => {
      told.push([hook, event]);
      return abort ? { decision: "abort", ...abort } : { decision: "pass", by: undefined, reason: undefined };
    },
    emit: (hook: string, event: Event) => void told.push([hook, event]),
  };
  return { host, told };
}

describe("a turn", () => {
  it("runs beforeTurn, the turn and afterTurn, and gives back the turn's value, usage and duration", async () => {
    const { host, told } = fakeHost();
    const usage = { input: 10, output: 3, total: 13 };
    const outcome = await runTurn(host, { ...CTX, model: "opus", meta: { ticket: 7 } }, async () => ({ value: "hello", usage }));
    expect(outcome).toEqual({ aborted: false, value: "hello", usage, durationMs: expect.any(Number) });
    const ctx = { ...CTX, model: "opus", meta: { ticket: 7 }, turnIndex: 0, workflow: "agent" };
    expect(told).toEqual([
      ["beforeTurn", ctx],
      ["afterTurn", { ...ctx, usage, durationMs: expect.any(Number) }],
    ]);
  });

  it("usage is optional", async () => {
    const { host, told } = fakeHost();
    expect(await runTurn(host, CTX, () => ({ value: 1 }))).toMatchObject({ aborted: false, value: 1, usage: undefined });
    expect(told[1]![1]).not.toHaveProperty("usage");
  });

  it("the duration is the turn's own, without its hooks", async () => {
    const { host, told } = fakeHost();
    await runTurn(host, CTX, async () => {
      const untilMs = performance.now() + 20;
      while (performance.now() < untilMs);
      return { value: undefined };
    });
    expect(told[1]![1].durationMs).toBeGreaterThanOrEqual(20);
    expect(told[1]![1].durationMs).toBeLessThan(2_000);
  });

  it("an abort skips it: nothing is executed, nobody is told of an end, and the caller learns by whom and why", async () => {
    const { host, told } = fakeHost({ by: "turn-limiter", reason: "5 turns a minute" });
    let isExecuted = false;
    const outcome = await runTurn(host, CTX, () => ((isExecuted = true), { value: 1 }));
    expect(outcome).toEqual({ aborted: true, by: "turn-limiter", reason: "5 turns a minute" });
    expect(isExecuted).toBe(false);
    expect(told.map(([hook]) => hook)).toEqual(["beforeTurn"]);
  });

  it("an error of the turn is rethrown as it is, and onTurnError is told its text and the session's context", async () => {
    const { host, told } = fakeHost();
    const error = new TypeError("the model is gone");
    await expect(runTurn(host, { ...CTX, meta: { a: 1 } }, () => Promise.reject(error))).rejects.toBe(error);
    expect(told.slice(1)).toEqual([
      [
        "onTurnError",
        { ...CTX, meta: { a: 1 }, turnIndex: 0, workflow: "agent", error: "the model is gone", durationMs: expect.any(Number) },
      ],
    ]);
  });

  it.each([
    ["a text", "plain", "plain"],
    ["an error without a message", new RangeError(), "RangeError"],
    ["undefined", undefined, "undefined"],
    ["an object that cannot be shown", { toString: () => Promise.reject(new Error("x")).catch(() => {}) }, "an error that cannot be shown"],
    ["a very long message", new Error("x".repeat(100_000)), "x".repeat(4_000)],
  ])("onTurnError is told %s as text", async (_, thrown, text) => {
    const { host, told } = fakeHost();
    await expect(
      runTurn(host, CTX, () => {
        throw thrown;
      }),
    ).rejects.toBe(thrown);
    expect(told[1]![1].error).toBe(text);
  });

  it("a stack, which names the gateway's files, is not told", async () => {
    const { host, told } = fakeHost();
    await expect(runTurn(host, CTX, () => Promise.reject(new Error("x")))).rejects.toThrow("x");
    expect(JSON.stringify(told)).not.toContain(import.meta.filename);
  });
});

describe("the index of a turn", () => {
  it("is counted per session, from 0, skipped turns included", async () => {
    const { host, told } = fakeHost({ by: "p", reason: "" });
    for (const sessionKey of ["a", "a", "b", "a"]) await runTurn(host, { ...CTX, sessionKey }, () => ({ value: 1 }));
    expect(told.map(([, { sessionKey, turnIndex }]) => `${sessionKey}${turnIndex}`)).toEqual(["a0", "a1", "b0", "a2"]);
  });

  it("differs between turns of a session that overlap", async () => {
    const { host, told } = fakeHost();
    await Promise.all([1, 2, 3].map(() => runTurn(host, CTX, async ({ turnIndex }) => ({ value: turnIndex }))));
    expect(told.filter(([hook]) => hook === "beforeTurn").map(([, event]) => event.turnIndex)).toEqual([0, 1, 2]);
  });

  it("is the gateway's own if it gives one, and the count goes on from there", async () => {
    const { host, told } = fakeHost();
    for (const turnIndex of [7, undefined]) await runTurn(host, { ...CTX, ...(turnIndex && { turnIndex }) }, () => ({ value: 1 }));
    expect(told.filter(([hook]) => hook === "beforeTurn").map(([, event]) => event.turnIndex)).toEqual([7, 8]);
  });

  it("is counted per host", async () => {
    for (const { host, told } of [fakeHost(), fakeHost()]) {
      await runTurn(host, CTX, () => ({ value: 1 }));
      expect(told[0]![1].turnIndex).toBe(0);
    }
  });
});

describe("the signal of a turn", () => {
  it("reaches the turn; without one the turn gets a signal that never fires", async () => {
    const { host } = fakeHost();
    const { signal } = new AbortController();
    await runTurn(host, CTX, (turn) => (expect(turn.signal).toBe(signal), { value: 1 }), { signal });
    await runTurn(host, CTX, (turn) => (expect(turn.signal.aborted).toBe(false), { value: 1 }));
  });

  it("that has fired already means that there is no turn, and no hook hears of one", async () => {
    const { host, told } = fakeHost();
    const reason = new Error("stopped");
    await expect(runTurn(host, CTX, () => ({ value: 1 }), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(told).toEqual([]);
  });

  it("that fires while beforeTurn runs keeps the turn from starting", async () => {
    const stop = new AbortController();
    const { host, told } = fakeHost();
    const asked: TurnHost = {
      ...host,
      run: async (...args) => {
        stop.abort(new Error("stopped"));
        return host.run(...args);
      },
    };
    await expect(runTurn(asked, CTX, () => ({ value: 1 }), { signal: stop.signal })).rejects.toThrow("stopped");
    expect(told.map(([hook]) => hook)).toEqual(["beforeTurn"]);
  });

  it("that fires during the turn is the turn's own error, and onTurnError hears of it", async () => {
    const { host, told } = fakeHost();
    const stop = new AbortController();
    const turn = runTurn(
      host,
      CTX,
      ({ signal }) => {
        stop.abort(new Error("stopped"));
        signal.throwIfAborted();
        return { value: 1 };
      },
      { signal: stop.signal },
    );
    await expect(turn).rejects.toThrow("stopped");
    expect(told[1]).toEqual(["onTurnError", expect.objectContaining({ error: "stopped" })]);
  });
});

const AUDITOR = `
  for (const hook of ["beforeTurn", "afterTurn", "onTurnError"]) api.on(hook, (ctx) => {
    console.log(hook, ctx.turnIndex, ctx.workflow, ctx.usage?.total ?? ctx.error ?? "");
    if (ctx.meta?.fail) throw new Error("hook " + hook);
    if (ctx.meta?.hang) return new Promise(() => {});
    if (hook === "beforeTurn" && ctx.meta?.abort !== undefined) return { abort: ctx.meta.abort, reason: "because" };
  }, { timeoutMs: 200 });`;

contract("turns", (isolation) => {
  const shared = sharedHost(isolation, { plugins: [plugin("auditor", AUDITOR)] });
  const turn = (ctx: Partial<TurnContext>, execute = async () => ({ value: "done", usage: { total: 5 } })) =>
    runTurn(shared.host, { ...CTX, ...ctx }, execute);

  it("a turn passes through when no handler aborts", async () => {
    const after = next(shared.host, "log", ({ text }) => text.startsWith("afterTurn"));
    expect(await turn({ sessionKey: "pass" })).toMatchObject({ aborted: false, value: "done" });
    expect((await after).text).toBe("afterTurn 0 agent 5");
  });

  it("{ abort: true } skips the turn; { abort: false } is no decision", async () => {
    expect(await turn({ meta: { abort: true } })).toEqual({ aborted: true, by: "auditor", reason: "because" });
    expect(await turn({ meta: { abort: false } })).toMatchObject({ aborted: false, value: "done" });
  });

  it("a hook that throws never fails the turn: neither before it, nor after it, nor when it failed", async () => {
    const { logger, lines } = recorder();
    await using host = await open(isolation, { plugins: [plugin("auditor", AUDITOR)], logger });
    const ran = (hook: string) => next(host, "run", ({ outcome }) => outcome.hook === hook);
    const after = ran("afterTurn");
    expect(await runTurn(host, { ...CTX, meta: { fail: true } }, () => ({ value: "done" }))).toMatchObject({ value: "done" });
    await after;
    const failed = ran("onTurnError");
    await expect(runTurn(host, { ...CTX, meta: { fail: true } }, () => Promise.reject(new Error("own")))).rejects.toThrow("own");
    await failed;
    const logged = lines.filter(({ message }) => message === "a handler failed").map(({ fields }) => fields.hook);
    expect(logged).toEqual(["beforeTurn", "afterTurn", "beforeTurn", "onTurnError"]);
  });

  it("a hook that hangs delays the turn by its budget and no more", async () => {
    const startedMs = performance.now();
    expect(await turn({ meta: { hang: true } })).toMatchObject({ value: "done" });
    expect(performance.now() - startedMs).toBeLessThan(3_000);
  });

  it("afterTurn is not waited for", async () => {
    const after = next(shared.host, "run", ({ outcome }) => outcome.hook === "afterTurn");
    await turn({ sessionKey: "unawaited" });
    let isHeard = false;
    void after.then(() => (isHeard = true));
    await Promise.resolve();
    expect(isHeard).toBe(false);
    await after;
  });

  it("a context that is not of the catalog is the caller's mistake: rejected before the turn", async () => {
    let isExecuted = false;
    const wrong = runTurn(shared.host, { sessionKey: "s" } as TurnContext, () => ((isExecuted = true), { value: 1 }));
    await expect(wrong).rejects.toMatchObject({ code: "ERR_EVENT_INVALID" });
    expect(isExecuted).toBe(false);
  });

  it("an operator can make a failing guard skip the turn", async () => {
    await using host = await open(isolation, {
      plugins: [plugin("guard", `api.on("beforeTurn", () => { throw new Error("down"); });`)],
      config: { hooks: { failure: { beforeTurn: "closed" } } },
    });
    expect(await runTurn(host, CTX, () => ({ value: 1 }))).toMatchObject({
      aborted: true,
      by: "guard",
      reason: expect.stringContaining("down"),
    });
  });
});
