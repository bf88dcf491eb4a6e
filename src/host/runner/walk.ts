/**
 * Trusted side: the walk along a hook's handlers, one after the other. It asks for hops and is told their answers, so that one
 * walk serves `run`, which awaits them, and `runSync`, which blocks. Handlers in a row in one lane are asked for in one hop.
 */
import type { AnyHook } from "../../protocol/catalog.ts";
import { start } from "../../protocol/merge.ts";
import type { Merged } from "../../protocol/merge.ts";
import type { Call, Outcome } from "../../protocol/outcome.ts";
import { failure } from "../lanes/lane-client.ts";
import type { LaneClient, RunRequest, StepAnswer } from "../lanes/lane-client.ts";
import type { Handler } from "../registry.ts";
import { readAnswer, skipped } from "./answer.ts";
import { eligible } from "./eligible.ts";
import { JUDGES } from "./judge.ts";
import type { RunInput } from "./run-input.ts";

export interface HopRequest {
  readonly lane: LaneClient;
  readonly request: RunRequest;
  readonly event: string;
  readonly context: string;
}

// SECURITY: a lane that answers nothing must not make the host ask for ever. test/host/walk.test.ts
const NO_ANSWER = failure("crashed", "ERR_SANDBOX_PROTOCOL", { detail: "no answer" });

export function* walk(input: RunInput): Generator<HopRequest, Outcome, readonly (StepAnswer | undefined)[]> {
  const { runId, cause, hook, plan } = input;
  const { handlers, calls } = eligible(input);
  const judge = JUDGES[hook.kind as keyof typeof JUDGES];
  const mode = hook.kind === "sync" ? "sync" : "chain";
  let state = start(input.event);
  let event = input.eventText;
  let by: Handler | undefined;

  for (let at = 0; at < handlers.length && !by;) {
    const { lane } = handlers[at]!;
    let end = at + 1;
    while (end < handlers.length && handlers[end]!.lane === lane) end += 1;
    const hop = handlers.slice(at, end);
    const request = { cause, hook: hook.name, mode, chains: state.frozen.size === 0, steps: hop.map(({ step }) => step) } as const;
    const answers = yield { lane, request, event, context: input.contextText };
    const before = state.event;
    for (const [position, handler] of hop.entries()) {
      // The lane left the rest to us: go on with a new hop from here. It may not leave us everything.
      const step = answers[position] ?? (position === 0 ? NO_ANSWER : undefined);
      if (!step) break;
      at += 1;
      const { call, answer } = readAnswer(input, handler, step);
      calls.set(handler, call);
      if (call.error && input.failure === "closed" && hook.terminal) {
        state = failedClosed(hook, state, handler, call);
        by = handler;
        break;
      }
      if (answer === undefined) continue;
      const judgement = judge(hook, state, answer, handler.plugin.id);
      state = judgement.state;
      if (!judgement.ends) continue;
      by = handler;
      break;
    }
    if (state.event !== before) event = JSON.stringify(state.event);
  }

  const { terminal } = hook;
  return {
    runId,
    hook: hook.name,
    decision: by && terminal ? terminal.decision : "pass",
    result: state.result,
    by: by?.plugin.id,
    reason: by && terminal?.reason ? (state.result?.[terminal.reason] as string | undefined) : undefined,
    calls: plan.map((handler) => calls.get(handler) ?? skipped(handler)),
  };
}

function failedClosed(hook: AnyHook, state: Merged, { plugin }: Handler, { error }: Call): Merged {
  const { field, equals, reason } = hook.terminal!;
  const why = `${hook.name} handler of ${plugin.id} failed: ${error?.message ?? "no reason given"}`;
  return { ...state, result: { ...state.result, [field]: equals ?? true, ...(reason && { [reason]: why }) } };
}
