/**
 * Untrusted side, lane thread: enters the cell of a slot and keeps the clocks of its calls. All state of the turns is
 * here: the cell itself, the calls that wait in it, the meter, the queue and the mail. When a cell becomes unusable,
 * the slot is told, which replaces it (cell-slot.ts). Calls outlive the cell only long enough to be answered.
 */
import type { StepStatus } from "../../../transport/call-frames.ts";
import type { LaneStatus } from "../../../transport/lane-status.ts";
import type { Step } from "../../../protocol/messages/host-lane.ts";
import { LIMITS, turnMs } from "../../../protocol/limits.ts";
import { callNumber, causeOf, ENTRY, INVOKED, readMail } from "../../../protocol/messages/mail.ts";
import type { MailItem } from "../../../protocol/messages/mail.ts";
import { answered, boundedError, errorJson, messageOf, resultOf } from "../answer.ts";
import type { Answer } from "../answer.ts";
import type { TurnQueue } from "../queued-turns.ts";
import { Calls, NEW_CALL, outOfCpu, overrun, UNUSABLE } from "./calls.ts";
import type { Caller, Entry, PendingCall } from "./calls.ts";
import type { Cell, CellSpec, LaterTurn, Mail, TurnEnd } from "./cell.ts";
import { MailRouter } from "./mail-router.ts";
import type { MailTurns } from "./mail-router.ts";
import type { SlotLane } from "./slot-lane.ts";
import { TurnMeter } from "./turn-meter.ts";

/** `admitting`: as `ready`, but calls that came while the plugin was loading go first. */
export type SlotState = "loading" | "admitting" | "ready" | "failed" | "gone";

/** What the turns need of their slot. */
export interface TurnSlot {
  state(): SlotState;
  /** The plugin has finished loading, or failed to. */
  loaded(isDone: boolean, text: string): void;
  /** The cell cannot be used any more; the culprit, if a call is one, gets this status. `run`: the cause of the turn; 0: none is known. */
  replace(status: StepStatus, why: string, culprit: PendingCall | undefined, run: number): void;
}

export class CellTurns implements MailTurns {
  readonly spec: CellSpec;
  readonly status: LaneStatus;
  readonly calls = new Calls();
  readonly meter: TurnMeter;
  readonly queue: TurnQueue;
  readonly mail: MailRouter;
  readonly #lane: SlotLane;
  readonly #slot: TurnSlot;
  /** Undefined while there is none: before the first is built, and between one and its replacement. */
  cell: Cell | undefined;
  /** The cell was entered since its mail was last read. */
  mayHaveMail = false;
  /** CPU budget of the last call. What the plugin does after its answer may take as much. */
  cpuMs: number = LIMITS.call.cpuMs;

  constructor(spec: CellSpec, lane: SlotLane, slot: TurnSlot) {
    this.spec = spec;
    this.status = lane.status;
    this.#lane = lane;
    this.#slot = slot;
    this.meter = new TurnMeter(spec.cell, lane.events);
    // While the plugin loads, its timers and responses are part of loading it.
    this.queue = lane.turns.queue((call) => slot.state() === "loading" || this.calls.get(call) !== undefined);
    this.mail = new MailRouter(spec, lane, this);
  }

  /** Enters the cell for a call. Undefined: the answer comes through the caller's `settle`. */
  call(caller: Caller, at: number, step: Step, event: string, context: string, entry: Entry): Answer | undefined {
    const { limits } = this.spec;
    if (this.calls.size >= limits.pendingCalls) return answered("failed", errorJson("ERR_CALL_PENDING", { limit: limits.pendingCalls }));
    const chars = event.length + context.length;
    if (chars * 3 > limits.bytesIn) {
      const bytes = Buffer.byteLength(event) + Buffer.byteLength(context);
      if (bytes > limits.bytesIn) return answered("failed", errorJson("ERR_CALL_EVENT_SIZE", { bytes, limit: limits.bytesIn }));
    }
    const { meter } = this;
    const [, handler, wallMs, cpuMs, bytesOut] = step;
    this.cpuMs = cpuMs;
    const number = callNumber(caller.cause, handler);
    const timeoutMs = Math.min(wallMs, this.turnMs(cpuMs));
    this.cell!.budgetMs = this.#budgetMs(cpuMs);
    meter.begin();
    this.status.attribute(caller.run, at);
    const end = this.#dispatch(number, event, context, timeoutMs, entry);
    const cpuUs = meter.end();
    const { tookMs } = meter;
    this.mayHaveMail = true;
    // The turn ended before V8 was told to stop it, but it used up its CPU budget.
    if (cpuUs > cpuMs * 1000 && isAnswer(end)) return { status: "cpu", wallMs: tookMs, cpuUs, body: outOfCpu(cpuMs) };
    switch (end.end) {
      case "nothing":
        return { status: "ok", wallMs: tookMs, cpuUs, body: "" };
      case "result":
        return resultOf(end.text, tookMs, cpuUs, bytesOut);
      case "error":
        return { status: "failed", wallMs: tookMs, cpuUs, body: boundedError(end.text) };
      default:
        return this.#await({ number, caller, at, step, startedMs: meter.startedMs, cpuUs, ...NEW_CALL, isStarting: true }, end);
    }
  }

