/** Trusted side: observe and evaluate hooks. Every handler gets its own copy of the event; they start in priority order and run in parallel. */
import type { Call, Evaluation, Outcome } from "../../protocol/outcome.ts";
import type { AnyHook } from "../../protocol/catalog.ts";
import type { Answers, StepAnswer } from "../supervisor/lane-client.ts";
import type { Handler } from "../plugins/registry.ts";
import { readAnswer, skipped } from "./answer.ts";
import type { Read } from "./answer.ts";
import { eligible, refused, report } from "./eligible.ts";
import type { RunInput } from "./run-input.ts";
import { withAttempt } from "./retry.ts";
import { singleRoute, fansOf, isStale } from "./segments.ts";
import type { HopRequest } from "./walk.ts";

/** The hops to run in parallel, and the outcome of their answers. */
export interface Fan {
  readonly hops: readonly FanHop[];
  outcome(answers: ReadonlyMap<Handler, StepAnswer>): Outcome;
}

export interface FanHop extends HopRequest {
  /** The handlers, in the order of the route. */
  readonly handlers: readonly Handler[];
}

export function fan(input: RunInput): Fan {
  const { runId, cause, hook, eventText: event, contextText: context } = input;
  const chosen = eligible(input);
  const barred = refused(input, chosen);
  const segments = fansOf(hook, barred ? chosen.filter((handler) => !barred.has(handler)) : chosen);
  return {
    hops: segments.flatMap((segment) => {
      const { handlers } = segment;
      const request = { cause, from: 0, chains: false, attempt: 1, spentMs: 0, event, context };
      if (!isStale(segment)) return { lane: segment.lane, request: { ...request, route: segment.route }, handlers };
      return handlers.map((handler) => {
        const { lane, route } = singleRoute(hook, handler);
        return { lane, request: { ...request, route }, handlers: [handler] };
      });
    }),
    outcome: (answers) => {
      input.firstAnswers = answers;
      const reads = new Map<Handler, Read>();
      for (const [handler, call] of barred ?? []) reads.set(handler, { call, answer: undefined });
      for (const [handler, step] of answers) reads.set(handler, readAnswer(input, handler, step));
      const called = chosen.map((handler): Call => reads.get(handler)?.call ?? skipped(handler));
      const result = hook.kind === "evaluate" ? chosen.map((handler) => evaluation(handler, reads.get(handler))) : undefined;
      const calls = report(input, chosen, called);
      const missing = hook.kind === "evaluate" ? chosen.find((one) => one.failure === "closed" && reads.get(one)?.call.error) : undefined;
      if (!missing) return { runId, hook: hook.name, decision: "pass", result, by: undefined, reason: undefined, calls };
      const reason = `${hook.name} handler of ${missing.plugin.id} failed: ${reads.get(missing)!.call.error!.message}`;
      return { runId, hook: hook.name, decision: "block", result, by: missing.plugin.id, reason, calls };
    },
  };
}

/** Retries the rest of a hop whose sandbox has died: each handler in a hop of its own. */
export function retryHops(hook: AnyHook, { request, handlers }: FanHop, { steps, retry }: Answers): FanHop[] {
  const { spentMs } = retry!;
  return handlers.flatMap((handler, at) => {
    if (steps[at]) return [];
    const { lane, route } = singleRoute(hook, handler);
    return { lane, request: { ...request, route, attempt: 2, spentMs, context: withAttempt(request.context, 2) }, handlers: [handler] };
  });
}

function evaluation({ plugin }: Handler, read: Read | undefined): Evaluation {
  if (read?.call.error) return { pluginId: plugin.id, status: "error", error: read.call.error.message };
  return read?.answer === undefined
    ? { pluginId: plugin.id, status: "skipped" }
    : { pluginId: plugin.id, status: "completed", result: read.answer };
}
