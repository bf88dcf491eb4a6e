/**
 * Untrusted side, lane thread: one isolate with one plugin. The one file that imports isolated-vm. It enters the isolate
 * synchronously, always with a timeout where plugin code can run, and gives back text and numbers; whatever isolated-vm
 * throws is classified by clocks and flags of our own, never by its message, which a plugin can imitate.
 */
import ivm from "isolated-vm";
import { TURN_OF } from "../protocol/gauge.ts";
import type { Gauge } from "../protocol/gauge.ts";
import { LIMITS, turnMs } from "../protocol/limits.ts";
import type { PluginLimits } from "../protocol/plugin-limits.ts";
import { ENTRY, ERROR_MARK, MAIL_MARK, RETURNED } from "../protocol/mail.ts";
import { LIBRARY_MARK } from "../protocol/surface.ts";

export type TurnEnd =
  /** The handler returned nothing, or a promise that is still pending. */
  | { end: "nothing" | "pending" }
  | { end: "result" | "error"; text: string }
  /** The turn had to be terminated, or the isolate is gone: the cell must be replaced. */
  | { end: "timeout" | "memory" | "broken"; detail: string }
  /** The code returned, but isolated-vm reports a rejection nobody handled; the answer, if any, is in the last words. */
  | { end: "rejection"; detail: string };

export interface CellSpec {
  /** As the host numbers it. */
  cell: number;
  plugin: string;
  limits: PluginLimits;
  /** The bundle: the body of a CommonJS module. */
  code: string;
  /** GuestFacts, as JSON. */
  facts: string;
  /** The plugin's own files, as JSON; empty: it cannot read them. */
  files?: string | undefined;
  /** Is it to be told, whenever it is built, what is in its volume? */
  hasVolume?: boolean;
  /** Does it get an exact clock? */
  hasFineClock: boolean;
}

/** Text, if there was any; not fine: the cell is no good any more. */
export interface Mail {
  readonly isFine: boolean;
  readonly text?: string | undefined;
}

type Entry = ivm.Reference<(...args: unknown[]) => unknown>;

const NOTHING: TurnEnd = { end: "nothing" };
const PENDING: TurnEnd = { end: "pending" };
const NO_MAIL: Mail = { isFine: false };
const SILENCE: Mail = { isFine: true };
const BOOTSTRAP = "creel:guest";
const BOOTSTRAP_RUN = { reference: true, timeout: turnMs(LIMITS.loadCpuMs) } as const;
const WRAPPER = ["(function (exports, module, require) {", "\n})"] as const;

/** What all cells of a lane are made of. The bootstrap is compiled once; later cells start from the code cache. Of the library's text there is one copy, outside of all heaps. */
export class GuestCode {
  readonly bootstrap: string;
  readonly library: ivm.ExternalCopy<string>;
  cache: ivm.ExternalCopy<ArrayBuffer> | undefined;

  /** As `guestCode` of the host gives it. */
  constructor(text: string) {
    const [bootstrap, library = ""] = text.split(LIBRARY_MARK);
    this.bootstrap = bootstrap!;
    this.library = new ivm.ExternalCopy(library);
  }
}

/** A cell before its plugin: an isolate in which only our bootstrap has run. Any plugin may get it. */
export class Blank {
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

  static make(guest: GuestCode, heapMb: number): Blank {
    const isolate = newIsolate(heapMb);
    const context = isolate.createContextSync();
    const script = isolate.compileScriptSync(guest.bootstrap, {
      filename: BOOTSTRAP,
      ...(guest.cache ? { cachedData: guest.cache } : { produceCachedData: true }),
    });
    guest.cache ??= (script as ivm.Script & ivm.CachedDataResult).cachedData;
    return new Blank(heapMb, isolate, context, script.runSync(context, BOOTSTRAP_RUN) as never);
  }

  /** As `make`, all but the isolate itself on a thread of isolated-vm's. See Nursery for when that may be. */
  static async cook(guest: GuestCode, heapMb: number): Promise<Blank> {
    if (!guest.cache) return Blank.make(guest, heapMb);
    const isolate = newIsolate(heapMb);
    try {
      const made = isolate.createContext();
      const compiled = isolate.compileScript(guest.bootstrap, { filename: BOOTSTRAP, cachedData: guest.cache });
      const [context, script] = await Promise.all([made, compiled]);
      return new Blank(heapMb, isolate, context, (await script.run(context, BOOTSTRAP_RUN)) as never);
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
    // SECURITY: without a listener V8 aborts the whole process on some out-of-memory paths. test/contract/budgets.test.ts
    onCatastrophicError: () => {},
  });
}

