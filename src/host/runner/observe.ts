/** Trusted side: observe and evaluate hooks. Every handler gets its own copy; they start in priority order and run side by side. */
import type { Evaluation, Outcome } from "../../protocol/outcome.ts";
import type { LaneClient } from "../lanes/lane-client.ts";
import type { Handler } from "../registry.ts";
import { readAnswer, skipped } from "./answer.ts";
import type { Read } from "./answer.ts";
import { eligible } from "./eligible.ts";
import type { RunInput } from "./run-input.ts";

export async function observe(input: RunInput, signal?: AbortSignal): Promise<Outcome> {
  const { runId, cause, hook, plan, eventText, contextText } = input;
  const { handlers, calls } = eligible(input);
  const reads = new Map<Handler, Read>();
  const mode = hook.kind === "evaluate" ? "gather" : "fan";
  const fan = async (lane: LaneClient, together: readonly Handler[]): Promise<void> => {
    const request = { cause, hook: hook.name, mode, chains: false, steps: together.map(({ step }) => step) } as const;
    const answers = await lane.run(request, eventText, contextText, signal);
    for (const [position, handler] of together.entries()) {
      const step = answers[position];
      if (step) reads.set(handler, readAnswer(input, handler, step));
    }
  };
  await Promise.all(Array.from(Map.groupBy(handlers, ({ lane }) => lane), ([lane, together]) => fan(lane, together)));
  return {
    runId,
    hook: hook.name,
    decision: "pass",
    result: hook.kind === "evaluate" ? plan.map((handler) => evaluation(handler, reads.get(handler))) : undefined,
    by: undefined,
    reason: undefined,
    calls: plan.map((handler) => reads.get(handler)?.call ?? calls.get(handler) ?? skipped(handler)),
  };
}

function evaluation({ plugin }: Handler, read: Read | undefined): Evaluation {
  if (read?.call.error) return { pluginId: plugin.id, status: "error", error: read.call.error.message };
  return read?.answer === undefined ? { pluginId: plugin.id, status: "skipped" } : { pluginId: plugin.id, status: "completed", result: read.answer };
}
