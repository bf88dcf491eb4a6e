/**
 * Trusted side: walks along the handlers of a sequential hook. It returns the next hop and takes its answers, so that one walk serves `run`,
 * which awaits them, and `runSync`, which blocks. Consecutive handlers in one lane are one hop.
 */
import type { AnyHook } from "../../protocol/catalog.ts";
import { start } from "../../protocol/rules/merge.ts";
import type { Fields, Merged, Own } from "../../protocol/rules/merge.ts";
import type { Call, CallError, Outcome } from "../../protocol/outcome.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ownError } from "./guest-error.ts";
import { failure } from "../supervisor/unit-loss.ts";
import type { Answers, LaneClient, RunRequest, StepAnswer } from "../supervisor/lane-client.ts";
import type { Plugin } from "../plugins/plugin.ts";
import type { Handler, Plan } from "../plugins/registry.ts";
import { readAnswer, refusedResult, skipped, unread } from "./answer.ts";
import { eligible, refused, report } from "./eligible.ts";
import { JUDGES } from "./judge.ts";
import { RunCost } from "./run-cost.ts";
import type { RunInput } from "./run-input.ts";
import { FIRST, Retry, withAttempt } from "./retry.ts";
import { isStale, segmentsOf, withSkipped } from "./segments.ts";
import type { Skipped, Segment } from "./segments.ts";

export interface HopRequest {
  readonly lane: LaneClient;
  readonly request: RunRequest;
}

/** The most bytes that one character of a result can become when it is parsed and serialised again: `1e20` becomes 21 digits. */
const BODY_BYTES = 6;

// SECURITY: a lane that answers nothing must not make the host send hops for ever. test/host/run/walk.test.ts
const NO_ANSWER = failure("crashed", "ERR_SANDBOX_PROTOCOL", { detail: "no answer" });

/** So many results are merged into copies, whatever their event: that costs less than to keep in mind what is the run's own. */
const COPIES = 4;

/** Not a generator: on the path of every call, that would cost a tenth of the host's work. */
export class Walk {
  /** Set when there is no further hop. */
  outcome: Outcome | undefined;
  readonly #input: RunInput;
  readonly #chosen: Plan;
  readonly #segments: readonly (Segment | Skipped)[];
  readonly #failsClosed: boolean;
  readonly #called: Call[] = [];
  #state: Merged<Handler>;
  /** The text of the event that the next handler sees, and the event it was made from. */
  #event: string;
  #written: Fields;
  /** An upper bound of the bytes of event and context; 0: no result has changed the event. */
  #mostBytes = 0;
  /** Characters of all results so far, and hops that handlers made necessary by results only the host can judge. */
  #chars = 0;
  #extraHops = 0;
  /** What makes this run expensive for the gateway, and which plugin pays; undefined: nothing does. */
  #cost: RunCost | undefined;
  /** What the run may write results into instead of copying it, if copies would cost something. */
  #own: Own | undefined;
  /** CPU time of each plugin in a run that blocks the gateway, as far as it is worth counting. */
  #spent: Map<Plugin, number> | undefined;
  /** The current segment, the place in it, and what must be retried of it. */
  #segmentAt = 0;
  #at = 0;
  #offset = 0;
  #retry: Retry | undefined;
  /** When the current hop was sent, unless it is the first. */
  #sentMs = 0;
  /** The handler that ended the run and, if it failed, why. */
  #by: Handler | undefined;
  #why: string | undefined;

  constructor(input: RunInput) {
    const { hook, event } = input;
    const chosen = eligible(input);
    const barred = refused(input, chosen);
    this.#input = input;
    this.#chosen = chosen;
    this.#segments = barred ? withSkipped(hook, chosen, barred) : segmentsOf(hook, chosen);
    this.#failsClosed = input.failure === "closed" && hook.terminal !== undefined;
    this.#state = start(event);
    this.#event = input.eventText;
    this.#written = event;
  }

