/** Chains: how long they are remembered, and that each thing a plugin does out of nowhere starts its own. */
import { expect, it } from "vitest";
import { Causes } from "../../src/host/causes.ts";
import { LIMITS } from "../../src/protocol/limits.ts";

/** Starts a run, and ends it. */
function pass(causes: Causes, run: number): void {
  causes.remember(run, "message_sending", causes.begin(`h-${run}`));
  causes.finished(run);
}

it("a run that goes on is not forgotten, however many come and go meanwhile", () => {
  const causes = new Causes("h");
  causes.remember(1, "session:patch", causes.begin("h-1"));
  for (let run = 2; run < 3 * LIMITS.rememberedRuns; run++) pass(causes, run);
  expect(causes.next(1, "p")).toMatchObject({ rootRunId: "h-1", path: ["p:session:patch"] });
});

it("one that is over is remembered for as many runs as the limit says", () => {
  const causes = new Causes("h");
  for (let run = 1; run <= LIMITS.rememberedRuns; run++) pass(causes, run);
  expect(causes.next(1, "p").path).toEqual(["p:message_sending"]);
  pass(causes, LIMITS.rememberedRuns + 1);
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
