/**
 * Untrusted side, lane thread: a plugin's place in a lane. It enters the plugin's cell, keeps the clocks of its calls and
 * timers, reads its mail, and replaces the cell when it has become unusable. The cell may change; calls, timers and those
 * who wait belong to the place.
 */
import type { ErrorText } from "../protocol/messages.ts";
import { errorMessage } from "../protocol/errors.ts";
import type { ErrorCode, ErrorParams } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { LOG_LEVELS_ORDER } from "./guest/log-levels.ts";
import { MAIL, readMail } from "../protocol/mail.ts";
import type { MailItem } from "../protocol/mail.ts";
import type { StepReply } from "../protocol/messages.ts";
import { Cell } from "./cell.ts";
import type { CellSpec, GuestCode, TurnEnd } from "./cell.ts";
import { markCpu, turnCpuUs } from "./cpu.ts";

export type Status = StepReply[1];

/** How a call ended. The body is a result's or an error's JSON, or empty. */
export interface Answer {
  readonly status: Status;
  readonly wallMs: number;
  readonly cpuUs: number;
  readonly body: string;
}

/** A call as its run asks for it. */
export interface CallRequest {
  readonly run: number;
  /** The host's number for what this is part of. */
  readonly cause: number;
  readonly handler: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly event: string;
  readonly context: string;
  readonly isSync: boolean;
  readonly echo: string | undefined;
  /** The answer, when `call` could not give it at once. */
  settle(answer: Answer): void;
}

export interface ResidentEvents {
  opened(resident: Resident, isOk: boolean, loadMs: number, body: string): void;
  log(resident: Resident, level: string, run: number, text: string): void;
  ask(resident: Resident, ask: number, run: number, service: string, args: string): void;
  fault(resident: Resident, why: string): void;
}

interface PendingCall {
  readonly number: number;
  readonly request: CallRequest;
  readonly startedMs: number;
  cpuUs: number;
  deadline: NodeJS.Timeout | undefined;
  /** Set when the call is answered in the very turn that started it: whoever started it takes the answer from here. */
  early: Answer | undefined;
  isStarting: boolean;
}

export class Resident {
  readonly id: number;
  readonly #spec: CellSpec;
  readonly #guest: GuestCode;
  readonly #events: ResidentEvents;
  readonly #pending = new Map<number, PendingCall>();
  readonly #timers = new Map<number, { handle: NodeJS.Timeout; call: number }>();
  /** Questions to the host, by a number that is never used twice: the cell that asked may have been replaced. */
  readonly #asks = new Map<number, { question: number; call: number }>();
  #nextAsk = 1;
  /** Calls that met the cell while it was loading. */
  readonly #waiting = new Map<CallRequest, NodeJS.Timeout>();
  #cell: Cell | undefined;
  #state: "loading" | "ready" | "failed" | "gone" = "loading";
  #failure = "";
  #loadDeadline: NodeJS.Timeout | undefined;
  #loadStartedMs = 0;
  #nextCall = 1;
  #isDirty = false;

  constructor(id: number, spec: CellSpec, guest: GuestCode, events: ResidentEvents) {
    this.id = id;
    this.#spec = spec;
    this.#guest = guest;
    this.#events = events;
  }

