/** Chains: how long they are remembered, and that each thing a plugin does out of nowhere starts its own. */
import { expect, it } from "vitest";
import { Causes } from "../../../src/host/causality/causes.ts";
import { KvCauses } from "../../../src/host/services/kv/kv-causes.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

/** Starts a run, and ends it. */
function pass(causes: Causes, run: number): void {
  causes.remember(run, "message_sending", causes.begin(`h-${run}`));
  causes.finished(run);
}

it("a run that goes on is not forgotten, however many come and go meanwhile", () => {
  const causes = new Causes("h");
  causes.remember(1, "session:patch", causes.begin("h-1"));
  for (let run = 2; run < 3 * LIMITS.causality.rememberedRuns; run++) pass(causes, run);
  expect(causes.next(1, "p")).toMatchObject({ rootRunId: "h-1", path: ["p:session:patch"] });
});

it("one that is over is remembered for as many runs as the limit says", () => {
  const causes = new Causes("h");
  for (let run = 1; run <= LIMITS.causality.rememberedRuns; run++) pass(causes, run);
  expect(causes.next(1, "p").path).toEqual(["p:message_sending"]);
  pass(causes, LIMITS.causality.rememberedRuns + 1);
  expect(causes.next(1, "p").path).toEqual(["p:unknown"]);
  expect(causes.next(2, "p").path).toEqual(["p:message_sending"]);
});

it("what a plugin does while it loads, or because of a run that was forgotten, has a root of its own each time", () => {
  const causes = new Causes("h");
  const chains = [causes.next(0, "p"), causes.next(0, "p"), causes.next(77, "p"), causes.next(77, "p")];
  expect(chains.map(({ path, depth }) => [depth, ...path])).toEqual([
    [1, "p:load"],
    [1, "p:load"],
    [1, "p:unknown"],
    [1, "p:unknown"],
  ]);
  expect(new Set(chains.map(({ rootRunId }) => rootRunId)).size).toBe(4);
});

/** Depth of what a plugin would do next. */
const depthIn = (causes: Causes, run: number): number => causes.next(run, "p").depth;

function kvStage() {
  const clock = { ms: 0 };
  const causes = new Causes("h", () => clock.ms);
  const kv = new KvCauses(causes, () => clock.ms);
  /** A run that so many runs of the same root have led to. */
  const begin = (run: number, root: string, depth: number, hook = "session:patch"): void =>
    causes.remember(run, hook, {
      rootRunId: root,
      depth,
      path: Array(depth).fill("p:x"),
      runIds: Array(depth).fill(root),
      by: "p",
      client: undefined,
    });
  return { clock, causes, kv, begin };
}

it("a timer since the load goes on from the chain of what it reads, for a while, and writes on behalf of it", () => {
  const { clock, causes, kv, begin } = kvStage();
  begin(1, "x", 3);
  kv.wrote("p", 1, "flag");
  expect(depthIn(causes, 0)).toBe(1);
  kv.read("p", 0, ["other", "flag"]);
  expect(causes.next(0, "p")).toMatchObject({ rootRunId: "x", depth: 4, path: ["p:x", "p:x", "p:x", "p:load"] });
  // Nobody else's.
  expect(causes.next(0, "q").depth).toBe(1);
  kv.read("q", 0, ["flag"]);
  expect(causes.next(0, "q").depth).toBe(1);
  // What it writes now leads there, too.
  kv.wrote("p", 0, "copy");
  begin(2, "x", 1, "job");
  kv.read("p", 2, ["copy"]);
  expect(depthIn(causes, 2)).toBe(4);
  clock.ms += LIMITS.kv.causeMs;
  expect([depthIn(causes, 0), depthIn(causes, 2)]).toEqual([1, 2]);
  begin(3, "x", 1, "job");
  kv.read("p", 3, ["flag", "copy"]);
  expect(depthIn(causes, 3)).toBe(2);
});

it("a run that goes on has its own cause, whatever it reads; what it leaves behind joins chains of its own root only", () => {
  const { causes, kv, begin } = kvStage();
  begin(1, "x", 5);
  kv.wrote("p", 1, "k");
  begin(2, "y", 0);
  begin(3, "x", 0);
  for (const run of [2, 3]) kv.read("p", run, ["k"]);
  expect([depthIn(causes, 2), depthIn(causes, 3)]).toEqual([1, 1]);
  for (const run of [2, 3]) {
    causes.finished(run);
    kv.read("p", run, ["k"]);
  }
  expect([depthIn(causes, 2), depthIn(causes, 3)]).toEqual([1, 6]);
});

it("a write from outside takes the chain of an entry away, and what was joined stays the deepest", () => {
  const { causes, kv, begin } = kvStage();
  begin(1, "x", 5);
  kv.wrote("p", 1, "k");
  begin(2, "y", 0);
  kv.wrote("p", 2, "k");
  kv.read("p", 0, ["k"]);
  expect(depthIn(causes, 0)).toBe(1);
  // Never deeper than the deepest, and not shallower either.
  kv.wrote("p", 1, "k");
  kv.read("p", 0, ["k"]);
  begin(4, "x", 2);
  kv.wrote("p", 4, "k");
  kv.read("p", 0, ["k"]);
  expect(depthIn(causes, 0)).toBe(6);
});

it("of so many entries of a plugin the chain is remembered, the latest first", () => {
  const { causes, kv, begin } = kvStage();
  begin(1, "x", 5);
  for (let i = 0; i <= LIMITS.kv.causes; i++) kv.wrote("p", 1, `k${i}`);
  kv.read("p", 0, ["k0"]);
  expect(depthIn(causes, 0)).toBe(1);
  kv.read("p", 0, [`k${LIMITS.kv.causes}`, "k1"]);
  expect(depthIn(causes, 0)).toBe(6);
});
