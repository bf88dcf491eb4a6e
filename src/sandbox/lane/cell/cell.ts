/**
 * Untrusted side, lane thread: a cell is one isolate with one plugin. The one file that imports isolated-vm, beside
 * stopper.ts and debug-cell.ts (for plugins that are inspected). It enters the isolate synchronously, with a timeout wherever plugin code can run, and returns text and numbers. It classifies
 * errors of isolated-vm by its own clocks and flags, never by their messages, which a plugin can imitate.
 */
import ivm from "isolated-vm";
import { TURN_OF } from "../../../transport/lane-status.ts";
import type { LaneStatus } from "../../../transport/lane-status.ts";
import { LIMITS, turnMs } from "../../../protocol/limits.ts";
import type { PluginLimits } from "../../../protocol/config/plugin-limits.ts";
import { ENTRY, ERROR_MARK, MAIL_MARK, RETURNED } from "../../../protocol/messages/mail.ts";
import { LIBRARY_MARK } from "../../../protocol/guest-surface/surface.ts";
import { BOOTSTRAP, clocksOf, loadArguments, plainText, scriptOptions, wrapped } from "./cell-load.ts";
import { noteCopied } from "./garbage.ts";
import { beginTurn, endTurn, forgetCell } from "./memory-growth.ts";
import type { Stopper } from "./stopper.ts";

export type TurnEnd =
  /** The handler returned nothing, or its promise is pending. */
  | { end: "nothing" | "pending" }
  | { end: "result" | "error"; text: string }
  /** V8 terminated the turn, or the isolate is gone: the cell must be replaced. */
  | { end: "timeout" | "cpu" | "memory" | "broken"; detail: string }
  /**
   * The turn ended with an unhandled rejection, which isolated-vm throws. The answer, if there is one, comes from
   * `drainMail`.
   */
  | { end: "rejection"; detail: string };

export interface CellSpec {
  /** The host's number of the slot. */
  cell: number;
  plugin: string;
  limits: PluginLimits;
  /** The bundle: the body of a CommonJS module. */
  code: string;
  /** GuestFacts, as JSON. */
  facts: string;
  /** The plugin's own files, as JSON; empty: it may not read them. */
  files?: string | undefined;
  /** Does every new cell get the files of the plugin's volume? */
  hasVolume?: boolean;
  /** Does it get an exact clock? */
  hasFineClock: boolean;
  /** In an author's test: the time that the plugin sees, in milliseconds since 1970. */
  date?: (() => number) | undefined;
}

/** A turn that no call starts, as the arguments of `enter`: a timer, a response, a function that the plugin handed out. */
export type LaterTurn =
  | [entry: typeof ENTRY.tick, timer: number]
  | [entry: typeof ENTRY.response, request: number, isOk: boolean, text: string]
  | [entry: typeof ENTRY.invoke, call: number, handle: number, argument: string];

/** `text` is undefined if there was no mail. Not fine: the cell cannot be used any more. */
export interface Mail {
  readonly isFine: boolean;
  readonly text?: string | undefined;
}

type Entry = ivm.Reference<(...args: unknown[]) => unknown>;

const NOTHING: TurnEnd = { end: "nothing" };
const PENDING: TurnEnd = { end: "pending" };
const NO_MAIL: Mail = { isFine: false };
const SILENCE: Mail = { isFine: true };
const BOOTSTRAP_RUN = { reference: true, timeout: turnMs(LIMITS.call.loadCpuMs) } as const;

/**
 * The guest's own code, for all cells of a lane. The bootstrap is compiled once; later cells use the code cache. There
 * is one copy of the library's text, outside of all heaps.
 */
export class GuestCode {
  readonly bootstrap: string;
  readonly library: ivm.ExternalCopy<string>;
  cache: ivm.ExternalCopy<ArrayBuffer> | undefined;

  /** `text` comes from `guestCode` (bundler/guest-code.ts). */
  constructor(text: string) {
    const [bootstrap, library = ""] = text.split(LIBRARY_MARK);
    this.bootstrap = bootstrap!;
    this.library = new ivm.ExternalCopy(library);
  }
}

/** A cell without a plugin: an isolate in which only the bootstrap has run. Any plugin may get it. */
export class EmptyCell {
  readonly heapMb: number;
  readonly isolate: ivm.Isolate;
  readonly context: ivm.Context;
  readonly #entries: ivm.Reference<Record<string, Entry>>;

  private constructor(heapMb: number, isolate: ivm.Isolate, context: ivm.Context, entries: ivm.Reference<Record<string, Entry>>) {
    this.heapMb = heapMb;
    this.isolate = isolate;
    this.context = context;
    this.#entries = entries;
  }

  static make(guest: GuestCode, heapMb: number): EmptyCell {
    const isolate = newIsolate(heapMb);
    const context = isolate.createContextSync();
    const script = isolate.compileScriptSync(guest.bootstrap, {
      filename: BOOTSTRAP,
      ...(guest.cache ? { cachedData: guest.cache } : { produceCachedData: true }),
    });
    guest.cache ??= (script as ivm.Script & ivm.CachedDataResult).cachedData;
    return new EmptyCell(heapMb, isolate, context, script.runSync(context, BOOTSTRAP_RUN) as never);
  }

