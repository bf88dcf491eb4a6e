/** Trusted side: observe and evaluate hooks. Every handler gets its own copy; they start in priority order and run side by side. */
import type { Call, Evaluation, Outcome } from "../../protocol/outcome.ts";
import type { Answers } from "../lanes/lane-client.ts";
import type { Handler } from "../registry.ts";
import { readAnswer, skipped } from "./answer.ts";
import type { Read } from "./answer.ts";
import { eligible, report } from "./eligible.ts";
import type { RunInput } from "./run-input.ts";
import { fansOf } from "./segments.ts";
import type { HopRequest } from "./walk.ts";

/** The hops to run side by side, and what their answers come to. */
export interface Fan {
  readonly hops: readonly HopRequest[];
  outcome(answers: readonly Answers[]): Outcome;
}

export function fan(input: RunInput): Fan {
  const { runId, cause, hook, eventText: event, contextText: context } = input;
  const chosen = eligible(input);
  const segments = fansOf(hook, chosen);
  return {
    hops: segments.map(({ lane, route }) => ({ lane, request: { cause, route, from: 0, chains: false, event, context } })),
    outcome: (answers) => {
      const reads = new Map<Handler, Read>();
      for (const [index, { handlers }] of segments.entries()) {
        for (const [position, handler] of handlers.entries()) {
          const step = answers[index]?.steps[position];
          if (step) reads.set(handler, readAnswer(input, handler, step));
        }
      }
      const called = chosen.map((handler): Call => reads.get(handler)?.call ?? skipped(handler));
      const result = hook.kind === "evaluate" ? chosen.map((handler) => evaluation(handler, reads.get(handler))) : undefined;
      return { runId, hook: hook.name, decision: "pass", result, by: undefined, reason: undefined, calls: report(input, chosen, called) };
    },
  };
}

function evaluation({ plugin }: Handler, read: Read | undefined): Evaluation {
  if (read?.call.error) return { pluginId: plugin.id, status: "error", error: read.call.error.message };
  return read?.answer === undefined
    ? { pluginId: plugin.id, status: "skipped" }
    : { pluginId: plugin.id, status: "completed", result: read.answer };
}
