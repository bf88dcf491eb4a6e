/**
 * Untrusted side, lane thread: serves the host's messages. It enters cells, keeps their clocks, and sends back text. It
 * decides nothing that counts: order, merge, policy and blame are the host's, which checks whatever comes from here.
 */
import { connect } from "node:net";
import { errorMessage } from "../protocol/errors.ts";
import type { ErrorCode, ErrorParams } from "../protocol/errors.ts";
import { pack, unpack } from "../protocol/frame.ts";
import { LIMITS } from "../protocol/limits.ts";
import { MAIL, readMail } from "../protocol/mail.ts";
import type { MailItem } from "../protocol/mail.ts";
import type { ErrorText, Hello, HostMessage, Open, Run, Step, StepReply } from "../protocol/messages.ts";
import { Cell, GuestCode } from "./cell.ts";
import type { TurnEnd } from "./cell.ts";
import { chain } from "./chain.ts";
import { Hop } from "./hop.ts";
import { socketLink } from "../protocol/link.ts";
import type { Link } from "../protocol/link.ts";
import { LOG_LEVELS_ORDER } from "./guest/log-levels.ts";
import { Resident } from "./resident.ts";
import type { PendingCall } from "./resident.ts";

type Status = StepReply[1];

/** How long answers may wait for the rest of their batch: they are lost if the next turn wedges the thread. */
const FLUSH_MS = 1;

export class Lane {
  readonly #main: Link;
  readonly #outboxes = new Map<Link, string[]>();
  readonly #residents = new Map<number, Resident>();
  readonly #hops = new Map<number, Hop>();
  /** Cells that ran since their mail was last fetched. */
  readonly #dirty = new Set<Resident>();
  #rules: Hello["rules"] = {};
  #guest = new GuestCode("");
  #nextCall = 1;
  #firstUnsentMs = 0;

  constructor(main: Link) {
    this.#main = main;
    this.attach(main);
  }

  /** Serves a link. All links share the cells; answers go back where the question came from. */
  attach(link: Link): void {
    this.#outboxes.set(link, []);
    link.onFrames((frames) => this.#serve(frames, link));
    link.onEnd(() => this.#outboxes.delete(link));
  }

  dispose(): void {
    for (const resident of this.#residents.values()) resident.dispose();
    this.#residents.clear();
  }

  #serve(frames: readonly string[], link: Link): void {
    for (const frame of frames) {
      const { header, bodies } = unpack(frame);
      this.#handle(header as HostMessage, bodies, link);
      if (this.#firstUnsentMs > 0 && performance.now() - this.#firstUnsentMs > FLUSH_MS) this.#flush();
    }
    this.#flush();
    this.#sweep();
  }

  #handle(message: HostMessage, bodies: string[], link: Link): void {
    switch (message.kind) {
      case "run":
        return this.#run(message, bodies, link);
      case "cancel":
        return this.#cancel(message.id);
      case "hello":
        this.#rules = message.rules;
        this.#guest = new GuestCode(bodies[0]!);
        return this.#send(pack({ kind: "ready", version: message.version }));
      case "open":
        return this.#open(message, bodies);
      case "drop":
        this.#residents.get(message.cell)?.dispose();
        this.#residents.delete(message.cell);
        return;
      case "dial": {
        const socket = connect(message.path, () => {
          const sync = socketLink(socket);
          sync.send([message.token]);
          this.attach(sync);
        });
        socket.on("error", () => socket.destroy());
      }
    }
  }

  /* Runs */

  #run(run: Run, bodies: string[], link: Link): void {
    const hop = new Hop(run, bodies[0]!, bodies[1]!, link);
    this.#hops.set(run.id, hop);
    if (run.mode === "fan") this.#fan(hop);
    else this.#advance(hop);
  }

  #cancel(id: number): void {
    const hop = this.#hops.get(id);
    if (!hop) return;
    hop.isCancelled = true;
    for (const resident of this.#residents.values()) {
      for (const call of resident.pending.values()) if (call.hop === hop) this.#abandon(resident, call);
    }
    this.#finish(hop);
  }

  /** Side by side: every step starts, whatever the others do. */
  #fan(hop: Hop): void {
    while (hop.next < hop.run.steps.length) {
      if (this.#start(hop, hop.next)) hop.open += 1;
      hop.next += 1;
    }
    if (hop.open === 0) this.#finish(hop);
    else this.#sendReplies(hop, false);
  }

