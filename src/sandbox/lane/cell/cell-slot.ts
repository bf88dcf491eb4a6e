/**
 * Untrusted side, lane thread: a plugin's slot in a lane, as a state machine. It builds the plugin's cell, loads the
 * plugin, and replaces the cell when it has become unusable. Cells come and go; the slot, its callers and its counters
 * stay.
 */
import type { StepStatus } from "../../../transport/call-frames.ts";
import type { Step } from "../../../protocol/messages/host-lane.ts";
import { LIMITS, turnMs } from "../../../protocol/limits.ts";
import { fitsBytes } from "../../../transport/frames.ts";
import { answered, boundedError, errorJson, messageOf } from "../answer.ts";
import type { Answer } from "../answer.ts";
import type { Caller, Entry, PendingCall } from "./calls.ts";
import { CallsWhileLoading } from "./calls-while-loading.ts";
import { Cell } from "./cell.ts";
import type { CellSpec } from "./cell.ts";
import { CellTurns } from "./cell-turns.ts";
import type { SlotState } from "./cell-turns.ts";
import type { Slot, SlotLane } from "./slot-lane.ts";

export class CellSlot implements Slot {
  readonly #spec: CellSpec;
  readonly #lane: SlotLane;
  readonly #turns: CellTurns;
  readonly #waiting = new CallsWhileLoading();
  #state: SlotState = "loading";
  /** Why calls fail while the state is `failed` or `gone`. */
  #failure = "";
  #loadDeadline: NodeJS.Timeout | undefined;
  #loadStartedMs = 0;
  #heapMeasuredMs = Number.NEGATIVE_INFINITY;

