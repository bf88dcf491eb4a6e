/**
 * Untrusted side, lane thread: the slot of a plugin that is inspected. It does what cell-slot.ts and cell-turns.ts do,
 * one asynchronous entry after the other, and without clocks: while a developer looks at a breakpoint, nothing runs
 * out. The plugin is loaded when the host says so, so that breakpoints are set before its first line runs.
 */
import type { StepStatus } from "../../../transport/call-frames.ts";
import { fitsBytes } from "../../../transport/frames.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import type { Inspect, Step } from "../../../protocol/messages/host-lane.ts";
import { callNumber, causeOf, ENTRY, INVOKED, readMail } from "../../../protocol/messages/mail.ts";
import { answered, boundedError, errorJson, messageOf, resultOf } from "../answer.ts";
import type { Answer } from "../answer.ts";
import type { TurnQueue } from "../queued-turns.ts";
import { Calls, NEW_CALL } from "./calls.ts";
import type { Caller, Entry, PendingCall } from "./calls.ts";
import type { WaitingCall } from "./calls-while-loading.ts";
import type { CellSpec, LaterTurn, TurnEnd } from "./cell.ts";
import type { SlotState } from "./cell-turns.ts";
import { DebugCell, TERMINATED } from "./debug-cell.ts";
import { MailRouter } from "./mail-router.ts";
import type { MailTurns } from "./mail-router.ts";
import type { Slot, SlotLane } from "./slot-lane.ts";

export class DebugSlot implements Slot, MailTurns {
  readonly calls = new Calls();
  readonly queue: TurnQueue;
  // Mail is read after every turn.
  readonly isQuick = false;
  readonly mayHaveMail = false;
  readonly hasMail = false;
  readonly #spec: CellSpec;
  readonly #lane: SlotLane;
  readonly #mail: MailRouter;
  #state: SlotState = "loading";
  #failure = "";
  #cell: DebugCell | undefined;
  #volume: string | undefined;
  #loadStartedMs = 0;
  #waiting: WaitingCall[] = [];
  /** The entry under way, and those behind it. */
  #entries: Promise<void> = Promise.resolve();
  #underWay = 0;
  /** Of the cells that were replaced or removed. */
  #disposed: Promise<unknown> = Promise.resolve();

