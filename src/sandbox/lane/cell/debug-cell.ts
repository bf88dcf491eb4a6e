/**
 * Untrusted side, lane thread: a cell that a debugger can stop. cell.ts enters its isolate synchronously; a breakpoint
 * there would block the lane's thread, the one that has to deliver the message that resumes it. Here every entry is
 * asynchronous: the turn runs on a thread of isolated-vm, and the lane's loop stays free. Only one entry may be under
 * way, and nothing may be called synchronously on the isolate meanwhile: debug-slot.ts queues them. Turns have no time
 * limit; the heap limit holds.
 */
import ivm from "isolated-vm";
import { ENTRY, ERROR_MARK, MAIL_MARK, RETURNED } from "../../../protocol/messages/mail.ts";
import type { Entry as CallEntry } from "./calls.ts";
import { BOOTSTRAP, clocksOf, loadArguments, plainText, scriptOptions, wrapped } from "./cell-load.ts";
import type { CellSpec, GuestCode, LaterTurn, Mail, TurnEnd } from "./cell.ts";
import { DebugSession } from "./debug-session.ts";

type Entry = ivm.Reference<(...args: unknown[]) => unknown>;
type Entries = Record<"dispatch" | "observe" | "mail" | "enter", Entry>;

export class DebugCell {
  readonly #isolate: ivm.Isolate;
  readonly #context: ivm.Context;
  readonly #entries: Entries;
  readonly #spec: CellSpec;
  readonly #library: ivm.ExternalCopy<string>;
  #session: DebugSession | undefined;
  /** Of sessions that the isolate may still be sending through. */
  readonly #endings = new Set<Promise<void>>();
  /** The debugger has ended a turn: the handler will never answer. */
  #isTerminated = false;
  /**
   * V8 has paused because the heap is full, with four times as much of it for the debugger. Past that pause isolated-vm
   * would not notice, and V8 would collect garbage for ever: the turn is ended instead.
   */
  #isFull = false;

  private constructor(isolate: ivm.Isolate, context: ivm.Context, entries: Entries, spec: CellSpec, guest: GuestCode) {
    this.#isolate = isolate;
    this.#context = context;
    this.#entries = entries;
    this.#spec = spec;
    this.#library = guest.library;
  }

  /** An isolate in which only the bootstrap has run. */
  static async make(guest: GuestCode, spec: CellSpec): Promise<DebugCell> {
    // SECURITY: see newIsolate in cell.ts. test/contract/inspect.test.ts
    const isolate = new ivm.Isolate({ memoryLimit: spec.limits.heapMb, inspector: true, onCatastrophicError: () => {} });
    try {
      const context = await isolate.createContext({ inspector: true });
      const script = await isolate.compileScript(guest.bootstrap, { filename: BOOTSTRAP });
      const made = (await script.run(context, { reference: true })) as ivm.Reference<Record<string, Entry>>;
      const entry = (name: string): Entry => made.getSync(name, { reference: true }) as unknown as Entry;
      // SECURITY: look all of them up before plugin code runs, as cell.ts does. test/sandbox/lane/cell/cell.test.ts
      const entries = { dispatch: entry("dispatch"), observe: entry("observe"), mail: entry("mail"), enter: entry("enter") };
      return new DebugCell(isolate, context, entries, spec, guest);
    } catch (error) {
      if (!isolate.isDisposed) isolate.dispose();
      throw error;
    }
  }

  /** The debugger has ended a turn: this one, or the next. */
  get isTerminated(): boolean {
    return this.#isTerminated;
  }

  /** CPU time of the isolate so far, without the time that it was paused. Only between turns. */
  get cpuUs(): number {
    return this.#isolate.isDisposed ? 0 : Number(this.#isolate.cpuTime / 1000n);
  }