  /** How long isolated-vm lets a turn run. If its CPU time is watched from outside, it is stopped earlier. */
  turnMs(cpuMs: number): number {
    const { isSteady, cpuPressure } = this.status;
    return turnMs(cpuMs, isSteady && this.#lane.stopper.guards(this.spec.cell) ? LIMITS.call.backstopPressure : cpuPressure);
  }

  /** Calls a function that the plugin handed out. The host does not wait for it; a failure is logged. */
  invoke(handle: number, cause: number, argument: string): void {
    if (!this.#isUp) return this.mail.log(2, cause, "a function of the plugin's was not called: its cell was replaced meanwhile");
    const number = callNumber(cause, INVOKED);
    // At once, like a call: the host may start a run right after it that relies on its effect.
    this.enterLater(number, [ENTRY.invoke, number, handle, argument]);
  }

  /** The caller no longer wants its answers. The work stops; the plugin's state stays. */
  abandon(caller: Caller): void {
    for (const call of this.calls.all()) if (call.caller === caller) this.#giveUp(call);
  }

  /** The last turn left mail before it returned. */
  get hasMail(): boolean {
    return this.mayHaveMail && this.cell?.hasMail === true;
  }

  sweep(): void {
    if (this.mayHaveMail && this.#isUp) this.fetchMail();
  }

  loaded(isDone: boolean, text: string): void {
    this.#slot.loaded(isDone, text);
  }

  chargeService(us: number): void {
    if (this.#slot.state() !== "gone") this.meter.charge(us);
  }

  /**
   * Enters the cell for an earlier call, or for none: a timer, a response, an invoked function. Charged to the call if
   * it is still pending.
   */
  enterLater(number: number, turn: LaterTurn): void {
    if (!this.cell) return;
    const { meter } = this;
    // Answers that are ready must not wait for this turn, nor be lost if it brings the thread down.
    if (!meter.isQuick) this.#lane.events.flush();
    const owner = this.calls.get(number);
    const cpuMs = owner?.step[3] ?? this.cpuMs;
    meter.begin(owner === undefined);
    const leftMs = owner ? Math.max(1, owner.step[2] - (performance.now() - owner.startedMs)) : Infinity;
    const timeoutMs = Math.min(this.turnMs(cpuMs), leftMs);
    this.cell.budgetMs = this.#budgetMs(Math.max(1, cpuMs - (owner?.cpuUs ?? 0) / 1000));
    if (owner) this.status.attribute(owner.caller.run, owner.at);
    const end = this.cell.enterLater(turn, timeoutMs);
    const cpuUs = meter.end(owner !== undefined);
    if (!owner) return meter.measure(() => this.afterTurn(end, cpuMs, cpuUs, undefined, number), false);
    owner.cpuUs += cpuUs;
    this.afterTurn(end, cpuMs, owner.cpuUs, owner, number);
    if (this.calls.get(owner.number) && owner.cpuUs > cpuMs * 1000) this.replace("cpu", outOfCpu(cpuMs), owner);
  }

  /**
   * The turn gave no answer: reads the mail, or replaces the cell. `spentUs` is CPU time of the turn, or of its call so
   * far.
   */
  afterTurn(end: TurnEnd, cpuMs: number, spentUs: number, owner?: PendingCall, number = owner?.number ?? 0): void {
    switch (end.end) {
      case "cpu":
        return this.replace("cpu", outOfCpu(cpuMs), owner, number);
      case "timeout":
        return this.replace(...overrun(cpuMs, spentUs, owner), owner, number);
      case "memory":
        return this.replace("memory", errorJson("ERR_CALL_MEMORY", { mb: this.spec.limits.heapMb }), owner, number);
      case "broken":
        return this.replace("crashed", errorJson("ERR_CALL_REPLACED", { detail: end.detail }), owner, number);
      case "rejection":
        this.rejected(end.detail, number);
        return this.#readMail(this.cell!.drainMail());
      case "error":
        // The error of a handler is its call's answer and does not get here.
        this.mail.logUnawaited(number, end.text);
        return this.fetchMail();
      default:
        return this.fetchMail();
    }
  }

  rejected(detail: string, number: number): void {
    this.mail.log(3, causeOf(number), `unhandled rejection: ${detail}`);
  }

  fetchMail(): void {
    this.#readMail(this.cell!.mail());
  }

  replace(status: StepStatus, why: string, culprit?: PendingCall, number = culprit?.number ?? 0): void {
    this.#slot.replace(status, why, culprit, causeOf(number));
  }

  /** The turn of this call is over without an answer: its wall clock starts. */
  await(call: PendingCall): void {
    this.calls.await(call, this.#outOfTime);
  }

  /** Takes the cell away. Its timers and requests stop; of its mail only the log lines count. */
  release(): void {
    const cell = this.cell!;
    this.cell = undefined;
    this.mayHaveMail = false;
    this.#stop();
    this.mail.deliverLog(cell.drainMail());
    this.#lane.stopper.remove(this.spec.cell);
    cell.dispose();
  }

  /** Answers the calls that waited in a cell that was replaced, the culprit first. */
  settleReplaced(status: StepStatus, why: string, culprit: PendingCall | undefined): void {
    if (culprit && this.calls.get(culprit.number)) this.calls.settle(culprit, status, why);
    this.#crash(messageOf(why));
  }

  dispose(): void {
    this.#stop();
    this.#lane.stopper.remove(this.spec.cell);
    this.cell?.dispose();
    this.cell = undefined;
    this.#crash("the plugin was removed");
  }

  /**
   * The CPU time at which the stall detector may have the turn stopped. Without a stopper nobody would do it, and the host would take a
   * plain loop for one that V8 cannot stop.
   */
  #budgetMs(cpuMs: number): number {
    return this.#lane.stopper.guards(this.spec.cell) ? cpuMs : Infinity;
  }

  get #isUp(): boolean {
    const state = this.#slot.state();
    return state === "ready" || state === "admitting";
  }

  #dispatch(number: number, event: string, context: string, timeoutMs: number, entry: Entry): TurnEnd {
    if (entry.as === "result") return this.cell!.dispatch(number, event, context, timeoutMs);
    if (entry.as === "observer") return this.cell!.observe(number, event, context, timeoutMs);
    return this.cell!.dispatchSync(number, event, context, timeoutMs, entry.echo);
  }

  /** The handler did not answer at once. Its answer may be in the mail already. */
  #await(call: PendingCall, end: TurnEnd): Answer | undefined {
    const [, , , cpuMs] = call.step;
    this.calls.add(call);
    this.afterTurn(end, cpuMs, call.cpuUs, call);
    if (!call.early && call.cpuUs > cpuMs * 1000) this.replace("cpu", outOfCpu(cpuMs), call);
    call.isStarting = false;
    if (call.early) return call.early;
    this.await(call);
    return undefined;
  }

  readonly #outOfTime = (call: PendingCall): void => {
    this.#giveUp(call);
    this.calls.settle(call, "timeout", errorJson("ERR_CALL_TIMEOUT", { ms: call.step[2] }));
  };

