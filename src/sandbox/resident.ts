/**
 * Untrusted side, lane thread: a plugin's place in a lane. It enters the plugin's cell, keeps the clocks of its calls and
 * timers, reads its mail, and replaces the cell when it has become unusable. The cell may change; calls, timers and those
 * who wait belong to the place.
 */
import type { Gauge } from "../protocol/gauge.ts";
import type { HotRun, StepStatus } from "../protocol/hot.ts";
import type { Step } from "../protocol/messages.ts";
import { LIMITS, turnMs } from "../protocol/limits.ts";
import { LOG_LEVELS_ORDER } from "./guest/log-levels.ts";
import { callNumber, causeOf, handlerOf, INVOKED, MAIL, readMail } from "../protocol/mail.ts";
import type { MailItem } from "../protocol/mail.ts";
import { answered, errorJson, messageOf } from "./answer.ts";
import type { Answer } from "./answer.ts";
import { Calls, outOfCpu, overrun } from "./calls.ts";
import type { Caller, PendingCall } from "./calls.ts";
import { Cell } from "./cell.ts";
import type { CellSpec, GuestCode, Mail, TurnEnd } from "./cell.ts";
import { turnCpuUs } from "./cpu.ts";
import { Errands } from "./errands.ts";
import type { Nursery } from "./nursery.ts";
import { SUBTLE } from "../protocol/subtle.ts";
import { readShared, shareOf } from "./shared-turn.ts";
import type { SharedTurn } from "./shared-turn.ts";
import { SubtleDesk } from "./subtle.ts";
import { WaitingRoom } from "./waiting-room.ts";

/** How a handler is entered: its result counts, or nobody reads it, or it may not wait (and then `echo`, see HookDefinition). */
export type Entry = { readonly as: "result" } | { readonly as: "observer" } | { readonly as: "sync"; readonly echo: string | undefined };

export interface ResidentEvents {
  opened(resident: Resident, isOk: boolean, loadMs: number, body: string): void;
  log(resident: Resident, level: string, run: number, text: string): void;
  ask(resident: Resident, ask: number, run: number, service: string, args: string): void;
  fault(resident: Resident, why: string): void;
  /** It cannot be loaded before it has been told what is in its volume now. */
  volume(resident: Resident): void;
  /** It has taken so much CPU time since it last said so. */
  spent(resident: Resident, us: number): void;
}

export class Resident {
  readonly id: number;
  readonly #spec: CellSpec;
  readonly #guest: GuestCode;
  readonly #nursery: Nursery;
  readonly #events: ResidentEvents;
  readonly #calls = new Calls();
  readonly #gauge: Gauge;
  readonly #errands = new Errands();
  readonly #subtle = new SubtleDesk();
  readonly #waiting = new WaitingRoom();
  #cell: Cell | undefined;
  #state: "loading" | "ready" | "failed" | "gone" = "loading";
  #failure = "";
  #loadDeadline: NodeJS.Timeout | undefined;
  #loadStartedMs = 0;
  #isDirty = false;
  /** Of its last call: what it does afterwards may take as much. */
  #cpuMs: number = LIMITS.cpuMs;
  /** CPU time that was not reported yet. */
  #spentUs = 0;
  /** Its last turn was short. Of one that was not, or has not been seen at work yet, anything must be expected. */
  isQuick = false;
  /** How many turns in a row were quick, answered at once and left nothing behind. */
  #plain = 0;

  constructor(spec: CellSpec, guest: GuestCode, nursery: Nursery, gauge: Gauge, events: ResidentEvents) {
    this.id = spec.cell;
    this.#gauge = gauge;
    this.#spec = spec;
    this.#guest = guest;
    this.#nursery = nursery;
    this.#events = events;
  }