  /**
   * Like `make`, but everything except creating the isolate runs on a thread of isolated-vm. Prewarm says when that is
   * allowed.
   */
  static async makeAsync(guest: GuestCode, heapMb: number): Promise<EmptyCell> {
    if (!guest.cache) return EmptyCell.make(guest, heapMb);
    const isolate = newIsolate(heapMb);
    try {
      const made = isolate.createContext();
      const compiled = isolate.compileScript(guest.bootstrap, { filename: BOOTSTRAP, cachedData: guest.cache });
      const [context, script] = await Promise.all([made, compiled]);
      return new EmptyCell(heapMb, isolate, context, (await script.run(context, BOOTSTRAP_RUN)) as never);
    } catch (error) {
      if (!isolate.isDisposed) isolate.dispose();
      throw error;
    }
  }

  entry(name: string): Entry {
    return this.#entries.getSync(name, { reference: true }) as unknown as Entry;
  }

  dispose(): void {
    if (!this.isolate.isDisposed) this.isolate.dispose();
  }
}

function newIsolate(heapMb: number): ivm.Isolate {
  return new ivm.Isolate({
    memoryLimit: heapMb,
    // SECURITY: without a listener V8 aborts the whole process on some out-of-memory paths.
    // test/contract/budgets.test.ts
    onCatastrophicError: () => {},
  });
}

export class Cell {
  readonly #isolate: ivm.Isolate;
  readonly #dispatch: Entry;
  readonly #observe: Entry;
  readonly #mail: Entry;
  /** All other entries, by number. */
  readonly #other: Entry;
  readonly #spec: CellSpec;
  readonly #laneStatus: LaneStatus;
  readonly #context: ivm.Context;
  readonly #library: ivm.ExternalCopy<string>;
  readonly #timed = { timeout: 0 };
  /** CPU time in milliseconds that the next turn may use. */
  budgetMs = Infinity;
  /** The last turn left mail before it returned. Microtasks may have left more since. */
  hasMail = false;
  /** `drainMail` has failed: a second attempt would take as long again. */
  #isMute = false;
  /** The last turn ended by itself, so it has left no microtask behind. */
  #isSettled = false;

  constructor(guest: GuestCode, spec: CellSpec, laneStatus: LaneStatus, empty = EmptyCell.make(guest, spec.limits.heapMb)) {
    this.#spec = spec;
    this.#laneStatus = laneStatus;
    laneStatus.forgetStop(spec.cell);
    this.#library = guest.library;
    this.#isolate = empty.isolate;
    this.#context = empty.context;
    // SECURITY: look all of them up before plugin code runs: a lookup has no timeout, and it runs pending microtasks.
    // test/sandbox/lane/cell/cell.test.ts
    this.#dispatch = empty.entry("dispatch");
    this.#observe = empty.entry("observe");
    this.#mail = empty.entry("mail");
    this.#other = empty.entry("enter");
  }