  /** Takes the answers to the last hop and returns the next one. Undefined: there is an outcome. */
  next(answers?: Answers): HopRequest | undefined {
    if (answers) this.#take(answers);
    while (!this.#by && this.#segmentAt < this.#segments.length) {
      const segment = this.#segments[this.#segmentAt]!;
      if (segment.barred) {
        this.#segmentAt += 1;
        this.#called.push(segment.call);
        if (this.#closes(segment.barred)) this.#failed(segment.barred, segment.call);
      } else if (this.#at >= segment.handlers.length) {
        this.#segmentAt += 1;
        this.#at = 0;
        this.#retry = undefined;
      } else if (this.#spent && this.#isOutOfTime(segment.handlers[this.#at]!)) {
        this.#at += 1;
      } else {
        const hop = this.#hop(segment);
        const known = this.#retry?.known(this.#at);
        if (!known) return hop;
        this.#take(known);
      }
    }
    this.outcome = this.#ended();
    return undefined;
  }

  #hop(segment: Segment): HopRequest {
    const { hook, cause, contextText } = this.#input;
    if (this.#at > 0 && !this.#retry) this.#isSentBack(segment.handlers[this.#at - 1]!.plugin);
    if (this.#written !== this.#state.event) {
      const { event } = this.#state;
      this.#written = event;
      this.#event = this.#cost ? this.#cost.measure(() => JSON.stringify(event)) : JSON.stringify(event);
    }
    this.#cost?.sent(this.#event.length);
    if (isStale(segment)) this.#retry ??= new Retry(segment);
    const { lane, route } = this.#retry?.place(hook, this.#at) ?? segment;
    const { offset, attempt, spentMs } = this.#retry?.attempt(this.#at) ?? FIRST;
    this.#offset = offset;
    if (this.#called.length > 0) this.#sentMs = performance.now();
    const chains = this.#state.frozen.size === 0;
    const context = withAttempt(contextText, attempt);
    return { lane, request: { cause, route, from: this.#at - offset, chains, attempt, spentMs, event: this.#event, context } };
  }

  /** The lane left the rest to the host, because of this plugin's answer. */
  #isSentBack(plugin: Plugin): void {
    if (++this.#extraHops > LIMITS.gateway.freeHops) (this.#cost ??= new RunCost(plugin)).causes(plugin, this.#event.length);
  }

  #take(answers: Answers): void {
    const input = this.#input;
    const { handlers } = this.#segments[this.#segmentAt] as Segment;
    const isSync = input.hook.kind === "sync";
    const { steps } = answers;
    const first = this.#at;
    const offset = this.#offset;
    if (this.#called.length === 0) input.firstAnswers = answers;
    else (input.later ??= []).push({ answers, at: this.#called.length, from: first - offset, sentMs: this.#sentMs });
    if (answers.retry) (this.#retry ??= new Retry(this.#segments[this.#segmentAt] as Segment)).note(answers, first, offset);
    for (; this.#at < handlers.length && !this.#by; this.#at++) {
      // The lane left the rest to the host: go on with a new hop from here. It must have answered at least one step.
      const step = steps[this.#at - offset] ?? (this.#at === first && !answers.retry ? NO_ANSWER : undefined);
      if (!step) return;
      const handler = handlers[this.#at]!;
      this.#chars += step.body.length;
      const isLong = this.#cost !== undefined || this.#chars >= LIMITS.gateway.resultChars;
      const call = isLong ? this.#readLong(handler, step) : this.#read(handler, step);
      this.#called.push(call);
      if (call.error && this.#closes(handler)) this.#failed(handler, call);
      if (isSync && call.cpuMs >= LIMITS.lane.quickTurnMs) this.#spends(handler.plugin, call.cpuMs);
    }
  }

  #spends(plugin: Plugin, cpuMs: number): void {
    this.#spent ??= new Map();
    this.#spent.set(plugin, (this.#spent.get(plugin) ?? 0) + cpuMs);
  }

  /**
   * Notes the call of a handler whose plugin has used up its CPU time in a run that blocks the gateway. SECURITY: all
   * handlers of a plugin have the time of one there, or hundreds would block it for seconds. test/host/run/walk.test.ts
   */
  #isOutOfTime(handler: Handler): boolean {
    const limitMs = handler.budget.cpuMs.value;
    if ((this.#spent!.get(handler.plugin) ?? 0) <= limitMs) return false;
    const call: Call = { ...skipped(handler), status: "failed", error: ownError("ERR_CALL_CPU_SHARED", { ms: limitMs }) };
    this.#called.push(call);
    if (this.#closes(handler)) this.#failed(handler, call);
    return true;
  }

  #read(handler: Handler, step: StepAnswer): Call {
    const read = readAnswer(this.#input, handler, step);
    const grown = read.answer === undefined ? undefined : this.#judge(handler, read.answer, step.body);
    return grown ? refusedResult(read, grown) : read.call;
  }

  /** Reads and merges a result in a run whose results are long: the plugin that made it so pays. */
  #readLong(handler: Handler, step: StepAnswer): Call {
    const cost = (this.#cost ??= new RunCost(handler.plugin));
    const refusal = step.status === "ok" ? cost.takes(handler.plugin, step.body.length) : undefined;
    return refusal ? unread(handler, step, refusal) : cost.measure(() => this.#read(handler, step));
  }

  /** Merges a result. Returns an error if the event would become too long; then the result does not count. */
  #judge(handler: Handler, answer: Fields, body: string): CallError | undefined {
    const { hook } = this.#input;
    const isShort = this.#isSurelyShort(body);
    // A result that may not count must not be written into what stands.
    const own = isShort && this.#isLong ? (this.#own ??= new Set()) : undefined;
    const { state, ends } = JUDGES[hook.kind as keyof typeof JUDGES](hook, this.#state, answer, handler, own);
    if (state.event !== this.#state.event && !ends) {
      const bytes = isShort ? (this.#mostBytes += BODY_BYTES * body.length) : this.#bytesOf(state.event);
      if (bytes > LIMITS.call.eventBytes) return ownError("ERR_CALL_EVENT_GROWTH", { bytes, limit: LIMITS.call.eventBytes });
    }
    this.#state = state;
    if (ends) this.#by = handler;
    return undefined;
  }

  /** SECURITY: copies of a long event, or of a short one for hundreds of handlers, would stall the gateway. test/host/run/walk.test.ts */
  get #isLong(): boolean {
    return this.#cost !== undefined || this.#called.length >= COPIES || this.#event.length >= LIMITS.gateway.resultChars;
  }

  /** Event and context with this result certainly take no more bytes than they may. */
  #isSurelyShort(body: string): boolean {
    const { eventText, contextText } = this.#input;
    this.#mostBytes ||= 3 * (eventText.length + contextText.length);
    return this.#mostBytes + BODY_BYTES * body.length <= LIMITS.call.eventBytes;
  }

  /** The bytes of event and context; the text is kept. */
  #bytesOf(event: Fields): number {
    const text = JSON.stringify(event);
    const bytes = Buffer.byteLength(text) + Buffer.byteLength(this.#input.contextText);
    if (bytes > LIMITS.call.eventBytes) return bytes;
    this.#event = text;
    this.#written = event;
    return (this.#mostBytes = bytes);
  }

  /** Does its failure end the run? */
  #closes({ failure: own }: Handler): boolean {
    return own === "closed" || (this.#failsClosed && own !== "open");
  }

  #failed(handler: Handler, { error }: Call): void {
    const { hook } = this.#input;
    this.#why = `${hook.name} handler of ${handler.plugin.id} failed: ${error?.message ?? "no reason given"}`;
    this.#state = failedClosed(hook, this.#state, this.#why);
    this.#by = handler;
  }

  #ended(): Outcome {
    const { hook, runId } = this.#input;
    const { result, asked } = this.#state;
    this.#input.asked = asked;
    if (this.#cost) this.#input.cost = this.#cost;
    const terminal = this.#by && hook.terminal;
    return {
      runId,
      hook: hook.name,
      // Without a terminal result only a required plugin's failure ends a run.
      decision: this.#by ? (terminal?.decision ?? "block") : "pass",
      result,
      by: this.#by?.plugin.id,
      reason: terminal?.reason ? (result?.[terminal.reason] as string | undefined) : this.#why,
      calls: report(this.#input, this.#chosen, this.#called),
    };
  }
}

/** A hook without a terminal field returns no result at all: half of the handlers' work must not pass for the whole. */
function failedClosed({ terminal }: AnyHook, state: Merged<Handler>, why: string): Merged<Handler> {
  if (!terminal) return { ...state, result: undefined };
  const { field, equals, reason } = terminal;
  return { ...state, result: { ...state.result, [field]: equals ?? true, ...(reason && { [reason]: why }) } };
}