  /** Builds the cell and loads the plugin; `opened` follows, at once or later. */
  load(): void {
    if (this.#state === "gone") return;
    this.#state = "loading";
    this.isQuick = false;
    this.#loadStartedMs = performance.now();
    // What the cell before it had written is on its way to the host: the question goes behind it.
    if (this.#spec.hasVolume) this.#events.volume(this);
    else this.#build();
  }

  /** The host says what is in the volume, or why that cannot be said. */
  furnish(isOk: boolean, text: string): void {
    if (this.#state !== "loading" || this.#cell) return;
    if (isOk) return this.#build(text);
    this.#failure = errorJson("ERR_CALL_NOT_LOADED", { detail: messageOf(text) });
    this.#state = "failed";
    this.#opened(false, text);
  }

  #build(volume?: string): void {
    const timeoutMs = turnMs(LIMITS.loadCpuMs, this.#gauge.crowd);
    this.#cell = new Cell(this.#guest, this.#spec, this.#gauge, this.#nursery.take(this.#spec.limits.heapMb));
    const end = this.#cell.load(timeoutMs, volume);
    this.#isDirty = true;
    if (end.end === "result") return this.#loaded(true, end.text);
    if (end.end === "error") return this.#loaded(false, end.text);
    if (end.end === "broken") return this.#loaded(false, errorJson("ERR_PLUGIN_SYNTAX", { detail: end.detail }));
    this.#loadDeadline = setTimeout(() => this.#loaded(false, errorJson("ERR_CALL_TIMEOUT", { ms: LIMITS.loadWallMs })), LIMITS.loadWallMs);
    this.#afterTurn(end, LIMITS.loadCpuMs, LIMITS.loadCpuMs * 1000);
  }

  /** Enters the cell. Undefined: the answer will come through the caller's `settle`. */
  call(caller: Caller, at: number, step: Step, event: string, context: string, entry: Entry): Answer | undefined {
    if (this.#state === "loading") {
      this.#waiting.add({ caller, at, step, event, context, entry });
      return undefined;
    }
    if (this.#state !== "ready") return answered("failed", this.#failure);
    const { limits } = this.#spec;
    if (this.#calls.size >= limits.pendingCalls) return answered("failed", errorJson("ERR_CALL_PENDING", { limit: limits.pendingCalls }));
    const bytes = event.length + context.length;
    if (bytes > limits.bytesIn) return answered("failed", errorJson("ERR_CALL_EVENT_SIZE", { bytes, limit: limits.bytesIn }));
    const [, handler, wallMs, cpuMs] = step;
    this.#cpuMs = cpuMs;
    const number = callNumber(caller.cause, handler);
    const timeoutMs = Math.min(wallMs, turnMs(cpuMs, this.#gauge.crowd));
    const startedMs = performance.now();
    this.#gauge.attribute(caller.run, at);
    const end = this.#dispatch(number, event, context, timeoutMs, entry);
    const tookMs = performance.now() - startedMs;
    const cpuUs = turnCpuUs(tookMs);
    this.#charge(cpuUs);
    this.#isDirty = true;
    this.isQuick = tookMs < LIMITS.quickTurnMs;
    this.#plain = this.isQuick ? this.#plain + 1 : 0;
    // It ended by itself before V8 was told to stop it; its budget was over all the same.
    if (cpuUs > cpuMs * 1000 && isAnswer(end)) return { status: "cpu", wallMs: tookMs, cpuUs, body: outOfCpu(cpuMs) };
    switch (end.end) {
      case "nothing":
        return { status: "ok", wallMs: tookMs, cpuUs, body: "" };
      case "result":
        return { status: "ok", wallMs: tookMs, cpuUs, body: end.text };
      case "error":
        return { status: "failed", wallMs: tookMs, cpuUs, body: end.text };
      default:
        return this.#await({ number, caller, at, step, startedMs, cpuUs, ...NEW_CALL, isStarting: true }, end);
    }
  }

  /** May calls share a turn? What they leave behind cannot be told apart then, nor what each of them takes, but for the last. */
  get sharesTurns(): boolean {
    return this.#plain >= LIMITS.plainTurns && this.#state === "ready" && this.#calls.size === 0;
  }

  /** What the events and contexts of such calls may have between them. */
  get sharedBytes(): number {
    return Math.min(LIMITS.togetherBytes, this.#spec.limits.bytesIn);
  }

  /** Calls a handler for several runs in one turn. Gives how many of them that was: the others are to be called as usual. */
  callTogether(callers: readonly Caller[], runs: readonly HotRun[], step: Step): number {
    const [, handler, wallMs, cpuMs] = step;
    this.#cpuMs = cpuMs;
    const numbers = runs.map(({ cause }) => callNumber(cause, handler));
    const calls = runs.flatMap(({ event, context }, at) => [numbers[at]!, event, context]);
    const startedMs = performance.now();
    this.#gauge.attribute(callers[0]!.run, 0);
    const end = this.#cell!.together(calls, Math.min(wallMs, turnMs(cpuMs, this.#gauge.crowd)));
    const tookMs = performance.now() - startedMs;
    const cpuUs = turnCpuUs(tookMs);
    this.#charge(cpuUs);
    this.#isDirty = true;
    this.isQuick = tookMs < LIMITS.quickTurnMs;
    const { answers, begun, rest } = this.#wordsOf(end, numbers);
    // If nothing is known of them, all went with the cell.
    const count = begun ?? callers.length;
    const isStopped = begun === undefined || (end.end !== "result" && end.end !== "rejection");
    // Whoever was last has set going whatever it was that did not end.
    const settled = isStopped ? Math.min(answers.length, count - 1) : answers.length;
    const open: PendingCall[] = [];
    for (let at = 0; at < count; at++) {
      const isLast = at === count - 1;
      const cost = { wallMs: shareOf(tookMs, count, isLast), cpuUs: Math.round(shareOf(cpuUs / 1000, count, isLast) * 1000) };
      if (at < settled) callers[at]!.settle(0, sharedAnswer(answers[at]!, cost, cpuMs));
      else open.push({ number: numbers[at]!, caller: callers[at]!, at: 0, step, startedMs, ...NEW_CALL, cpuUs: cost.cpuUs });
    }
    if (!this.isQuick || open.length > 0 || rest.length > 0) this.#plain = 0;
    for (const call of open) this.#calls.add(call);
    if (isStopped) {
      // Of a cell that is gone only its log lines still count.
      for (const item of rest) if (item.kind === MAIL.log) this.#log(item.a, causeOf(item.call), item.body);
      if (end.end === "result" || end.end === "rejection") this.#replace("crashed", UNUSABLE, open[0]);
      else this.#afterTurn(end, cpuMs, cpuUs, begun === undefined ? open[0] : open.at(-1));
      return count;
    }
    if (end.end === "rejection") this.#rejected(end.detail, numbers[count - 1]!);
    for (const item of rest) this.#deliver(item);
    // The last one may wait for something; its answer may be there already.
    const waiting = open[0];
    if (waiting) this.#fetchMail();
    if (waiting && this.#calls.get(waiting.number)) this.#calls.await(waiting, this.#outOfTime);
    return count;
  }

  #wordsOf(end: TurnEnd, numbers: readonly number[]): SharedTurn {
    const text = end.end === "result" ? end.text : this.#cell!.lastWords(true).text;
    try {
      return readShared(readMail(text ?? "\n"), numbers);
    } catch {
      return readShared([], numbers);
    }
  }

  #dispatch(number: number, event: string, context: string, timeoutMs: number, entry: Entry): TurnEnd {
    if (entry.as === "result") return this.#cell!.dispatch(number, event, context, timeoutMs);
    if (entry.as === "observer") return this.#cell!.observe(number, event, context, timeoutMs);
    return this.#cell!.dispatchSync(number, event, context, timeoutMs, entry.echo);
  }

  /** Calls a function that the plugin handed out. Nobody waits for it; that it failed is logged. */
  invoke(handle: number, cause: number, argument: string): void {
    if (this.#state !== "ready") return this.#log(2, cause, "a function of the plugin's was not called: its cell was replaced meanwhile");
    const number = callNumber(cause, INVOKED);
    this.#later(number, (cell, timeoutMs) => cell.invoke(number, handle, argument, timeoutMs));
  }

  /** The host has answered a question. */
  tell(ask: number, isOk: boolean, text: string): void {
    const asked = this.#errands.told(ask);
    if (!asked) return;
    const { question } = asked;
    this.#later(asked.call, (cell, timeoutMs) => cell.tell(question, isOk, text, timeoutMs));
  }

  /** The lane itself has answered a question: what that took counts as the plugin's. */
  #computed(ask: number): (isOk: boolean, text: string, tookMs: number) => void {
    return (isOk, text, tookMs) => {
      if (this.#state !== "gone") this.#charge(Math.round(tookMs * 1000));
      this.tell(ask, isOk, text);
    };
  }

  /** The caller does not want its answers any more: the work stops, the plugin's state stays. */
  abandon(caller: Caller): void {
    for (const call of this.#calls.all()) if (call.caller === caller) this.#giveUp(call);
    this.#waiting.abandon(caller);
  }

  get mayHaveMail(): boolean {
    return this.#isDirty;
  }

  get hasMail(): boolean {
    return this.#isDirty && this.#cell?.hasMail === true;
  }

  /** Reads what the last turns left, if there were any. */
  sweep(): void {
    if (this.#isDirty && this.#state === "ready") this.#fetchMail();
  }

  dispose(): void {
    this.#state = "gone";
    this.#failure = errorJson("ERR_CALL_NOT_LOADED", { detail: "it was removed" });
    this.#stopClocks();
    this.#cell?.dispose();
    this.#cell = undefined;
    for (const call of this.#calls.all())
      this.#calls.settle(call, "crashed", errorJson("ERR_CALL_REPLACED", { detail: "the plugin was removed" }));
    for (const { caller, at } of this.#waiting.leave()) caller.settle(at, answered("failed", this.#failure));
  }

  /** The turn gave no answer of its own; its mail may. */
  #await(call: PendingCall, end: TurnEnd): Answer | undefined {
    const [, , , cpuMs] = call.step;
    this.#plain = 0;
    this.#calls.add(call);
    this.#afterTurn(end, cpuMs, call.cpuUs, call);
    if (!call.early && call.cpuUs > cpuMs * 1000) this.#replace("cpu", outOfCpu(cpuMs), call);
    call.isStarting = false;
    if (call.early) return call.early;
    this.#calls.await(call, this.#outOfTime);
    return undefined;
  }

  readonly #outOfTime = (call: PendingCall): void => {
    this.#giveUp(call);
    this.#calls.settle(call, "timeout", errorJson("ERR_CALL_TIMEOUT", { ms: call.step[2] }));
  };

  /** Nobody wants it any more: what it has set going stops. */
  #giveUp(call: PendingCall): void {
    this.#calls.forget(call);
    if (this.#state !== "ready") return;
    if (!this.#cell!.abandon(call.number)) return this.#replace("crashed", UNUSABLE);
    this.#fetchMail();
  }

  /** What follows from having been inside the cell without an answer: mail, or an end. `spentUs` is the turn's own CPU time. */
  #afterTurn(end: TurnEnd, cpuMs: number, spentUs: number, owner?: PendingCall, number = owner?.number ?? 0): void {
    switch (end.end) {
      case "timeout":
        return this.#replace(...overrun(cpuMs, spentUs, owner), owner);
      case "memory":
        return this.#replace("memory", errorJson("ERR_CALL_MEMORY", { mb: this.#spec.limits.heapMb }), owner);
      case "broken":
        return this.#replace("crashed", errorJson("ERR_CALL_REPLACED", { detail: end.detail }), owner);
      case "rejection":
        this.#rejected(end.detail, number);
        return this.#readMail(this.#cell!.lastWords());
      case "error":
        // A handler's error is its call's answer; nobody waits for these.
        this.#log(3, causeOf(number), `${unawaited(number)}: ${messageOf(end.text)}`);
        return this.#fetchMail();
      default:
        return this.#fetchMail();
    }
  }

  #rejected(detail: string, number: number): void {
    this.#plain = 0;
    this.#log(3, causeOf(number), `unhandled rejection: ${detail}`);
  }

  #fetchMail(): void {
    this.#readMail(this.#cell!.mail());
  }

  #readMail({ isFine, text }: Mail): void {
    this.#isDirty = false;
    if (!isFine) return this.#replace("memory", errorJson("ERR_CALL_MEMORY", { mb: this.#spec.limits.heapMb }));
    if (text === undefined) return;
    this.#plain = 0;
    let items: MailItem[];
    try {
      items = readMail(text);
    } catch {
      return this.#replace("crashed", UNUSABLE);
    }
    for (const item of items) this.#deliver(item);
  }

  #deliver({ kind, a, b, call: number, body }: MailItem): void {
    switch (kind) {
      case MAIL.log:
        return this.#logOf(number, a, body);
      case MAIL.timer:
        return this.#errands.startTimer(a, b, number, this.#tick);
      case MAIL.clear:
        return this.#errands.stopTimer(a);
      case MAIL.ask: {
        const owner = this.#calls.get(number);
        if (owner && ++owner.asks > this.#spec.limits.hostCalls) return this.#refuse(number, a);
        const ask = this.#errands.ask(a, number);
        const end = body.indexOf("\n");
        const [service, args] = [body.slice(0, end), body.slice(end + 1)];
        if (service.startsWith(SUBTLE)) return this.#subtle.ask(service.slice(SUBTLE.length), args, this.#computed(ask));
        return this.#events.ask(this, ask, causeOf(number), service, args);
      }
      case MAIL.result:
      case MAIL.nothing:
      case MAIL.error: {
        const text = kind === MAIL.error ? body.slice(1) : body;
        if (number === 0) return this.#loaded(kind === MAIL.result, text);
        const call = this.#calls.get(number);
        if (call) return this.#calls.settle(call, kind === MAIL.error ? "failed" : "ok", text);
        // Nobody waits for a function that the plugin handed out.
        if (kind === MAIL.error && handlerOf(number) === INVOKED) this.#log(3, causeOf(number), `${unawaited(number)}: ${messageOf(text)}`);
      }
    }
  }

  /** The call has asked more than it may; its question is answered here. */
  #refuse(number: number, question: number): void {
    const why = errorJson("ERR_SERVICE_BUDGET", { limit: this.#spec.limits.hostCalls });
    const asking = this.#cell;
    setImmediate(() => {
      if (this.#cell === asking) this.#later(number, (cell, timeoutMs) => cell.tell(question, false, why, timeoutMs));
    });
  }

  /** The guest counts the lines of a turn; a call may have many turns. */
  #logOf(number: number, level: number, text: string): void {
    const owner = this.#calls.get(number);
    const { logLines } = this.#spec.limits;
    if (owner) owner.lines += 1;
    if (!owner || owner.lines <= logLines) return this.#log(level, causeOf(number), text);
    if (owner.lines === logLines + 1) this.#log(2, causeOf(number), `further log lines of this call are dropped; the limit is ${logLines}`);
  }

  #charge(us: number): void {
    this.#spentUs += us;
    if (this.#spentUs < LIMITS.cpuReportUs) return;
    this.#events.spent(this, this.#spentUs);
    this.#spentUs = 0;
  }

  readonly #tick = (timer: number, owner: number): void => {
    this.#later(owner, (cell, timeoutMs) => cell.tick(timer, timeoutMs));
  };

  /** A turn that belongs to an earlier call, or to none that is still pending: charged to it if it is. */
  #later(number: number, enter: (cell: Cell, timeoutMs: number) => TurnEnd): void {
    if (!this.#cell) return;
    const owner = this.#calls.get(number);
    const cpuMs = owner?.step[3] ?? this.#cpuMs;
    const startedMs = performance.now();
    const leftMs = owner ? Math.max(1, owner.step[2] - (performance.now() - owner.startedMs)) : Infinity;
    const timeoutMs = Math.min(turnMs(cpuMs, this.#gauge.crowd), leftMs);
    if (owner) this.#gauge.attribute(owner.caller.run, owner.at);
    const end = enter(this.#cell, timeoutMs);
    const cpuUs = turnCpuUs(performance.now() - startedMs);
    this.#charge(cpuUs);
    if (owner) owner.cpuUs += cpuUs;
    this.#afterTurn(end, cpuMs, owner?.cpuUs ?? cpuUs, owner, number);
    if (owner && this.#calls.get(owner.number) && owner.cpuUs > cpuMs * 1000) this.#replace("cpu", outOfCpu(cpuMs), owner);
  }

  /** The cell cannot be used any more: answer what was pending in it, the culprit first, and build another. */
  #replace(status: StepStatus, why: string, culprit?: PendingCall): void {
    if (this.#state === "loading") return this.#loaded(false, why);
    const cell = this.#cell!;
    this.#state = "loading";
    this.#plain = 0;
    this.#cell = undefined;
    this.#isDirty = false;
    this.#stopClocks();
    this.#lastLogLines(cell.lastWords());
    cell.dispose();
    this.#events.fault(this, why);
    // A call that comes while these are settled waits for the new cell.
    setImmediate(() => this.load());
    if (culprit && this.#calls.get(culprit.number)) this.#calls.settle(culprit, status, why);
    for (const call of this.#calls.all()) this.#calls.settle(call, "crashed", errorJson("ERR_CALL_REPLACED", { detail: messageOf(why) }));
  }

  #loaded(isOk: boolean, text: string): void {
    if (this.#state !== "loading" || !this.#cell) return;
    clearTimeout(this.#loadDeadline);
    this.#state = isOk ? "ready" : "failed";
    if (!isOk) {
      this.#failure = errorJson("ERR_CALL_NOT_LOADED", { detail: messageOf(text) });
      this.#stopClocks();
      this.#lastLogLines(this.#cell.lastWords());
      this.#cell.dispose();
      this.#cell = undefined;
    }
    this.#opened(isOk, text);
  }

  #opened(isOk: boolean, text: string): void {
    this.#events.opened(this, isOk, performance.now() - this.#loadStartedMs, text);
    this.sweep();
    for (const { caller, at, step, event, context, entry } of this.#waiting.leave()) {
      const answer = this.call(caller, at, step, event, context, entry);
      if (answer) caller.settle(at, answer);
    }
  }

  /** Of a cell that is gone only its log lines still count. */
  #lastLogLines({ text }: Mail): void {
    try {
      for (const item of readMail(text ?? "\n")) if (item.kind === MAIL.log) this.#log(item.a, causeOf(item.call), item.body);
    } catch {
      // Unreadable last words of a broken cell: there is nothing to save.
    }
  }

  #log(level: number, run: number, text: string): void {
    this.#events.log(this, LOG_LEVELS_ORDER[level] ?? "info", run, text);
  }

  #stopClocks(): void {
    this.#errands.stop();
    this.#subtle.stop();
    clearTimeout(this.#loadDeadline);
  }
}

function isAnswer({ end }: TurnEnd): boolean {
  return end === "nothing" || end === "result" || end === "error";
}

function unawaited(number: number): string {
  return handlerOf(number) === INVOKED ? "error in a function it handed out" : "error in a timer or after an answer";
}

function sharedAnswer({ kind, body }: MailItem, cost: { wallMs: number; cpuUs: number }, cpuMs: number): Answer {
  if (cost.cpuUs > cpuMs * 1000) return { status: "cpu", ...cost, body: outOfCpu(cpuMs) };
  return kind === MAIL.error ? { status: "failed", ...cost, body: body.slice(1) } : { status: "ok", ...cost, body };
}

/** What a call has that has just begun. */
const NEW_CALL = { asks: 0, lines: 0, deadline: undefined, early: undefined, isStarting: false };

const UNUSABLE = errorJson("ERR_CALL_REPLACED", { detail: "its bootstrap did not answer" });
