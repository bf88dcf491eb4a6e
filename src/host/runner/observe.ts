/** Trusted side: observe hooks. Every handler gets its own copy; they start in priority order and run side by side. */
import type { AnyHook } from "../../protocol/catalog.ts";
import type { Call, Outcome } from "../../protocol/outcome.ts";
import type { LaneClient } from "../lanes/lane-client.ts";
import type { Handler, Plan } from "../registry.ts";
import { readAnswer, skipped } from "./answer.ts";
import type { Prepared } from "./prepare.ts";

export async function observe(
  runId: string,
  hook: AnyHook,
  plan: Plan,
  { eventText, contextText }: Prepared,
  signal?: AbortSignal,
): Promise<Outcome> {
  const byLane = Map.groupBy(plan, ({ lane }) => lane);
  const calls = new Map<Handler, Call>();
  const fan = async (lane: LaneClient, handlers: readonly Handler[]): Promise<void> => {
    const answers = await lane.run(
      { hook: hook.name, mode: "fan", chains: false, steps: handlers.map(({ step }) => step) },
      eventText,
      contextText,
      signal,
    );
    for (const [position, handler] of handlers.entries()) {
      const step = answers[position];
      if (step) calls.set(handler, readAnswer(hook, handler, step).call);
    }
  };
  await Promise.all(Array.from(byLane, ([lane, handlers]) => fan(lane, handlers)));
  return {
    runId,
    hook: hook.name,
    decision: "pass",
    result: undefined,
    by: undefined,
    reason: undefined,
    calls: plan.map((handler) => calls.get(handler) ?? skipped(handler)),
  };
}