  /** Builds the cell and loads the plugin; `opened` follows, at once or later. */
  load(): void {
    if (this.#state === "gone") return;
    this.#state = "loading";
    this.#loadStartedMs = performance.now();
    this.#cell = new Cell(this.#guest, this.#spec);
    const end = this.#cell.load();
    this.#isDirty = true;
    if (end.end === "result") return this.#loaded(true, end.text);
    if (end.end === "error") return this.#loaded(false, end.text);
    if (end.end === "broken") return this.#loaded(false, errorJson("ERR_PLUGIN_SYNTAX", { detail: end.detail }));
    this.#loadDeadline = setTimeout(() => this.#loaded(false, errorJson("ERR_CALL_TIMEOUT", { ms: LIMITS.loadWallMs })), LIMITS.loadWallMs);
    this.#afterTurn(end, LIMITS.loadCpuMs);
  }

  /** Enters the cell. Undefined: the answer will come through `settle`. */
  call(request: CallRequest): Answer | undefined {
    if (this.#state === "loading") {
      this.#waiting.set(
        request,
        setTimeout(() => this.#stillLoading(request), request.wallMs),
      );
      return undefined;
    }
    if (this.#state !== "ready") return answered("failed", this.#failure);
    if (this.#pending.size >= LIMITS.pendingCalls) return answered("failed", errorJson("ERR_CALL_PENDING", { limit: LIMITS.pendingCalls }));
    const number = this.#nextCall++;
    const timeoutMs = Math.min(request.wallMs, request.cpuMs + LIMITS.turnSlackMs);
    const startedMs = performance.now();
    const end = this.#cell!.dispatch(
      request.handler,
      number,
      request.cause,
      request.event,
      request.context,
      timeoutMs,
      request.isSync,
      request.echo,
    );
    const wallMs = performance.now() - startedMs;
    const cpuUs = turnCpuUs(wallMs);
    this.#isDirty = true;
    if (end.end === "nothing") return { status: "ok", wallMs, cpuUs, body: "" };
    if (end.end === "result") return { status: "ok", wallMs, cpuUs, body: end.text };
    if (end.end === "error") return { status: "failed", wallMs, cpuUs, body: end.text };
    return this.#await({ number, request, startedMs, cpuUs, deadline: undefined, early: undefined, isStarting: true }, end);
  }

  /** The host has answered a question. */
  tell(ask: number, isOk: boolean, text: string): void {
    const asked = this.#asks.get(ask);
    if (!asked || !this.#cell) return;
    this.#asks.delete(ask);
    const { question } = asked;
    this.#later(asked.call, (cell, timeoutMs) => cell.tell(question, isOk, text, timeoutMs));
  }

  /** The run does not want its answer any more: the work stops, the plugin's state stays. */
  abandon(run: number): void {
    for (const call of this.#pending.values()) if (call.request.run === run) this.#forget(call, true);
    for (const [request, deadline] of this.#waiting) {
      if (request.run !== run) continue;
      clearTimeout(deadline);
      this.#waiting.delete(request);
    }
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
    for (const call of this.#pending.values())
      this.#settle(call, "crashed", errorJson("ERR_CALL_REPLACED", { detail: "the plugin was removed" }));
    for (const request of this.#takeWaiting()) request.settle(answered("failed", this.#failure));
  }

  #takeWaiting(): CallRequest[] {
    const requests = [...this.#waiting.keys()];
    for (const deadline of this.#waiting.values()) clearTimeout(deadline);
    this.#waiting.clear();
    return requests;
  }

  #stillLoading(request: CallRequest): void {
    this.#waiting.delete(request);
    request.settle({ ...answered("timeout", errorJson("ERR_CALL_TIMEOUT", { ms: request.wallMs })), wallMs: request.wallMs });
  }

  /** The turn gave no answer of its own; its mail may. */
  #await(call: PendingCall, end: TurnEnd): Answer | undefined {
    const { wallMs, cpuMs } = call.request;
    this.#pending.set(call.number, call);
    this.#afterTurn(end, cpuMs, call);
    call.isStarting = false;
    if (call.early) return call.early;
    if (call.cpuUs > cpuMs * 1000) {
      call.isStarting = true;
      this.#replace("cpu", errorJson("ERR_CALL_CPU", { ms: cpuMs }), call);
      return call.early;
    }
    const left = wallMs - (performance.now() - call.startedMs);
    call.deadline = setTimeout(() => this.#outOfTime(call), Math.max(0, left));
    return undefined;
  }

  #outOfTime(call: PendingCall): void {
    this.#forget(call, true);
    this.#settle(call, "timeout", errorJson("ERR_CALL_TIMEOUT", { ms: call.request.wallMs }));
  }

  #forget(call: PendingCall, isUnwanted = false): void {
    clearTimeout(call.deadline);
    this.#pending.delete(call.number);
    if (!isUnwanted || this.#state !== "ready") return;
    if (!this.#cell!.abandon(call.number)) return this.#replace("crashed", UNUSABLE);
    this.#fetchMail();
  }

  #settle(call: PendingCall, status: Status, body: string): void {
    this.#forget(call);
    const answer = { status, wallMs: performance.now() - call.startedMs, cpuUs: call.cpuUs, body };
    if (call.isStarting) call.early = answer;
    else call.request.settle(answer);
  }

  /** What follows from having been inside the cell without an answer: mail, or an end. */
  #afterTurn(end: TurnEnd, cpuMs: number, owner?: PendingCall): void {
    switch (end.end) {
      case "timeout":
        return this.#replace("cpu", errorJson("ERR_CALL_CPU", { ms: cpuMs }), owner);
      case "memory":
        return this.#replace("memory", errorJson("ERR_CALL_MEMORY", { mb: this.#spec.heapMb }), owner);
      case "broken":
        return this.#replace("crashed", errorJson("ERR_CALL_REPLACED", { detail: end.detail }), owner);
      case "rejection":
        this.#log(3, owner?.request.cause ?? 0, `unhandled rejection: ${end.detail}`);
        return this.#readMail(this.#cell!.lastWords());
      case "error":
        // Only timers end here: a handler's error is its call's answer.
        this.#log(3, owner?.request.cause ?? 0, `error in a timer or after an answer: ${messageOf(end.text)}`);
        return this.#fetchMail();
      default:
        return this.#fetchMail();
    }
  }

  #fetchMail(): void {
    const { isFine, text } = this.#cell!.mail();
    if (isFine) this.#readMail(text);
    else this.#replace("crashed", UNUSABLE);
  }

  #readMail(text: string | undefined): void {
    this.#isDirty = false;
    if (text === undefined) return;
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
        return this.#log(a, b, body);
      case MAIL.timer:
        clearTimeout(this.#timers.get(a)?.handle);
        this.#timers.set(a, { handle: setTimeout(() => this.#tick(a), b), call: number });
        return;
      case MAIL.clear:
        clearTimeout(this.#timers.get(a)?.handle);
        this.#timers.delete(a);
        return;
      case MAIL.ask: {
        const ask = this.#nextAsk++;
        const end = body.indexOf("\n");
        this.#asks.set(ask, { question: a, call: number });
        return this.#events.ask(this, ask, b, body.slice(0, end), body.slice(end + 1));
      }
      case MAIL.result:
      case MAIL.nothing:
      case MAIL.error: {
        const text = kind === MAIL.error ? body.slice(1) : body;
        if (number === 0) return this.#loaded(kind === MAIL.result, text);
        const call = this.#pending.get(number);
        if (call) this.#settle(call, kind === MAIL.error ? "failed" : "ok", text);
      }
    }
  }

  #tick(timer: number): void {
    const owner = this.#timers.get(timer)?.call ?? 0;
    this.#timers.delete(timer);
    this.#later(owner, (cell, timeoutMs) => cell.tick(timer, timeoutMs));
  }

  /** A turn that belongs to an earlier call, or to none that is still pending: charged to it if it is. */
  #later(number: number, enter: (cell: Cell, timeoutMs: number) => TurnEnd): void {
    if (!this.#cell) return;
    const owner = this.#pending.get(number);
    const cpuMs = owner?.request.cpuMs ?? LIMITS.cpuMs;
    markCpu();
    const startedMs = performance.now();
    const end = enter(this.#cell, cpuMs + LIMITS.turnSlackMs);
    const cpuUs = turnCpuUs(performance.now() - startedMs);
    if (owner) owner.cpuUs += cpuUs;
    this.#afterTurn(end, cpuMs, owner);
    if (owner && this.#pending.has(owner.number) && owner.cpuUs > cpuMs * 1000) {
      this.#replace("cpu", errorJson("ERR_CALL_CPU", { ms: cpuMs }), owner);
    }
  }

  /** The cell cannot be used any more: answer what was pending in it, the culprit first, and build another. */
  #replace(status: Status, why: string, culprit?: PendingCall): void {
    if (this.#state === "loading") return this.#loaded(false, why);
    const cell = this.#cell!;
    this.#state = "loading";
    this.#cell = undefined;
    this.#isDirty = false;
    this.#stopClocks();
    this.#lastLogLines(cell.lastWords());
    cell.dispose();
    this.#events.fault(this, why);
    // A call that comes while these are settled waits for the new cell.
    setImmediate(() => this.load());
    if (culprit && this.#pending.has(culprit.number)) this.#settle(culprit, status, why);
    for (const call of this.#pending.values()) this.#settle(call, "crashed", errorJson("ERR_CALL_REPLACED", { detail: messageOf(why) }));
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
    this.#events.opened(this, isOk, performance.now() - this.#loadStartedMs, text);
    this.sweep();
    for (const request of this.#takeWaiting()) {
      const answer = this.call(request);
      if (answer) request.settle(answer);
    }
  }

  /** Of a cell that is gone only its log lines still count. */
  #lastLogLines(words: string | undefined): void {
    try {
      for (const item of readMail(words ?? "\n")) if (item.kind === MAIL.log) this.#log(item.a, item.b, item.body);
    } catch {
      // Unreadable last words of a broken cell: there is nothing to save.
    }
  }

  #log(level: number, run: number, text: string): void {
    this.#events.log(this, LOG_LEVELS_ORDER[level] ?? "info", run, text);
  }

  #stopClocks(): void {
    for (const { handle } of this.#timers.values()) clearTimeout(handle);
    this.#timers.clear();
    this.#asks.clear();
    clearTimeout(this.#loadDeadline);
  }
}

const UNUSABLE = errorJson("ERR_CALL_REPLACED", { detail: "its bootstrap did not answer" });

export function answered(status: Status, body: string): Answer {
  return { status, wallMs: 0, cpuUs: 0, body };
}

export function errorJson(code: ErrorCode, params: ErrorParams): string {
  return JSON.stringify({ code, message: errorMessage(code, params) } satisfies ErrorText);
}

function messageOf(json: string): string {
  try {
    return (JSON.parse(json) as ErrorText).message;
  } catch {
    return "unknown";
  }
}