export class Cell {
  readonly #isolate: ivm.Isolate;
  readonly #dispatch: Entry;
  readonly #observe: Entry;
  readonly #mail: Entry;
  /** All others, by number. */
  readonly #other: Entry;
  readonly #spec: CellSpec;
  readonly #gauge: Gauge;
  readonly #context: ivm.Context;
  readonly #library: ivm.ExternalCopy<string>;
  readonly #timed = { timeout: 0 };
  /** The last turn left mail before it returned; it may have left more since. */
  hasMail = false;
  /** It had no last words: asking again would take as long again. */
  #isMute = false;

  constructor(guest: GuestCode, spec: CellSpec, gauge: Gauge, blank = Blank.make(guest, spec.limits.heapMb)) {
    this.#spec = spec;
    this.#gauge = gauge;
    this.#library = guest.library;
    this.#isolate = blank.isolate;
    this.#context = blank.context;
    // SECURITY: all of them before plugin code runs: looking one up has no clock on it, and lets whatever microtask waits run. test/sandbox/cell.test.ts
    this.#dispatch = blank.entry("dispatch");
    this.#observe = blank.entry("observe");
    this.#mail = blank.entry("mail");
    this.#other = blank.entry("enter");
  }

  get isGone(): boolean {
    return this.#isolate.isDisposed;
  }