  /** Stops what the call has started inside the cell. */
  #giveUp(call: PendingCall): void {
    this.calls.forget(call);
    if (!this.#isUp) return;
    if (!this.cell!.abandon(call.number)) return this.replace("crashed", UNUSABLE, undefined, call.number);
    this.fetchMail();
  }

  #readMail({ isFine, text }: Mail): void {
    this.mayHaveMail = false;
    if (!isFine && this.status.isStopped(this.spec.cell)) return this.replace("cpu", outOfCpu(this.cpuMs));
    if (!isFine) return this.replace("memory", errorJson("ERR_CALL_MEMORY", { mb: this.spec.limits.heapMb }));
    if (text === undefined) return;
    if (text.length > LIMITS.lane.mailMeasuredChars) return this.meter.measure(() => this.#deliverAll(text));
    this.#deliverAll(text);
  }

  #deliverAll(text: string): void {
    let items: MailItem[];
    try {
      items = readMail(text);
    } catch {
      return this.replace("crashed", UNUSABLE);
    }
    for (const item of items) this.mail.deliver(item);
  }

  #crash(detail: string): void {
    for (const call of this.calls.all()) this.calls.settle(call, "crashed", errorJson("ERR_CALL_REPLACED", { detail }));
  }

  #stop(): void {
    this.mail.stop();
    this.queue.clear();
  }
}

function isAnswer({ end }: TurnEnd): boolean {
  return end === "nothing" || end === "result" || end === "error";
}
