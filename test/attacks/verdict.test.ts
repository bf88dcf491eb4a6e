/** Each rule of the attack suite, broken once: a rule that cannot be broken holds nothing. */
import { describe, expect, it } from "vitest";
import type { Attempt, Settled, Trial } from "./trial.ts";
import { NO_STALLS } from "./stalls.ts";
import { broken, isOnlyLate } from "./verdict.ts";

const CALL: Settled = {
  phase: "call",
  plugin: "evil",
  status: "cpu",
  code: "ERR_CALL_CPU",
  tookMs: 400,
  budgetMs: 500,
  named: ["evil"],
  decision: "block",
};
/** One time in place, with neighbours as slow as in quiet. */
function attempt({ p99Ms = 4, longestMs = 0, totalMs = 0, queuedMs = 0, syncMs = 5, isFull = true, machine = NO_STALLS }): Attempt {
  const felt = { quietP99Ms: 4, p50Ms: 1, p99Ms, noticeP99Ms: p99Ms, stayedMs: 20_000, syncMs, noticeSyncMs: 90 };
  const stalls = { longestMs, totalMs, ownLongestMs: longestMs - queuedMs, ownTotalMs: totalMs - queuedMs };
  return { stay: { end: "20 s", stayedMs: 20_000, isFull, felt }, stalls, machine, lookedMs: 20_000 };
}
const TRIAL: Trial = {
  id: "evil",
  attack: "cpu-01-sync-loop",
  expect: [],
  calls: [CALL],
  restarts: [],
  innocents: [],
  named: [],
  isMoved: false,
  isStopped: false,
  attempts: [attempt({})],
  clockRoom: 1,
  drives: { sent: 5, passed: 0, failed: 0, unserved: 0, longestSyncMs: 5, examples: [] },
  loot: [],
  leaks: [],
  benign: { sent: 10, right: 10, wrong: 0, blocked: 0, lost: 0, retried: 0, examples: [], p50Ms: 1, p99Ms: 2 },
  gatewayRssMb: 100,
  sandboxRssMb: 100,
  tookMs: 500,
};
const call = (change: Partial<Settled>) => broken({ ...TRIAL, calls: [{ ...CALL, ...change }] });
const benign = (change: Partial<Trial["benign"]>) => broken({ ...TRIAL, benign: { ...TRIAL.benign, ...change } });
const tried = (...attempts: Attempt[]) => broken({ ...TRIAL, attempts });
const killed = { why: "killed", culprit: "evil" };