  constructor(spec: CellSpec, lane: SlotLane) {
    this.#spec = spec;
    this.#lane = lane;
    this.#turns = new CellTurns(spec, lane, {
      state: () => this.#state,
      loaded: (isDone, text) => this.#loaded(isDone, text),
      replace: (status, why, culprit, run) => this.#replace(status, why, culprit, run),
    });
  }

  /** While a slot is paused, only turns of pending calls run. Other timers and responses wait until it is resumed. */
  setPaused(isPaused: boolean): void {
    this.#turns.queue.setPaused(isPaused);
  }

  /** Builds the cell and loads the plugin; the event `opened` follows, at once or later. */
  load(): void {
    if (this.#state === "gone") return;
    this.#state = "loading";
    this.#turns.meter.isQuick = false;
    this.#loadStartedMs = performance.now();
    // Writes of the previous cell are on their way to the host, and this request is sent behind them.
    if (this.#spec.hasVolume) this.#lane.events.volume(this.#spec.cell);
    else this.#build();
  }

  /** The host sends the files of the plugin's volume, or says why it cannot. */
  provideFiles(isOk: boolean, text: string): void {
    if (this.#state !== "loading" || this.#turns.cell) return;
    if (isOk) return this.#build(text);
    this.#failure = errorJson("ERR_CALL_NOT_LOADED", { detail: messageOf(text) });
    this.#state = "failed";
    this.#opened(false, text);
  }

  /** Enters the cell. Undefined: the answer comes through the caller's `settle`. */
  call(caller: Caller, at: number, step: Step, event: string, context: string, entry: Entry): Answer | undefined {
    if (this.#state === "ready") return this.#turns.call(caller, at, step, event, context, entry);
    if (this.#state !== "loading" && this.#state !== "admitting") return answered("failed", this.#failure);
    this.#waiting.add({ caller, at, step, event, context, entry });
    return undefined;
  }

  chargeSince(startedMs: number): void {
    this.#turns.meter.chargeSince(startedMs);
  }

  invoke(handle: number, cause: number, argument: string): void {
    this.#turns.invoke(handle, cause, argument);
  }

  respond(request: number, isOk: boolean, text: string): void {
    this.#turns.mail.respond(request, isOk, text);
  }

  /** The caller no longer wants its answers. The work stops; the plugin's state stays. */
  abandon(caller: Caller): void {
    this.#turns.abandon(caller);
    this.#waiting.abandon(caller);
  }

  /** Memory of the cell; undefined: there is none, or it was measured less than a second ago. */
  heapBytes(): number | undefined {
    const nowMs = performance.now();
    if (nowMs - this.#heapMeasuredMs < LIMITS.report.heapMs) return undefined;
    this.#heapMeasuredMs = nowMs;
    return this.#turns.cell?.heapBytes();
  }

  get isQuick(): boolean {
    return this.#turns.meter.isQuick;
  }

  get mayHaveMail(): boolean {
    return this.#turns.mayHaveMail;
  }

  get hasMail(): boolean {
    return this.#turns.hasMail;
  }

  /** Reads the mail that the last turns left. */
  sweep(): void {
    this.#turns.sweep();
  }

  dispose(): void {
    this.#state = "gone";
    this.#failure = errorJson("ERR_CALL_NOT_LOADED", { detail: "it was removed" });
    clearTimeout(this.#loadDeadline);
    this.#turns.dispose();
    this.#failWaiting();
  }

  #build(volume?: string): void {
    const turns = this.#turns;
    const timeoutMs = turnMs(LIMITS.call.loadCpuMs, this.#lane.status.cpuPressure);
    const empty = this.#lane.prewarm.take(this.#spec.limits.heapMb);
    turns.cell = new Cell(this.#lane.guest, this.#spec, this.#lane.status, empty);
    const end = turns.cell.load(timeoutMs, volume);
    if (!turns.cell.isGone) turns.cell.guardBy(this.#lane.stopper);
    turns.mayHaveMail = true;
    if (end.end === "result") return this.#loaded(true, end.text);
    if (end.end === "error") return this.#loaded(false, end.text);
    if (end.end === "broken") return this.#loaded(false, errorJson("ERR_PLUGIN_SYNTAX", { detail: end.detail }));
    this.#loadDeadline = setTimeout(
      () => this.#loaded(false, errorJson("ERR_CALL_TIMEOUT", { ms: LIMITS.call.loadWallMs })),
      LIMITS.call.loadWallMs,
    );
    turns.afterTurn(end, LIMITS.call.loadCpuMs, LIMITS.call.loadCpuMs * 1000);
  }

  #loaded(isDone: boolean, said: string): void {
    if (this.#state !== "loading" || !this.#turns.cell) return;
    const isOk = isDone && fitsBytes(said, LIMITS.call.eventBytes);
    clearTimeout(this.#loadDeadline);
    if (isOk) {
      this.#state = "admitting";
      return this.#opened(true, said);
    }
    const text = isDone ? errorJson("ERR_PLUGIN_REGISTRATION", { field: "(whole value)", detail: TOO_LONG }) : boundedError(said);
    this.#state = "failed";
    this.#failure = errorJson("ERR_CALL_NOT_LOADED", { detail: messageOf(text) });
    this.#turns.release();
    this.#opened(false, text);
  }

  #opened(isOk: boolean, text: string): void {
    this.#lane.events.opened(this.#spec.cell, isOk, performance.now() - this.#loadStartedMs, text);
    this.sweep();
    if (this.#state === "admitting") this.#admit();
    else if (this.#state === "failed") this.#failWaiting();
  }

  /**
   * Makes the calls that came while the plugin was loading, in their order, over as many turns of the loop as they
   * need.
   */
  #admit(): void {
    for (let calls = 1; this.#state === "admitting"; calls++) {
      const next = this.#waiting.next();
      if (!next) {
        this.#state = "ready";
        return;
      }
      const { caller, at, step, event, context, entry } = next;
      const answer = this.#turns.call(caller, at, step, event, context, entry);
      if (answer) caller.settle(at, answer);
      const mustWait = this.#lane.events.wasLong() || calls === LIMITS.lane.callsAtOnce;
      if (mustWait) return this.#turns.queue.add({ call: undefined, run: () => this.#admit() });
    }
  }

  #failWaiting(): void {
    for (const { caller, at } of this.#waiting.takeAll()) caller.settle(at, answered("failed", this.#failure));
  }

  /** The cell cannot be used any more: builds another, and answers what was pending in this one. */
  #replace(status: StepStatus, why: string, culprit: PendingCall | undefined, run: number): void {
    if (this.#state === "loading") return this.#loaded(false, why);
    this.#state = "loading";
    this.#turns.release();
    this.#lane.events.fault(this.#spec.cell, run, why);
    // Later: a call that comes while these are answered waits for the new cell.
    setImmediate(() => this.load());
    this.#turns.settleReplaced(status, why, culprit);
  }
}

const TOO_LONG = `it takes more than ${LIMITS.call.eventBytes} bytes`;