  /** One after the other, as far as the lane can tell that the next one may run. */
  #advance(hop: Hop): void {
    while (hop.next < hop.run.steps.length && !hop.isCancelled) {
      const step = hop.next;
      hop.next += 1;
      if (this.#start(hop, step)) return this.#sendReplies(hop, false);
      if (!this.#goesOn) break;
    }
    this.#finish(hop);
  }

  /** Set by #answer: whether the hop may go on past the step that was answered last. */
  #goesOn = false;

  /** Enters the step's cell. True: the answer will come later. */
  #start(hop: Hop, step: number): boolean {
    const [cellId, handler, wallMs, cpuMs] = hop.run.steps[step] as Step;
    const resident = this.#residents.get(cellId);
    if (!resident || resident.state === "failed") {
      this.#answer(hop, step, "failed", 0, 0, resident?.failure ?? error("ERR_CALL_NOT_LOADED", { detail: "it was removed" }));
      return false;
    }
    if (resident.state === "loading") {
      resident.waiting.push({ hop, step });
      return true;
    }
    if (resident.pending.size >= LIMITS.pendingCalls) {
      this.#answer(hop, step, "failed", 0, 0, error("ERR_CALL_PENDING", { limit: LIMITS.pendingCalls }));
      return false;
    }
    const number = this.#nextCall++;
    const isSync = hop.run.mode === "sync";
    const startedMs = performance.now();
    const startedCpu = cpuNowUs();
    const end = resident.cell!.dispatch(
      handler,
      number,
      hop.run.id,
      hop.event,
      hop.context,
      Math.min(wallMs, cpuMs + LIMITS.turnSlackMs),
      isSync,
      this.#rules[hop.run.hook]?.echo,
    );
    const cpuUs = cpuNowUs() - startedCpu;
    this.#dirty.add(resident);
    if (end.end === "nothing") return this.#answer(hop, step, "ok", performance.now() - startedMs, cpuUs, "");
    if (end.end === "result") return this.#answer(hop, step, "ok", performance.now() - startedMs, cpuUs, end.text);
    if (end.end === "error") return this.#answer(hop, step, "failed", performance.now() - startedMs, cpuUs, end.text);
    return this.#await(resident, { number, hop, step, startedMs, cpuUs, deadline: undefined }, end);
  }

  /** The turn gave no answer of its own. True: there is still none. */
  #await(resident: Resident, call: PendingCall, end: TurnEnd): boolean {
    resident.pending.set(call.number, call);
    this.#afterTurn(resident, end, call);
    if (!resident.pending.has(call.number)) return false;
    const [, , wallMs, cpuMs] = call.hop.run.steps[call.step] as Step;
    if (call.cpuUs > cpuMs * 1000) {
      this.#fail(resident, "cpu", error("ERR_CALL_CPU", { ms: cpuMs }), call);
      return false;
    }
    const left = wallMs - (performance.now() - call.startedMs);
    call.deadline = setTimeout(() => this.#outOfTime(resident, call, wallMs), Math.max(0, left));
    return true;
  }

