/** Trusted side: observe and evaluate hooks. Every handler gets its own copy; they start in priority order and run side by side. */
import type { AnyHook } from "../../protocol/catalog.ts";
import type { Evaluation, Outcome } from "../../protocol/outcome.ts";
import type { LaneClient } from "../lanes/lane-client.ts";
import type { Handler, Plan } from "../registry.ts";
import { readAnswer, skipped } from "./answer.ts";
import type { Read } from "./answer.ts";
import { eligible } from "./eligible.ts";
import type { Prepared } from "./prepare.ts";

export async function observe(runId: string, hook: AnyHook, plan: Plan, prepared: Prepared, signal?: AbortSignal): Promise<Outcome> {
  const { event, eventText, context, contextText } = prepared;
  const reads = new Map<Handler, Read>();
  const mode = hook.kind === "evaluate" ? "gather" : "fan";
  const fan = async (lane: LaneClient, handlers: readonly Handler[]): Promise<void> => {
    const request = { hook: hook.name, mode, chains: false, steps: handlers.map(({ step }) => step) } as const;
    const answers = await lane.run(request, eventText, contextText, signal);
    for (const [position, handler] of handlers.entries()) {
      const step = answers[position];
      if (step) reads.set(handler, readAnswer(hook, handler, step));
    }
  };
  const byLane = Map.groupBy(eligible(hook, plan, event, context), ({ lane }) => lane);
  await Promise.all(Array.from(byLane, ([lane, handlers]) => fan(lane, handlers)));
  return {
    runId,
    hook: hook.name,
    decision: "pass",
    result: hook.kind === "evaluate" ? plan.map((handler) => evaluation(handler, reads.get(handler))) : undefined,
    by: undefined,
    reason: undefined,
    calls: plan.map((handler) => reads.get(handler)?.call ?? skipped(handler)),
  };
}

function evaluation({ plugin }: Handler, read: Read | undefined): Evaluation {
  if (read?.call.error) return { pluginId: plugin.id, status: "error", error: read.call.error.message };
  return read?.answer === undefined
    ? { pluginId: plugin.id, status: "skipped" }
    : { pluginId: plugin.id, status: "completed", result: read.answer };
}
