/**
 * Trusted side: who serves a plugin's services. The holder writes its entry anew every second. A host that sees the same revision for five
 * seconds of its own clock takes the entry over, by the revision that it saw. The holder counts from the moment at which it began its last
 * write that was accepted, and gives up a second before another host can take over.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { LIMITS } from "../../protocol/limits.ts";
import type { Bucket } from "../bus.ts";
import { leaseEntry, read } from "../messages.ts";

export interface LeaseOptions {
  /** Undefined: nothing is shared, so this host serves. */
  readonly bucket: () => Promise<Bucket | undefined>;
  readonly key: string;
  readonly holder: string;
  /** Nobody here serves any more: this lease ends. */
  readonly left: () => void;
}

export class Lease {
  readonly #options: LeaseOptions;
  readonly #closed = new AbortController();
  readonly #working: Promise<void>;
  #assigned: ((isMine: boolean) => void) | undefined;
  #isMine = false;
  /** Of the entry that this host has written last. */
  #revision: number | undefined;
  #heldMs = 0;
  /** The entry of another, and since when it is that. */
  #other: { readonly revision: number; readonly sinceMs: number } | undefined;
  #end: NodeJS.Timeout | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#working = this.#work();
  }

  /** A plugin that is loaded again keeps its lease. */
  serve(assigned: (isMine: boolean) => void): () => void {
    this.#assigned = assigned;
    if (this.#isMine) assigned(true);
    return () => {
      if (this.#assigned === assigned) this.#assigned = undefined;
    };
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#working;
  }

  async #work(): Promise<void> {
    const { signal } = this.#closed;
    // Let the caller say first who serves.
    for (await sleep(0); !signal.aborted && this.#assigned !== undefined;) {
      // What cannot be asked now is asked again; the holder's time runs meanwhile.
      await this.#look().catch(() => {});
      await sleep(LIMITS.fleet.renewMs, undefined, { signal, ref: false }).catch(() => {});
    }
    // The host that serves from now on has a lease of its own.
    this.#options.left();
    await this.#giveBack().catch(() => {});
  }

  async #look(): Promise<void> {
    const { key, holder } = this.#options;
    const beganMs = performance.now();
    const bucket = await this.#options.bucket();
    if (bucket === undefined) return this.#hold(Infinity, undefined);
    const found = await bucket.get(key);
    const said = found && read(leaseEntry, Buffer.from(found.bytes).toString());
    const isFree = !said || said.holder === holder || said.holder === "";
    if (found && !isFree) {
      // From when it was read, not from when that began: the holder may have written it meanwhile, and counts from there.
      if (this.#other?.revision !== found.revision) this.#other = { revision: found.revision, sinceMs: performance.now() };
      if (beganMs - this.#other.sinceMs < LIMITS.fleet.leaseMs) return this.#release();
    }
    const written = await bucket.put(key, Buffer.from(JSON.stringify({ holder, at: Date.now() })), found?.revision ?? 0);
    // Another host was first, or this one has read from a server that lags.
    if (written === undefined) return;
    this.#other = undefined;
    this.#hold(beganMs + LIMITS.fleet.leaseMs - LIMITS.fleet.leaseMarginMs, written);
  }

  #hold(untilMs: number, revision: number | undefined): void {
    this.#revision = revision;
    this.#heldMs = untilMs;
    clearTimeout(this.#end);
    if (performance.now() >= untilMs) return this.#release();
    if (untilMs !== Infinity) this.#end = setTimeout(() => this.#release(), untilMs - performance.now()).unref();
    if (this.#isMine) return;
    this.#isMine = true;
    this.#assigned?.(true);
  }

  #release(): void {
    clearTimeout(this.#end);
    if (!this.#isMine) return;
    this.#isMine = false;
    this.#assigned?.(false);
  }

  async #giveBack(): Promise<void> {
    const wasMine = this.#isMine && this.#heldMs > performance.now();
    this.#release();
    if (!wasMine || this.#revision === undefined) return;
    const bucket = await this.#options.bucket();
    await bucket?.put(this.#options.key, Buffer.from(JSON.stringify({ holder: "", at: Date.now() })), this.#revision);
  }
}
