/** Each rule of the attack suite, broken once: a rule that cannot be broken holds nothing. */
import { describe, expect, it } from "vitest";
import type { Settled, Trial } from "./trial.ts";
import { broken } from "./verdict.ts";

const CALL: Settled = {
  phase: "call",
  status: "cpu",
  code: "ERR_CALL_CPU",
  tookMs: 400,
  budgetMs: 500,
  named: ["evil"],
  decision: "block",
};
const TRIAL: Trial = {
  id: "evil",
  attack: "cpu-01-sync-loop",
  calls: [CALL],
  restarts: [],
  innocents: [],
  loot: [],
  leaks: [],
  benign: { sent: 10, right: 10, wrong: 0, blocked: 0, lost: 0, retried: 0, examples: [], p50Ms: 1, p99Ms: 2 },
  gapMs: 1,
  gatewayRssMb: 100,
  sandboxRssMb: 100,
  tookMs: 500,
};
const call = (change: Partial<Settled>) => broken({ ...TRIAL, calls: [{ ...CALL, ...change }] });
const benign = (change: Partial<Trial["benign"]>) => broken({ ...TRIAL, benign: { ...TRIAL.benign, ...change } });
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

  it("on the control is that it must be ok", () => {
    expect(broken({ ...TRIAL, attack: "ok-00-benign" })).toEqual(["the control came to cpu"]);
  });
});
