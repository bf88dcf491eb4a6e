/**
 * Trusted side: the walk along a hook's handlers, one after the other. It asks for hops and is told their answers, so that one
 * walk serves `run`, which awaits them, and `runSync`, which blocks. Handlers in a row in one lane are asked for in one hop.
 */
import type { AnyHook } from "../../protocol/catalog.ts";
import { start } from "../../protocol/merge.ts";
import type { Fields, Merged } from "../../protocol/merge.ts";
import type { Call, Outcome } from "../../protocol/outcome.ts";
import { failure } from "../lanes/death.ts";
import type { Answers, LaneClient, RunRequest } from "../lanes/lane-client.ts";
import type { Handler, Plan } from "../registry.ts";
import { readAnswer } from "./answer.ts";
import { eligible, refused, report } from "./eligible.ts";
import { JUDGES } from "./judge.ts";
import type { RunInput } from "./run-input.ts";
import { NO_CONTEXT } from "./prepare.ts";
import { FIRST, Redo, withAttempt } from "./redo.ts";
import { isStale, segmentsOf, withGaps } from "./segments.ts";
import type { Gap, Segment } from "./segments.ts";

export interface HopRequest {
  readonly lane: LaneClient;
  readonly request: RunRequest;
}

// SECURITY: a lane that answers nothing must not make the host ask for ever. test/host/walk.test.ts
const NO_ANSWER = failure("crashed", "ERR_SANDBOX_PROTOCOL", { detail: "no answer" });

/** One run on its way. Not a generator: on the path of every call that costs a tenth of what the host does for it. */
export class Walk {
  /** What it came to, once there is nothing more to ask for. */
  outcome: Outcome | undefined;
  readonly #input: RunInput;
  readonly #chosen: Plan;
  readonly #segments: readonly (Segment | Gap)[];
  readonly #failsClosed: boolean;
  readonly #called: Call[] = [];
  #state: Merged;
  /** What the next handler sees, and of which of the states that is the text. */
  #event: string;
  #written: Fields;
  /** The segment that it is in, its place there, and what has happened to that segment. */
  #segmentAt = 0;
  #at = 0;
  #offset = 0;
  #redo: Redo | undefined;
  /** Whoever ended it. */
  #by: Handler | undefined;

  constructor(input: RunInput) {
    const { hook, event } = input;
    const chosen = eligible(input);
    const barred = refused(input, chosen);
    this.#input = input;
    this.#chosen = chosen;
    this.#segments = barred ? withGaps(hook, chosen, barred) : segmentsOf(hook, chosen);
    this.#failsClosed = input.failure === "closed" && hook.terminal !== undefined;
    this.#state = start(event);
    this.#event = input.eventText;
    this.#written = event;
  }

  /** The next hop, given the answers to the last one. Undefined: there is an outcome. */
  next(answers?: Answers): HopRequest | undefined {
    if (answers) this.#take(answers);
    while (!this.#by && this.#segmentAt < this.#segments.length) {
      const segment = this.#segments[this.#segmentAt]!;
      if (segment.barred) {
        this.#segmentAt += 1;
        this.#called.push(segment.call);
        if (this.#failsClosed) this.#failed(segment.barred, segment.call);
      } else if (this.#at >= segment.handlers.length) {
        this.#segmentAt += 1;
        this.#at = 0;
        this.#redo = undefined;
      } else {
        const hop = this.#hop(segment);
        const known = this.#redo?.known(this.#at);
        if (!known) return hop;
        this.#take(known);
      }
    }
    this.outcome = this.#ended();
    return undefined;
  }

  #hop(segment: Segment): HopRequest {
    const { hook, cause, contextText } = this.#input;
    if (this.#written !== this.#state.event) {
      this.#written = this.#state.event;
      this.#event = JSON.stringify(this.#written);
    }
    if (isStale(segment)) this.#redo ??= new Redo(segment);
    const { lane, route } = this.#redo?.place(hook, this.#at) ?? segment;
    const { offset, attempt, spentMs } = this.#redo?.attempt(this.#at) ?? FIRST;
    this.#offset = offset;
    const chains = this.#state.frozen.size === 0;
    const context = segment.seesContext ? withAttempt(contextText, attempt) : NO_CONTEXT;
    return { lane, request: { cause, route, from: this.#at - offset, chains, attempt, spentMs, event: this.#event, context } };
  }

  #take(answers: Answers): void {
    const input = this.#input;
    const { handlers } = this.#segments[this.#segmentAt] as Segment;
    const { steps } = answers;
    const first = this.#at;
    const offset = this.#offset;
    if (this.#called.length === 0) input.heard = answers;
    else (input.later ??= []).push({ answers, at: this.#called.length, from: first - offset });
    if (answers.again) (this.#redo ??= new Redo(this.#segments[this.#segmentAt] as Segment)).note(answers, first, offset);
    for (; this.#at < handlers.length && !this.#by; this.#at++) {
      // The lane left the rest to us: go on with a new hop from here. It may not leave us everything.
      const step = steps[this.#at - offset] ?? (this.#at === first && !answers.again ? NO_ANSWER : undefined);
      if (!step) return;
      const handler = handlers[this.#at]!;
      const { call, answer } = readAnswer(input, handler, step);
      this.#called.push(call);
      if (call.error && this.#failsClosed) this.#failed(handler, call);
      else if (answer !== undefined) this.#judge(handler, answer);
    }
  }

  #judge(handler: Handler, answer: Fields): void {
    const { hook } = this.#input;
    const { state, ends } = JUDGES[hook.kind as keyof typeof JUDGES](hook, this.#state, answer, handler.plugin.id);
    this.#state = state;
    if (ends) this.#by = handler;
  }

  #failed(handler: Handler, call: Call): void {
    this.#state = failedClosed(this.#input.hook, this.#state, handler, call);
    this.#by = handler;
  }

  #ended(): Outcome {
    const { hook, runId } = this.#input;
    const { result } = this.#state;
    const terminal = this.#by && hook.terminal;
    return {
      runId,
      hook: hook.name,
      decision: terminal ? terminal.decision : "pass",
      result,
      by: this.#by?.plugin.id,
      reason: terminal?.reason ? (result?.[terminal.reason] as string | undefined) : undefined,
      calls: report(this.#input, this.#chosen, this.#called),
    };
  }
}

function failedClosed(hook: AnyHook, state: Merged, { plugin }: Handler, { error }: Call): Merged {
  const { field, equals, reason } = hook.terminal!;
  const why = `${hook.name} handler of ${plugin.id} failed: ${error?.message ?? "no reason given"}`;
  return { ...state, result: { ...state.result, [field]: equals ?? true, ...(reason && { [reason]: why }) } };
}