  /** Registers the isolate with the stopper, which can end its turns from another thread. */
  guardBy(stopper: Stopper): void {
    stopper.add(this.#spec.cell, this.#isolate);
  }

  get isGone(): boolean {
    return this.#isolate.isDisposed;
  }

  /** Memory of its heap and of buffers outside it; undefined: it cannot be asked now. Asking takes 2.4 µs: not per call. */
  heapBytes(): number | undefined {
    // SECURITY: this has no timeout, and it runs microtasks that a stopped turn has left behind.
    // test/sandbox/lane/cell/cell.test.ts
    if (!this.#isSettled || this.#isolate.isDisposed) return undefined;
    this.#laneStatus.enter(this.#spec.cell, LIMITS.call.mailMs);
    try {
      const { used_heap_size: heap, externally_allocated_size: outside } = this.#isolate.getHeapStatisticsSync();
      return heap + outside;
    } finally {
      this.#laneStatus.leave();
    }
  }

  /** `volume` is a SentVolume, as JSON. */
  load(timeoutMs: number, volume?: string): TurnEnd {
    let factory: ivm.Reference;
    try {
      // V8 cannot interrupt compiling, so the lane status must show the cell.
      this.#laneStatus.attribute(0, TURN_OF.load);
      this.#laneStatus.enter(this.#spec.cell, timeoutMs, this.budgetMs);
      const script = this.#isolate.compileScriptSync(wrapped(this.#spec.code), scriptOptions(this.#spec.plugin));
      // Evaluates to the wrapper function; no plugin code runs yet.
      factory = script.runSync(this.#context, { reference: true, timeout: timeoutMs });
    } catch (error) {
      return { end: "broken", detail: plainText(error) };
    } finally {
      this.#laneStatus.leave();
    }
    this.#laneStatus.attribute(0, TURN_OF.load);
    const args = loadArguments(this.#spec, factory.derefInto(), this.#library.copyInto(), volume);
    // SECURITY: the only host functions that a cell can get. They take no arguments, return a number and cannot throw.
    // test/escape/clock.test.ts
    for (const clock of clocksOf(this.#spec)) args.push(new ivm.Callback(clock));
    return this.#enter(this.#other, args, timeoutMs);
  }

  dispatch(call: number, event: string, context: string, timeoutMs: number): TurnEnd {
    return this.#enter(this.#dispatch, [call, event, context], timeoutMs);
  }

  observe(call: number, event: string, context: string, timeoutMs: number): TurnEnd {
    return this.#enter(this.#observe, [call, event, context], timeoutMs);
  }

  dispatchSync(call: number, event: string, context: string, timeoutMs: number, echo: string | undefined): TurnEnd {
    return this.#enter(this.#other, [ENTRY.dispatchSync, call, event, context, echo], timeoutMs);
  }

  /** A turn that no call starts. */
  enterLater(turn: LaterTurn, timeoutMs: number): TurnEnd {
    return this.#enter(this.#other, turn, timeoutMs);
  }

  /** Makes the guest forget a call and what it has scheduled. False: the cell cannot be used any more. */
  abandon(call: number): boolean {
    return this.#briefly([ENTRY.abandon, call]).isFine;
  }

  /**
   * Empties the mailbox. It has no timeout: the guest only concatenates its own strings, no plugin code can run
   * meanwhile, and the turn before has left no microtask behind.
   */
  mail(): Mail {
    // SECURITY: the guest's mailbox calls nothing that a plugin can replace. test/escape/prototypes.test.ts
    this.#laneStatus.enter(this.#spec.cell, LIMITS.call.mailMs);
    try {
      return mailOf(this.#mail.applySync(undefined, []));
    } catch {
      // The heap is full: the text does not fit.
      return NO_MAIL;
    } finally {
      this.#laneStatus.leave();
    }
  }

  /** Like `mail`, but with a timeout: after an abnormal end of a turn, code that it left behind may run. */
  drainMail(): Mail {
    if (this.#isMute || this.#isolate.isDisposed) return SILENCE;
    const mail = this.#briefly([ENTRY.drainMail]);
    this.#isMute = !mail.isFine;
    return mail;
  }

  dispose(): void {
    if (!this.#isolate.isDisposed) this.#isolate.dispose();
    forgetCell(this.#spec.cell);
  }

  #enter(entry: Entry, args: unknown[], timeoutMs: number): TurnEnd {
    this.#timed.timeout = Math.max(1, Math.ceil(timeoutMs));
    const started = performance.now();
    let returned: unknown;
    const { isTight } = this.#laneStatus;
    if (isTight) beginTurn();
    this.#isSettled = false;
    this.#laneStatus.enter(this.#spec.cell, timeoutMs, this.budgetMs, started);
    try {
      returned = entry.applySync(undefined, args as never, this.#timed);
    } catch (error) {
      return this.#classify(error, performance.now() - started);
    } finally {
      this.#laneStatus.leave();
      if (isTight) endTurn(this.#spec.cell, this.#laneStatus);
    }
    this.#isSettled = true;
    this.hasMail = false;
    if (returned === RETURNED.nothing) return NOTHING;
    if (returned === RETURNED.pending) return PENDING;
    this.hasMail = returned === RETURNED.nothingButMail || (typeof returned === "string" && returned[0] === MAIL_MARK);
    if (returned === RETURNED.nothingButMail) return NOTHING;
    if (typeof returned !== "string") return { end: "broken", detail: "the bootstrap gave an unexpected answer" };
    noteCopied(returned.length);
    const text = this.hasMail ? returned.slice(1) : returned;
    return text[0] === ERROR_MARK ? { end: "error", text: text.slice(1) } : { end: "result", text };
  }

  /**
   * Runs a few string operations of the guest. Plugin code should not be able to run here, but there is a timeout all
   * the same.
   */
  #briefly(args: unknown[]): Mail {
    this.#timed.timeout = LIMITS.call.mailMs;
    this.#laneStatus.enter(this.#spec.cell, LIMITS.call.mailMs);
    try {
      return mailOf(this.#other.applySync(undefined, args as never, this.#timed));
    } catch {
      this.#isSettled = false;
      return NO_MAIL;
    } finally {
      this.#laneStatus.leave();
    }
  }

  #classify(error: unknown, elapsedMs: number): TurnEnd {
    if (this.#isolate.isDisposed) {
      if (this.#laneStatus.isStopped(this.#spec.cell)) return { end: "cpu", detail: "the turn was stopped" };
      return { end: "memory", detail: "the heap limit was reached" };
    }
    if (elapsedMs >= this.#timed.timeout) return { end: "timeout", detail: "the turn was terminated" };
    return { end: "rejection", detail: plainText(error) };
  }
}

function mailOf(text: unknown): Mail {
  if (text !== undefined) noteCopied((text as string).length);
  return { isFine: true, text: text as string | undefined };
}