  /** `volume` is a SentVolume, as JSON. */
  load(timeoutMs: number, volume?: string): TurnEnd {
    let factory: ivm.Reference;
    try {
      // Compiling cannot be interrupted.
      this.#gauge.attribute(0, TURN_OF.load);
      this.#gauge.enter(this.#spec.cell, timeoutMs);
      const script = this.#isolate.compileScriptSync(WRAPPER[0] + this.#spec.code + WRAPPER[1], {
        filename: `creel:plugin/${this.#spec.plugin}.js`,
        columnOffset: -WRAPPER[0].length,
      });
      // Evaluates to the function; nothing of the plugin runs yet.
      factory = script.runSync(this.#context, { reference: true, timeout: timeoutMs });
    } catch (error) {
      return { end: "broken", detail: plainText(error) };
    } finally {
      this.#gauge.leave();
    }
    this.#gauge.attribute(0, TURN_OF.load);
    const { facts, limits, files } = this.#spec;
    const args: unknown[] = [ENTRY.load, factory.derefInto(), facts, JSON.stringify(limits), newSeed(), this.#library.copyInto()];
    args.push(files || undefined, volume);
    // SECURITY: the one function of ours that a cell can get. It takes nothing, gives a number and cannot throw. test/escape/clock.test.ts
    if (this.#spec.hasFineClock) args.push(new ivm.Callback(now));
    return this.#enter(this.#other, args, timeoutMs);
  }

  dispatch(call: number, event: string, context: string, timeoutMs: number): TurnEnd {
    return this.#enter(this.#dispatch, [call, event, context], timeoutMs);
  }

  /** Calls that share a turn: number, event and context of each. The result is mail. */
  together(calls: readonly (number | string)[], timeoutMs: number): TurnEnd {
    return this.#enter(this.#other, [ENTRY.together, ...calls], timeoutMs);
  }

  observe(call: number, event: string, context: string, timeoutMs: number): TurnEnd {
    return this.#enter(this.#observe, [call, event, context], timeoutMs);
  }

  dispatchSync(call: number, event: string, context: string, timeoutMs: number, echo: string | undefined): TurnEnd {
    return this.#enter(this.#other, [ENTRY.dispatchSync, call, event, context, echo], timeoutMs);
  }

  invoke(call: number, handle: number, argument: string, timeoutMs: number): TurnEnd {
    return this.#enter(this.#other, [ENTRY.invoke, call, handle, argument], timeoutMs);
  }

  tick(timer: number, timeoutMs: number): TurnEnd {
    return this.#enter(this.#other, [ENTRY.tick, timer], timeoutMs);
  }

  tell(question: number, isOk: boolean, text: string, timeoutMs: number): TurnEnd {
    return this.#enter(this.#other, [ENTRY.tell, question, isOk, text], timeoutMs);
  }

  /** Forgets a call that ran out of time, and what it had scheduled. False: the cell is no good any more. */
  abandon(call: number): boolean {
    return this.#briefly([ENTRY.abandon, call]).isFine;
  }

  /**
   * What the plugin left for the lane; undefined: nothing. No clock on it: it concatenates strings of ours, no plugin code can
   * run meanwhile, and the turn before it has left no microtask behind.
   */
  mail(): Mail {
    // SECURITY: nothing in the guest's mailbox may call what a plugin can replace. test/escape/prototypes.test.ts
    this.#gauge.enter(this.#spec.cell, LIMITS.mailMs);
    try {
      return { isFine: true, text: this.#mail.applySync(undefined, []) as string | undefined };
    } catch {
      // The heap is full: there is no room for the text.
      return NO_MAIL;
    } finally {
      this.#gauge.leave();
    }
  }

  /** As `mail`, after a turn that did not end well: whatever it left behind may run again. */
  lastWords(isShared = false): Mail {
    if (this.#isMute || this.#isolate.isDisposed) return SILENCE;
    const words = this.#briefly([ENTRY.lastWords, isShared]);
    this.#isMute = !words.isFine;
    return words;
  }

  dispose(): void {
    if (!this.#isolate.isDisposed) this.#isolate.dispose();
  }

  #enter(entry: Entry, args: unknown[], timeoutMs: number): TurnEnd {
    this.#timed.timeout = Math.max(1, Math.ceil(timeoutMs));
    const started = performance.now();
    let returned: unknown;
    this.#gauge.enter(this.#spec.cell, timeoutMs);
    try {
      returned = entry.applySync(undefined, args as never, this.#timed);
    } catch (error) {
      return this.#classify(error, performance.now() - started);
    } finally {
      this.#gauge.leave();
    }
    this.hasMail = false;
    if (returned === RETURNED.nothing) return NOTHING;
    if (returned === RETURNED.pending) return PENDING;
    this.hasMail = returned === RETURNED.nothingButMail || (typeof returned === "string" && returned[0] === MAIL_MARK);
    if (returned === RETURNED.nothingButMail) return NOTHING;
    if (typeof returned !== "string") return { end: "broken", detail: "the bootstrap answered out of turn" };
    const text = this.hasMail ? returned.slice(1) : returned;
    return text[0] === ERROR_MARK ? { end: "error", text: text.slice(1) } : { end: "result", text };
  }

  /** Runs a few string operations of ours. No plugin code should be able to run here; there is a clock on it all the same. */
  #briefly(args: unknown[]): Mail {
    this.#timed.timeout = LIMITS.mailMs;
    this.#gauge.enter(this.#spec.cell, LIMITS.mailMs);
    try {
      return { isFine: true, text: this.#other.applySync(undefined, args as never, this.#timed) as string | undefined };
    } catch {
      return NO_MAIL;
    } finally {
      this.#gauge.leave();
    }
  }

  #classify(error: unknown, elapsedMs: number): TurnEnd {
    if (this.#isolate.isDisposed) return { end: "memory", detail: "the heap limit was reached" };
    if (elapsedMs >= this.#timed.timeout) return { end: "timeout", detail: "the turn was terminated" };
    return { end: "rejection", detail: plainText(error) };
  }
}

const SEED_CHARS = 64;
let seeds = "";

/** 32 random bytes in hexadecimal. OpenSSL takes as long for one as for many: a hundredth of a cell's start. */
function newSeed(): string {
  if (seeds === "")
    seeds = process
      .getBuiltinModule("node:crypto")
      .randomBytes(SEED_CHARS * 32)
      .toString("hex");
  const seed = seeds.slice(-SEED_CHARS);
  seeds = seeds.slice(0, -SEED_CHARS);
  return seed;
}

/** isolated-vm takes no bound functions. */
const now = (): number => performance.now();

/** isolated-vm copies what a guest threw: any primitive may arrive here. */
function plainText(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.slice(0, LIMITS.errorMessageChars);
}
