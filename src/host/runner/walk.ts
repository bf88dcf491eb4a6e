/**
 * Trusted side: the walk along a hook's handlers, one after the other. It asks for hops and is told their answers, so that one
 * walk serves `run`, which awaits them, and `runSync`, which blocks. Handlers in a row in one lane are asked for in one hop.
 */
import type { AnyHook } from "../../protocol/catalog.ts";
import { start } from "../../protocol/merge.ts";
import type { Merged } from "../../protocol/merge.ts";
import type { Call, Outcome } from "../../protocol/outcome.ts";
import { failure } from "../lanes/death.ts";
import type { Answers, LaneClient, RunRequest } from "../lanes/lane-client.ts";
import type { Handler } from "../registry.ts";
import { readAnswer } from "./answer.ts";
import { eligible, refused, report } from "./eligible.ts";
import { JUDGES } from "./judge.ts";
import type { RunInput } from "./run-input.ts";
import { FIRST, Redo, withAttempt } from "./redo.ts";
import { isStale, segmentsOf, withGaps } from "./segments.ts";

export interface HopRequest {
  readonly lane: LaneClient;
  readonly request: RunRequest;
}

// SECURITY: a lane that answers nothing must not make the host ask for ever. test/host/walk.test.ts
const NO_ANSWER = failure("crashed", "ERR_SANDBOX_PROTOCOL", { detail: "no answer" });

export function* walk(input: RunInput): Generator<HopRequest, Outcome, Answers> {
  const { runId, cause, hook } = input;
  const chosen = eligible(input);
  const judge = JUDGES[hook.kind as keyof typeof JUDGES];
  const called: Call[] = [];
  let state = start(input.event);
  let written = input.event;
  let event = input.eventText;
  let by: Handler | undefined;
  const failsClosed = input.failure === "closed" && hook.terminal !== undefined;
  const barred = refused(input, chosen);

  for (const segment of barred ? withGaps(hook, chosen, barred) : segmentsOf(hook, chosen)) {
    if (segment.barred) {
      called.push(segment.call);
      if (!failsClosed) continue;
      state = failedClosed(hook, state, segment.barred, segment.call);
      by = segment.barred;
      break;
    }
    const { handlers } = segment;
    let redo: Redo | undefined;
    for (let at = 0; at < handlers.length && !by;) {
      if (written !== state.event) {
        written = state.event;
        event = JSON.stringify(written);
      }
      if (isStale(segment)) redo ??= new Redo(segment);
      const { lane, route } = redo?.place(hook, at) ?? segment;
      const { offset, attempt, spentMs } = redo?.attempt(at) ?? FIRST;
      const chains = state.frozen.size === 0;
      const context = withAttempt(input.contextText, attempt);
      const answers =
        redo?.known(at) ?? (yield { lane, request: { cause, route, from: at - offset, chains, attempt, spentMs, event, context } });
      const { steps } = answers;
      const first = at;
      if (called.length === 0) input.heard = answers;
      else (input.later ??= []).push({ answers, at: called.length, from: at - offset });
      if (answers.again) (redo ??= new Redo(segment)).note(answers, at, offset);
      for (; at < handlers.length; at++) {
        // The lane left the rest to us: go on with a new hop from here. It may not leave us everything.
        const step = steps[at - offset] ?? (at === first && !answers.again ? NO_ANSWER : undefined);
        if (!step) break;
        const handler = handlers[at]!;
        const { call, answer } = readAnswer(input, handler, step);
        called.push(call);
        if (call.error && failsClosed) {
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
    }
    if (by) break;
  }

  const { terminal } = hook;
  return {
    runId,
    hook: hook.name,
    decision: by && terminal ? terminal.decision : "pass",
    result: state.result,
    by: by?.plugin.id,
    reason: by && terminal?.reason ? (state.result?.[terminal.reason] as string | undefined) : undefined,
    calls: report(input, chosen, called),
  };
}

function failedClosed(hook: AnyHook, state: Merged, { plugin }: Handler, { error }: Call): Merged {
  const { field, equals, reason } = hook.terminal!;
  const why = `${hook.name} handler of ${plugin.id} failed: ${error?.message ?? "no reason given"}`;
  return { ...state, result: { ...state.result, [field]: equals ?? true, ...(reason && { [reason]: why }) } };
}
