/**
 * Trusted side: causes that go through a store. A handler writes, a timer reads and patches, the patch calls the handler: without this, every
 * round would be a new beginning. So an entry remembers for a while the chain of the run that it was last written in, and who reads it may have to
 * go on from there; when, is decided in causes.ts. What a run from outside wrote has no chain to remember.
 */
import { LIMITS } from "../../protocol/limits.ts";
import type { Causes, Chain } from "../causes.ts";

interface Written {
  readonly chain: Chain;
  readonly untilMs: number;
}

export class KvCauses {
  readonly #causes: Causes;
  readonly #now: () => number;
  /** By plugin and key, the oldest first. */
  readonly #written = new Map<string, Map<string, Written>>();

  constructor(causes: Causes, now: () => number = () => performance.now()) {
    this.#causes = causes;
    this.#now = now;
  }

  /** A deleted entry is written, too: that it is gone can be read. */
  wrote(plugin: string, run: number, key: string): void {
    const chain = this.#causes.origin(run, plugin);
    let entries = this.#written.get(plugin);
    entries?.delete(key);
    if (!chain || chain.depth === 0) return;
    if (!entries) this.#written.set(plugin, (entries = new Map()));
    const nowMs = this.#now();
    entries.set(key, { chain, untilMs: nowMs + LIMITS.kvCauseMs });
    for (const [old, { untilMs }] of entries) {
      if (untilMs > nowMs && entries.size <= LIMITS.kvCauses) break;
      entries.delete(old);
    }
  }

  read(plugin: string, run: number, keys: readonly string[]): void {
    const entries = this.#written.get(plugin);
    if (!entries || entries.size === 0) return;
    for (const key of keys) {
      const written = entries.get(key);
      if (written && written.untilMs > this.#now()) this.#causes.join(run, plugin, written.chain, written.untilMs);
    }
  }
}