  #outOfTime(resident: Resident, call: PendingCall, wallMs: number): void {
    if (!resident.pending.has(call.number)) return;
    this.#abandon(resident, call);
    this.#answer(call.hop, call.step, "timeout", performance.now() - call.startedMs, call.cpuUs, error("ERR_CALL_TIMEOUT", { ms: wallMs }));
    this.#resume(call.hop);
    this.#settleTurn();
  }

  /** Forgets a call and what it had scheduled: its work stops, the plugin's state stays. */
  #abandon(resident: Resident, call: PendingCall): void {
    this.#forget(resident, call);
    if (resident.state !== "ready") return;
    resident.cell!.abandon(call.number);
    this.#dirty.add(resident);
  }

  #forget(resident: Resident, call: PendingCall): void {
    clearTimeout(call.deadline);
    resident.pending.delete(call.number);
  }

  /** Notes an answer. Always false, so that callers can return it as "nothing pending". */
  #answer(hop: Hop, step: number, status: Status, wallMs: number, cpuUs: number, body: string): false {
    hop.add(step, status, wallMs, cpuUs, body);
    if (hop.run.mode === "fan") return false;
    this.#goesOn = status === "ok";
    if (!this.#goesOn || body === "" || hop.next >= hop.run.steps.length) return false;
    const rule = this.#rules[hop.run.hook];
    const chained = rule ? chain(rule, hop.event, body, hop.run.chains) : { goesOn: false, event: hop.event };
    this.#goesOn = chained.goesOn;
    hop.event = chained.event;
    return false;
  }

  /** After an answer that came later. */
  #resume(hop: Hop): void {
    if (hop.isCancelled) return;
    if (hop.run.mode !== "fan") return this.#goesOn ? this.#advance(hop) : this.#finish(hop);
    hop.open -= 1;
    if (hop.open === 0) this.#finish(hop);
    else this.#sendReplies(hop, false);
  }

  #finish(hop: Hop): void {
    this.#hops.delete(hop.run.id);
    if (!hop.isCancelled) this.#sendReplies(hop, true);
  }

  #sendReplies(hop: Hop, last: boolean): void {
    if (last || hop.hasReplies) this.#send(hop.reply(last), hop.link);
  }

  /* Turns: what follows from having been inside a cell */

  /** `current` is the call this turn belonged to: if it is answered now, the caller sees to its hop. */
  #afterTurn(resident: Resident, end: TurnEnd, current?: PendingCall): void {
    switch (end.end) {
      case "timeout": {
        const ms = current ? (current.hop.run.steps[current.step] as Step)[3] : LIMITS.cpuMs;
        return this.#fail(resident, "cpu", error("ERR_CALL_CPU", { ms }), current);
      }
      case "memory":
        return this.#fail(resident, "memory", error("ERR_CALL_MEMORY", { mb: resident.spec.heapMb }), current);
      case "broken":
        return this.#fail(resident, "crashed", error("ERR_CALL_REPLACED", { detail: end.detail }), current);
      case "rejection":
        this.#log(resident, 3, current?.hop.run.id, `unhandled rejection: ${end.detail}`);
        return this.#readMail(resident, resident.cell!.lastWords(), current);
      case "error":
        // Only timers end here: a handler's error is its call's answer.
        this.#log(resident, 3, undefined, `error in a timer: ${messageOf(end.text)}`);
        return this.#readMail(resident, resident.cell!.mail(), current);
      default:
        return this.#readMail(resident, resident.cell!.mail(), current);
    }
  }

  #readMail(resident: Resident, text: string | undefined, current?: PendingCall): void {
    this.#dirty.delete(resident);
    if (text === undefined) return;
    let items: MailItem[];
    try {
      items = readMail(text);
    } catch {
      return this.#fail(resident, "crashed", error("ERR_CALL_REPLACED", { detail: "its mail was not readable" }), current);
    }
    for (const item of items) this.#deliver(resident, item, current);
  }

  #deliver(resident: Resident, { kind, a, b, call: number, body }: MailItem, current?: PendingCall): void {
    switch (kind) {
      case MAIL.log:
        return this.#log(resident, a, b, body);
      case MAIL.timer: {
        clearTimeout(resident.timers.get(a)?.handle);
        resident.timers.set(a, { handle: setTimeout(() => this.#tick(resident, a), b), call: number });
        return;
      }
      case MAIL.clear:
        clearTimeout(resident.timers.get(a)?.handle);
        resident.timers.delete(a);
        return;
    }
    if (kind !== MAIL.result && kind !== MAIL.nothing && kind !== MAIL.error) return;
    if (number === 0) return this.#loaded(resident, kind === MAIL.result, kind === MAIL.error ? body.slice(1) : body);
    const call = resident.pending.get(number);
    if (!call) return;
    this.#forget(resident, call);
    const text = kind === MAIL.error ? body.slice(1) : body;
    this.#answer(call.hop, call.step, kind === MAIL.error ? "failed" : "ok", performance.now() - call.startedMs, call.cpuUs, text);
    if (call !== current) this.#resume(call.hop);
  }

  #tick(resident: Resident, timer: number): void {
    const owner = resident.pending.get(resident.timers.get(timer)?.call ?? 0);
    resident.timers.delete(timer);
    if (!resident.cell) return;
    const cpuMs = owner ? (owner.hop.run.steps[owner.step] as Step)[3] : LIMITS.cpuMs;
    const startedCpu = cpuNowUs();
    const end = resident.cell.tick(timer, cpuMs + LIMITS.turnSlackMs);
    if (owner) owner.cpuUs += cpuNowUs() - startedCpu;
    this.#afterTurn(resident, end, owner);
    if (owner && resident.pending.has(owner.number) && owner.cpuUs > cpuMs * 1000)
      this.#fail(resident, "cpu", error("ERR_CALL_CPU", { ms: cpuMs }), owner);
    if (owner && !resident.pending.has(owner.number)) this.#resume(owner.hop);
    this.#settleTurn();
  }

  /** The cell cannot be used any more: answer what was pending in it, build another. */
  #fail(resident: Resident, status: Status, why: string, culprit: PendingCall | undefined): void {
    if (resident.state === "loading") return this.#loaded(resident, false, why);
    resident.state = "loading";
    const cell = resident.cell!;
    resident.cell = undefined;
    resident.clearTimers();
    if (culprit && resident.pending.has(culprit.number)) {
      this.#forget(resident, culprit);
      this.#answer(culprit.hop, culprit.step, status, performance.now() - culprit.startedMs, culprit.cpuUs, why);
    }
    this.#dirty.delete(resident);
    const words = cell.lastWords();
    cell.dispose();
    if (words !== undefined) this.#lastMail(resident, words);
    const goesOn = this.#goesOn;
    for (const call of [...resident.pending.values()]) {
      this.#forget(resident, call);
      this.#answer(
        call.hop,
        call.step,
        "crashed",
        performance.now() - call.startedMs,
        call.cpuUs,
        error("ERR_CALL_REPLACED", { detail: messageOf(why) }),
      );
      this.#resume(call.hop);
    }
    this.#goesOn = goesOn;
    this.#send(pack({ kind: "fault", cell: resident.id }, why));
    setImmediate(() => this.#rebuild(resident));
  }

  /** Of a cell that is gone only its log lines still count. */
  #lastMail(resident: Resident, text: string): void {
    try {
      for (const item of readMail(text)) if (item.kind === MAIL.log) this.#log(resident, item.a, item.b, item.body);
    } catch {
      // Unreadable last words of a broken cell: there is nothing to save.
    }
  }

  #log(resident: Resident, level: number, run: number | undefined, text: string): void {
    const name = LOG_LEVELS_ORDER[level] ?? "info";
    this.#send(pack({ kind: "log", cell: resident.id, level: name, ...(run && { run }) }, text.slice(0, LIMITS.logBytes + 1)));
  }

  /** After a turn that no message of the host's started. */
  #settleTurn(): void {
    this.#sweep();
  }

  #sweep(): void {
    for (const resident of this.#dirty) {
      this.#dirty.delete(resident);
      if (resident.cell && resident.state === "ready") this.#readMail(resident, resident.cell.mail());
    }
    this.#flush();
  }

  /* Cells */

  #open(message: Open, bodies: string[]): void {
    this.#residents.get(message.cell)?.dispose();
    const resident = new Resident(message.cell, { plugin: message.plugin, heapMb: message.heapMb, code: bodies[0]!, facts: bodies[1]! });
    this.#residents.set(message.cell, resident);
    this.#rebuild(resident);
  }

  #rebuild(resident: Resident): void {
    if (this.#residents.get(resident.id) !== resident) return;
    resident.state = "loading";
    resident.loadStartedMs = performance.now();
    resident.cell = new Cell(this.#guest, resident.spec);
    const end = resident.cell.load();
    if (end.end === "result") this.#loaded(resident, true, end.text);
    else if (end.end === "error") this.#loaded(resident, false, end.text);
    else if (end.end === "broken") this.#loaded(resident, false, error("ERR_PLUGIN_SYNTAX", { detail: end.detail }));
    else if (end.end === "timeout") this.#loaded(resident, false, error("ERR_CALL_CPU", { ms: LIMITS.loadCpuMs }));
    else {
      resident.loadDeadline = setTimeout(() => {
        this.#loaded(resident, false, error("ERR_CALL_TIMEOUT", { ms: LIMITS.loadWallMs }));
        this.#settleTurn();
      }, LIMITS.loadWallMs);
      this.#afterTurn(resident, end);
    }
    this.#dirty.add(resident);
    this.#settleTurn();
  }

  #loaded(resident: Resident, isOk: boolean, text: string): void {
    if (resident.state !== "loading" || !resident.cell) return;
    clearTimeout(resident.loadDeadline);
    const loadMs = performance.now() - resident.loadStartedMs;
    resident.state = isOk ? "ready" : "failed";
    if (!isOk) {
      resident.failure = error("ERR_CALL_NOT_LOADED", { detail: messageOf(text) });
      const words = resident.cell.lastWords();
      if (words !== undefined) this.#lastMail(resident, words);
      resident.dispose();
    }
    this.#send(pack({ kind: "opened", cell: resident.id, ok: isOk, loadMs }, text));
    for (const { hop, step } of resident.waiting.splice(0)) {
      if (!hop.isCancelled && !this.#start(hop, step)) this.#resume(hop);
    }
  }

  /* Sending */

  #send(frame: string, link = this.#main): void {
    const outbox = this.#outboxes.get(link);
    if (!outbox) return;
    if (this.#firstUnsentMs === 0) this.#firstUnsentMs = performance.now();
    outbox.push(frame);
  }

  #flush(): void {
    this.#firstUnsentMs = 0;
    for (const [link, outbox] of this.#outboxes) {
      if (outbox.length > 0) link.send(outbox.splice(0));
    }
  }
}

/** CPU time of this thread, which is the cell's while we are inside it. */
function cpuNowUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

function error(code: ErrorCode, params: ErrorParams): string {
  return JSON.stringify({ code, message: errorMessage(code, params) } satisfies ErrorText);
}

function messageOf(errorJson: string): string {
  try {
    return String((JSON.parse(errorJson) as ErrorText).message);
  } catch {
    return "unknown";
  }
}