describe("the verdict on an attack", () => {
  it("that was stopped and named is that no rule was broken", () => {
    expect(broken(TRIAL)).toEqual([]);
    expect(call({ status: "ok", code: undefined, named: [], decision: "pass" })).toEqual([]);
  });

  it("whose call settled later than its budget and 250 ms", () => {
    expect(call({ tookMs: 750 })).toEqual([]);
    expect(call({ tookMs: 751 })).toEqual(["the call settled after 751 ms, of 500 + 250"]);
    expect(call({ status: "hung", named: [], tookMs: 30_000 })).toEqual(["the call never settled"]);
  });

  it("with room for the clocks is as strict about everything else", () => {
    const roomy = (change: Partial<Trial>) => broken({ ...TRIAL, clockRoom: 4, ...change });
    expect(roomy({ calls: [{ ...CALL, tookMs: 1_500 }] })).toEqual([]);
    expect(roomy({ calls: [{ ...CALL, tookMs: 1_501 }] })).toEqual(["the call settled after 1501 ms, of 500 + 1000"]);
    expect(roomy({ attempts: [attempt({ p99Ms: 48, longestMs: 200 })] })).toEqual([]);
    expect(roomy({ attempts: [attempt({ p99Ms: 49, longestMs: 201 })] })).toHaveLength(2);
    // Of 300 ms the thread was ready to run for 100, and had no CPU.
    expect(roomy({ attempts: [attempt({ longestMs: 300, totalMs: 300, queuedMs: 100 })] })).toEqual([]);
    expect(tried(attempt({ longestMs: 300, totalMs: 300, queuedMs: 290 }))).toHaveLength(1);
    expect(roomy({ innocents: ["ledger"] })).toEqual(["ledger was blamed"]);
    expect(roomy({ drives: { ...TRIAL.drives, passed: 1, examples: ["rm"] } })).toHaveLength(1);
  });

  it("for which the process was replaced has 2 s instead", () => {
    const late = { ...TRIAL, calls: [{ ...CALL, tookMs: 2_400 }], restarts: [killed] };
    expect(broken(late)).toEqual([]);
    expect(broken({ ...late, calls: [{ ...CALL, tookMs: 2_501 }] })).toEqual(["the call settled after 2501 ms, of 500 + 2000"]);
  });

  it("that nobody, or somebody else, was named for", () => {
    expect(call({ named: [] })).toEqual(["the call came to cpu and nobody was named"]);
    expect(call({ named: ["evil", "rewriter"] })).toEqual(["rewriter was named"]);
    expect(call({ status: "gone", named: ["evil"] })).toEqual(["the outcome of the call does not mention the plugin"]);
    expect(broken({ ...TRIAL, restarts: [{ why: "killed", culprit: undefined }] })).toEqual(["a restart that names nobody: killed"]);
    expect(broken({ ...TRIAL, innocents: ["ledger"] })).toEqual(["ledger was blamed"]);
  });

  it("that cost an innocent call its answer", () => {
    expect(benign({ lost: 1 })).toEqual(["1 benign calls lost"]);
    expect(benign({ wrong: 2, blocked: 1, examples: ["this"] })).toEqual(["2 benign calls answered wrongly, 1 of them blocked: this"]);
  });

  it("that got something out", () => {
    expect(broken({ ...TRIAL, leaks: ["the log"] })).toEqual(["the secret is in the log"]);
    expect(broken({ ...TRIAL, loot: ['"at file:///home/x"'] })).toEqual(['it found "at file:///home/x"']);
    const chain = { ...TRIAL, attack: "esc-01-constructor-chain" };
    expect(broken({ ...chain, loot: ['["undefined","E:process is not defined","undefinedundefined"]'] })).toEqual([]);
    expect(broken({ ...chain, loot: ['["object"]'] })).toEqual(['it found ["object"]']);
  });

  it("that failed on a hook that fails closed, and was let through", () => {
    expect(call({ decision: "pass" })).toEqual(["it failed and the tool call was let through"]);
  });

  it("whose neighbours were slower than three times their quiet p99 while it was in place", () => {
    expect(tried(attempt({ p99Ms: 12 }))).toEqual([]);
    expect(tried(attempt({ p99Ms: 13 }))).toEqual(["neighbours' p99 was 3.3 times the quiet one"]);
  });

  it("that let the gateway stand still for 50 ms at a time, or for 5 % of the time", () => {
    expect(tried(attempt({ longestMs: 50 }))).toEqual([]);
    expect(tried(attempt({ longestMs: 51 }))).toEqual(["the gateway stood still for 51 ms at a time, of 50"]);
    expect(tried(attempt({ longestMs: 30, totalMs: 1_200 }))).toEqual(["the gateway stood still 6 % of the time, of 5 %"]);
  });

  it("beside which a synchronous run kept the gateway waiting, when the host had had the time to move it", () => {
    expect(tried(attempt({ syncMs: 50 }))).toEqual([]);
    expect(tried(attempt({ syncMs: 51 }))).toEqual(["a synchronous run kept the gateway waiting for 51 ms, of 50"]);
  });

  it("is not about what the machine did to a process with nothing to do in the same time", () => {
    const machine = { ...NO_STALLS, longestMs: 40, totalMs: 200 };
    expect(tried(attempt({ longestMs: 80, totalMs: 1_300, machine }))).toEqual([]);
    expect(tried(attempt({ longestMs: 81, totalMs: 1_500, machine }))).toEqual([
      "the gateway stood still for 81 ms at a time, of 80",
      "the gateway stood still 8 % of the time, of 7 %",
    ]);
  });

  it("by the clock is the median of three tries, and not the best", () => {
    expect(tried(attempt({ p99Ms: 40 }), attempt({}), attempt({}))).toEqual([]);
    expect(tried(attempt({ p99Ms: 40 }), attempt({ p99Ms: 40 }), attempt({}))).toEqual([
      "neighbours' p99 was 10.0 times the quiet one, the median of 3",
    ]);
    expect(isOnlyLate({ ...TRIAL, attempts: [attempt({ p99Ms: 40 })] })).toBe(true);
    expect(isOnlyLate({ ...TRIAL, attempts: [attempt({ p99Ms: 40 })], innocents: ["ledger"] })).toBe(false);
  });

  it("that got a call through beside an innocent plugin, or made that plugin fail", () => {
    const drives = { sent: 9, passed: 2, failed: 1, unserved: 11, longestSyncMs: 5, examples: ["this"] };
    expect(broken({ ...TRIAL, drives })).toEqual([
      "11 synchronous calls were not served while the sandbox process was replaced 0 times",
      "2 calls were let through that should have been stopped: this",
      "1 calls of an innocent plugin failed beside it: this",
    ]);
  });

  it("about which the host did not do what its file expects", () => {
    const expected = {
      ...TRIAL,
      calls: [{ ...CALL, status: "ok", named: [], decision: "pass" }],
      expect: ["moved", "named", "stopped"],
    } as const;
    expect(broken(expected)).toEqual([
      "it was neither moved to the slow lane nor stopped",
      "the host never said who it was",
      "it was not stopped",
    ]);
    expect(broken({ ...expected, isMoved: true, isStopped: true, named: ["slow lane: evil"] })).toEqual([]);
    expect(broken({ ...expected, attempts: [attempt({ isFull: false })] })).toEqual([]);
  });

  it("on the control is that it must be ok", () => {
    expect(broken({ ...TRIAL, attack: "ok-00-benign" })).toEqual(["the control came to cpu"]);
  });
});
