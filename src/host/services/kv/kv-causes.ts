/**
 * Trusted side: causes that pass through `api.kv`. A handler writes, a timer reads and patches, the patch calls the
 * handler: without this file, every round would be a new root cause. So an entry remembers for a while the chain of the
 * run that wrote it last, and a reader may have to continue that chain; causes.ts decides when. What a run from outside
 * wrote has no chain to remember.
 */
import { LIMITS } from "../../../protocol/limits.ts";
import type { Causes, Chain } from "../../causality/causes.ts";

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

  /** A deletion counts as a write: a reader can see that the entry is gone. */
  wrote(plugin: string, run: number, key: string): void {
    const chain = this.#causes.origin(run, plugin);
    let entries = this.#written.get(plugin);
    entries?.delete(key);
    if (!chain || chain.depth === 0) return;
    if (!entries) this.#written.set(plugin, (entries = new Map()));
    const nowMs = this.#now();
    entries.set(key, { chain, untilMs: nowMs + LIMITS.kv.causeMs });
    for (const [old, { untilMs }] of entries) {
      if (untilMs > nowMs && entries.size <= LIMITS.kv.causes) break;
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