  async load(volume: string | undefined): Promise<TurnEnd> {
    let factory: ivm.Reference;
    try {
      const script = await this.#isolate.compileScript(wrapped(this.#spec.code), scriptOptions(this.#spec.plugin));
      factory = await script.run(this.#context, { reference: true });
    } catch (error) {
      return this.#endedBy("broken", error);
    }
    const args = loadArguments(this.#spec, factory.derefInto(), this.#library.copyInto(), volume);
    // SECURITY: see `load` in cell.ts. test/escape/clock.test.ts
    for (const clock of clocksOf(this.#spec)) args.push(new ivm.Callback(clock));
    return this.#enter(this.#entries.enter, args);
  }

  async call(entry: CallEntry, call: number, event: string, context: string): Promise<TurnEnd> {
    if (entry.as !== "sync") return this.#enter(this.#entries[entry.as === "result" ? "dispatch" : "observe"], [call, event, context]);
    this.#session?.skipPauses(true);
    const end = await this.#enter(this.#entries.enter, [ENTRY.dispatchSync, call, event, context, entry.echo]);
    this.#session?.skipPauses(false);
    return end;
  }

  enterLater(turn: LaterTurn): Promise<TurnEnd> {
    return this.#enter(this.#entries.enter, turn);
  }

  async abandon(call: number): Promise<void> {
    await this.#enter(this.#entries.enter, [ENTRY.abandon, call]);
  }

  /** Empties the mailbox. After an abnormal end of a turn it takes another entry, as in cell.ts. */
  async mail(isAfterFault: boolean): Promise<Mail> {
    try {
      const args = isAfterFault ? [ENTRY.drainMail, false] : [];
      const text = await this.#entries[isAfterFault ? "enter" : "mail"].apply(undefined, args as never);
      return { isFine: true, text: typeof text === "string" ? text : undefined };
    } catch {
      return { isFine: false };
    }
  }

  /** Opens the debugger's session; what the isolate says goes to `said`. */
  attach(said: (message: string) => void): void {
    this.detach();
    if (this.#isolate.isDisposed) return;
    this.#session = new DebugSession(
      this.#isolate.createInspectorSession(),
      () => this.#isolate.isDisposed,
      (message) => {
        this.#isFull ||= message.startsWith(PAUSED) && message.includes(OOM);
        said(message);
      },
    );
  }

  /** Ends the session. A paused turn goes on, or ends if the heap is full. */
  detach(): void {
    const session = this.#session;
    this.#session = undefined;
    if (!session) return;
    const ended = session.end(this.#isFull).then(() => void this.#endings.delete(ended));
    this.#endings.add(ended);
  }

  debug(message: string): void {
    this.#isTerminated ||= message.includes(TERMINATE);
    // Its session ends with the cell; the debugger gets the next one.
    if (this.#isFull && GOES_ON.test(message)) return this.detach();
    if (!this.#isolate.isDisposed) this.#session?.send(message);
  }

  /** The sessions go first: disposing of an isolate that is paused would never return. */
  async dispose(): Promise<void> {
    this.detach();
    await Promise.all(this.#endings);
    if (!this.#isolate.isDisposed) this.#isolate.dispose();
  }

  async #enter(entry: Entry, args: unknown[]): Promise<TurnEnd> {
    let returned: unknown;
    try {
      returned = await entry.apply(undefined, args as never);
    } catch (error) {
      return this.#endedBy("rejection", error);
    }
    if (returned === RETURNED.nothing || returned === RETURNED.nothingButMail) return { end: "nothing" };
    if (returned === RETURNED.pending) return { end: "pending" };
    if (typeof returned !== "string") return { end: "nothing" };
    const text = returned.startsWith(MAIL_MARK) ? returned.slice(1) : returned;
    return text.startsWith(ERROR_MARK) ? { end: "error", text: text.slice(1) } : { end: "result", text };
  }

  #endedBy(end: "broken" | "rejection", error: unknown): TurnEnd {
    if (this.#isFull || (this.#isolate.isDisposed && !this.#isTerminated)) return OUT_OF_MEMORY;
    if (this.#isTerminated) return { end: "timeout", detail: TERMINATED };
    return { end, detail: plainText(error) };
  }
}

/** What a turn is told that the debugger has ended. */
export const TERMINATED = "the debugger ended its turn";
/** Any message that contains it is taken for that command: the worst of it is a cell that is rebuilt. */
const TERMINATE = '"Runtime.terminateExecution"';
const PAUSED = '{"method":"Debugger.paused"';
const OOM = '"reason":"OOM"';
const GOES_ON = /"Debugger\.(?:resume|step\w+|disable|continueToLocation)"/;
const OUT_OF_MEMORY: TurnEnd = { end: "memory", detail: "the heap limit was reached" };
