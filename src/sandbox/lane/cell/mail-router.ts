/**
 * Untrusted side, lane thread: delivers what a plugin left in its mailbox: answers, log lines, timers and requests. The
 * text comes from inside the cell, so counts and sizes are checked here once more.
 */
import { LIMITS } from "../../../protocol/limits.ts";
import { causeOf, ENTRY, handlerOf, INVOKED, LOG_LEVELS, MAIL, readMail } from "../../../protocol/messages/mail.ts";
import type { MailItem } from "../../../protocol/messages/mail.ts";
import { SUBTLE } from "../../../protocol/messages/subtle.ts";
import { CONNECT } from "../../../protocol/messages/connect.ts";
import { RateWindow } from "../../../protocol/rules/rate-window.ts";
import { fitsBytes } from "../../../transport/frames.ts";
import { boundedError, errorJson, messageOf, resultOf } from "../answer.ts";
import type { TurnQueue } from "../queued-turns.ts";
import type { Calls } from "./calls.ts";
import type { CellSpec, LaterTurn, Mail } from "./cell.ts";
import { Outstanding } from "./outstanding.ts";
import type { Timer } from "./outstanding.ts";
import type { SlotLane } from "./slot-lane.ts";
import { SubtleService } from "./subtle.ts";

/** What the router needs of the cell's turns. */
export interface MailTurns {
  readonly calls: Calls;
  readonly queue: TurnQueue;
  /** Enters the cell for something that belongs to this call. */
  enterLater(call: number, turn: LaterTurn): void;
  /** The plugin has finished loading, or failed to. */
  loaded(isDone: boolean, text: string): void;
  /** Charges work that the lane did for the plugin. */
  chargeService(us: number): void;
}

export class MailRouter {
  readonly #spec: CellSpec;
  readonly #lane: SlotLane;
  readonly #turns: MailTurns;
  readonly #outstanding: Outstanding;
  readonly #subtle = new SubtleService();
  readonly #requestRate = new RateWindow(LIMITS.lane.requestsPerSecond, 1_000);
  /** One line more than the host accepts, so that the host can report that lines were dropped. */
  readonly #logRate = new RateWindow(LIMITS.log.linesPerWindow + 1, LIMITS.log.windowMs);

  constructor(spec: CellSpec, lane: SlotLane, turns: MailTurns) {
    this.#spec = spec;
    this.#lane = lane;
    this.#turns = turns;
    this.#outstanding = new Outstanding(lane.clock);
  }

  deliver({ kind, a, b, call: number, body }: MailItem): void {
    switch (kind) {
      case MAIL.log:
        return this.#logLine(number, a, body);
      case MAIL.timer:
        return this.#outstanding.startTimer(a, b, (timer) => this.#due(a, timer, number));
      case MAIL.clear:
        return this.#outstanding.stopTimer(a);
      case MAIL.request:
        return this.#request(number, a, body);
      case MAIL.result:
      case MAIL.nothing:
      case MAIL.error:
        return this.#answer(number, kind, body);
    }
  }

  /** The host has answered a request. */
  respond(request: number, isOk: boolean, text: string): void {
    const started = this.#outstanding.take(request);
    if (started) this.#respond(started.call, started.guestRequest, isOk, text);
  }

  log(level: number, run: number, text: string): void {
    // The host drops further lines by the same count, so do not send them.
    if (!this.#logRate.admit()) return;
    this.#lane.events.log(this.#spec.cell, LOG_LEVELS[level] ?? "info", run, text);
  }

  /** An error of a turn that no call waits for: its handler has answered, or it never was a handler. */
  logUnawaited(number: number, error: string): void {
    const where = handlerOf(number) === INVOKED ? "error in a function it handed out" : "error in a timer or after an answer";
    this.log(3, causeOf(number), `${where}: ${messageOf(error)}`);
  }

  /** Delivers only the log lines: the cell is gone, and the rest has no meaning any more. */
  deliverLog({ text }: Mail): void {
    try {
      this.logLinesOf(readMail(text ?? "\n"));
    } catch {
      // A broken cell left text that is not mail: there is nothing to save.
    }
  }

  logLinesOf(items: readonly MailItem[]): void {
    for (const item of items) if (item.kind === MAIL.log) this.log(item.a, causeOf(item.call), item.body);
  }

  /** The cell is gone, and its timers and requests with it. */
  stop(): void {
    this.#outstanding.stop();
    this.#subtle.stop();
  }

  /** The guest limits the lines of a turn; a call may have many turns. */
  #logLine(number: number, level: number, text: string): void {
    const owner = this.#turns.calls.get(number);
    const { logLines } = this.#spec.limits;
    if (owner) owner.lines += 1;
    if (!owner || owner.lines <= logLines) return this.log(level, causeOf(number), text);
    if (owner.lines === logLines + 1) this.log(2, causeOf(number), `further log lines of this call are dropped; the limit is ${logLines}`);
  }

  #due(timer: number, started: Timer, owner: number): void {
    const run = (): void => {
      if (this.#outstanding.takeTimer(timer, started)) this.#turns.enterLater(owner, [ENTRY.tick, timer]);
    };
    this.#turns.queue.add({ call: owner, run });
  }

  #request(number: number, guestRequest: number, body: string): void {
    const owner = this.#turns.calls.get(number);
    const refuse = (why: string): void => this.#respond(number, guestRequest, false, why);
    const { hostCalls } = this.#spec.limits;
    // The host counts bytes and time of connections: a query is a few requests, and an import has thousands.
    if (owner && !body.startsWith(CONNECT) && ++owner.requests > hostCalls)
      return refuse(errorJson("ERR_SERVICE_BUDGET", { limit: hostCalls }));
    if (!this.#requestRate.admit()) return refuse(errorJson("ERR_SERVICE_FLOOD", { limit: LIMITS.lane.requestsPerSecond }));
    const end = body.indexOf("\n");
    const [service, args] = [body.slice(0, end), body.slice(end + 1)];
    if (!fitsBytes(body, LIMITS.call.eventBytes)) return refuse(argumentTooLong(service, args));
    const request = this.#outstanding.request(guestRequest, number);
    if (!service.startsWith(SUBTLE)) return this.#lane.events.request(this.#spec.cell, request, causeOf(number), service, args);
    this.#subtle.request(service.slice(SUBTLE.length), args, (isOk, text, tookMs) => {
      this.#turns.chargeService(Math.round(tookMs * 1000));
      this.respond(request, isOk, text);
    });
  }

  #respond(call: number, guestRequest: number, isOk: boolean, text: string): void {
    const run = (): void => this.#turns.enterLater(call, [ENTRY.response, guestRequest, isOk, text]);
    this.#turns.queue.add({ call, run });
  }

  #answer(number: number, kind: string, body: string): void {
    const { calls } = this.#turns;
    const isError = kind === MAIL.error;
    const text = isError ? boundedError(body.slice(1)) : body;
    if (number === 0) return this.#turns.loaded(kind === MAIL.result, text);
    const call = calls.get(number);
    if (call && isError) return calls.settle(call, "failed", text);
    if (call) {
      const { status, body: answer } = resultOf(text, 0, 0, call.step[4]);
      return calls.settle(call, status, answer);
    }
    // The host does not wait for a function that the plugin handed out.
    if (isError && handlerOf(number) === INVOKED) this.logUnawaited(number, text);
  }
}

function argumentTooLong(service: string, args: string): string {
  const name = service.slice(0, LIMITS.call.nameChars);
  return errorJson("ERR_SERVICE_SIZE", { what: "argument", service: name, bytes: Buffer.byteLength(args), limit: LIMITS.call.eventBytes });
}