  constructor(spec: CellSpec, lane: SlotLane) {
    this.#spec = spec;
    this.#lane = lane;
    this.queue = lane.turns.queue((call) => this.#state === "loading" || this.calls.get(call) !== undefined);
    this.#mail = new MailRouter(spec, lane, this);
  }

  get isEntered(): boolean {
    return this.#underWay > 0;
  }

  load(): void {
    this.#state = "loading";
    if (this.#spec.hasVolume) this.#lane.events.volume(this.#spec.cell);
    else this.#build(undefined);
  }

  provideFiles(isOk: boolean, text: string): void {
    if (this.#state !== "loading" || this.#cell) return;
    if (isOk) this.#build(text);
    else this.loaded(false, text);
  }

  /** A message of the debugger's. */
  debug(message: string): void {
    this.#cell?.debug(message);
  }

  inspect(action: Inspect["action"]): void {
    const cell = this.#cell;
    if (action === "attach") cell?.attach((message) => this.#lane.events.cdp(this.#spec.cell, message));
    else if (action === "detach") cell?.detach();
    else if (this.#loadStartedMs === 0) {
      this.#loadStartedMs = performance.now();
      this.#enqueue((current) => this.#load(current));
    }
  }

  call(caller: Caller, at: number, step: Step, event: string, context: string, entry: Entry): Answer | undefined {
    if (this.#state === "failed" || this.#state === "gone") return answered("failed", this.#failure);
    this.#waiting.push({ caller, at, step, event, context, entry });
    if (this.#state === "ready") this.#admit();
    return undefined;
  }

  // A debugged cell has its process to itself.
  chargeSince(): void {}

  invoke(handle: number, cause: number, argument: string): void {
    const number = callNumber(cause, INVOKED);
    this.enterLater(number, [ENTRY.invoke, number, handle, argument]);
  }

  respond(request: number, isOk: boolean, text: string): void {
    this.#mail.respond(request, isOk, text);
  }

  setPaused(isPaused: boolean): void {
    this.queue.setPaused(isPaused);
  }

  abandon(caller: Caller): void {
    this.#waiting = this.#waiting.filter((call) => call.caller !== caller);
    for (const call of this.calls.all()) {
      if (call.caller !== caller) continue;
      this.calls.forget(call);
      this.#enqueue((cell) => cell.abandon(call.number));
    }
  }

  sweep(): void {}

  async dispose(): Promise<void> {
    this.#fail("gone", errorJson("ERR_CALL_NOT_LOADED", { detail: "it was removed" }));
    this.#crash("the plugin was removed");
    await this.#disposed;
  }

  enterLater(number: number, turn: LaterTurn): void {
    this.#enqueue(async (cell) => {
      const before = cell.cpuUs;
      const end = await cell.enterLater(turn);
      const owner = this.calls.get(number);
      if (owner && this.#cell === cell) owner.cpuUs += since(cell, before);
      if (end.end === "error") this.#mail.logUnawaited(number, end.text);
      await this.#after(cell, end, number, owner);
    });
  }

  /** The plugin has finished loading, or failed to. */
  loaded(isDone: boolean, said: string): void {
    if (this.#state !== "loading") return;
    const isOk = isDone && fitsBytes(said, LIMITS.call.eventBytes);
    const text = isOk ? said : isDone ? TOO_LONG : boundedError(said);
    if (isOk) this.#state = "ready";
    else this.#fail("failed", errorJson("ERR_CALL_NOT_LOADED", { detail: messageOf(text) }));
    this.#lane.events.opened(this.#spec.cell, isOk, performance.now() - this.#loadStartedMs, text);
    this.#admit();
  }

  /** No budget but memory holds. */
  chargeService(): void {}

  #build(volume: string | undefined): void {
    this.#volume = volume;
    this.#loadStartedMs = 0;
    void DebugCell.make(this.#lane.guest, this.#spec).then(
      (cell) => this.#made(cell),
      (error: Error) => this.loaded(false, errorJson("ERR_PLUGIN_SYNTAX", { detail: error.message })),
    );
  }

  #made(cell: DebugCell): void {
    if (this.#state === "loading") {
      this.#cell = cell;
      this.#lane.events.inspectable(this.#spec.cell);
    } else void cell.dispose();
  }

  async #load(cell: DebugCell): Promise<void> {
    const end = await cell.load(this.#volume);
    await this.#after(cell, end, 0, undefined);
    if (this.#cell !== cell) return;
    if (end.end === "result" || end.end === "error") this.loaded(end.end === "result", end.text);
    if (end.end === "broken") this.loaded(false, errorJson("ERR_PLUGIN_SYNTAX", { detail: end.detail }));
  }

  #admit(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const call of waiting) {
      if (this.#state === "ready") this.#enqueue((cell) => this.#call(cell, call));
      else call.caller.settle(call.at, answered("failed", this.#failure));
    }
  }

  async #call(cell: DebugCell, { caller, at, step, event, context, entry }: WaitingCall): Promise<void> {
    const number = callNumber(caller.cause, step[1]);
    const call: PendingCall = { number, caller, at, step, startedMs: performance.now(), cpuUs: 0, ...NEW_CALL };
    this.calls.add(call);
    const before = cell.cpuUs;
    const end = await cell.call(entry, number, event, context);
    if (this.#cell === cell) call.cpuUs += since(cell, before);
    await this.#after(cell, end, number, call);
    if (this.calls.get(number) !== call) return;
    if (end.end === "nothing") this.calls.settle(call, "ok", "");
    if (end.end === "error") this.calls.settle(call, "failed", boundedError(end.text));
    if (end.end === "result") {
      const { status, body } = resultOf(end.text, 0, 0, step[4]);
      this.calls.settle(call, status, body);
    }
  }

  /** Reads the mail that a turn left, or replaces the cell. */
  async #after(cell: DebugCell, end: TurnEnd, number: number, culprit: PendingCall | undefined): Promise<void> {
    if (this.#cell !== cell) return;
    if (end.end === "memory") return this.#replace(culprit);
    if (end.end === "timeout") return this.#replace(culprit, "crashed", end.detail);
    if (end.end === "rejection") this.#mail.log(3, causeOf(number), `unhandled rejection: ${end.detail}`);
    const { isFine, text } = await cell.mail(end.end === "rejection");
    if (this.#cell !== cell) return;
    if (!isFine) return cell.isTerminated ? this.#replace(culprit, "crashed", TERMINATED) : this.#replace(culprit);
    if (text === undefined) return;
    try {
      for (const item of readMail(text)) this.#mail.deliver(item);
    } catch {
      this.#replace(culprit, "crashed");
    }
  }

  /** One entry at a time. One that belongs to a cell that is gone is dropped. */
  #enqueue(enter: (cell: DebugCell) => Promise<void>): void {
    const cell = this.#cell;
    if (!cell) return;
    this.#underWay += 1;
    this.#entries = this.#entries.then(() => (this.#cell === cell ? enter(cell) : undefined)).finally(() => (this.#underWay -= 1));
  }

  #replace(culprit: PendingCall | undefined, status: StepStatus = "memory", detail = "its bootstrap did not answer"): void {
    const why =
      status === "memory" ? errorJson("ERR_CALL_MEMORY", { mb: this.#spec.limits.heapMb }) : errorJson("ERR_CALL_REPLACED", { detail });
    if (this.#state === "loading") return this.loaded(false, why);
    this.#release();
    this.#lane.events.fault(this.#spec.cell, culprit ? causeOf(culprit.number) : 0, why);
    if (culprit && this.calls.get(culprit.number) === culprit) this.calls.settle(culprit, status, why);
    this.#crash(messageOf(why));
    this.load();
  }

  #fail(state: "failed" | "gone", why: string): void {
    this.#state = state;
    this.#failure = why;
    this.#release();
    if (state === "gone") this.#admit();
  }

  #release(): void {
    const cell = this.#cell;
    this.#cell = undefined;
    this.#mail.stop();
    this.queue.clear();
    if (cell) this.#disposed = Promise.all([this.#disposed, cell.dispose()]);
  }

  #crash(detail: string): void {
    for (const call of this.calls.all()) this.calls.settle(call, "crashed", errorJson("ERR_CALL_REPLACED", { detail }));
  }
}

/** An isolate that is gone does not say what it has used. */
const since = (cell: DebugCell, before: number): number => Math.max(0, cell.cpuUs - before);

const TOO_LONG = errorJson("ERR_PLUGIN_REGISTRATION", {
  field: "(whole value)",
  detail: `it takes more than ${LIMITS.call.eventBytes} bytes`,
});
