/** Trusted side: the CPU time that a plugin has used within a sliding window (a minute by default), kept in slices. */
import { LIMITS } from "../../protocol/limits.ts";

const SLICES = 6;

export class CpuShare {
  readonly #now: () => number;
  readonly #windowMs: number;
  readonly #slices: number[] = Array.from({ length: SLICES }, () => 0);
  #slice = 0;

  constructor(now: () => number = () => performance.now(), windowMs: number = LIMITS.blame.cpuShareMs) {
    this.#now = now;
    this.#windowMs = windowMs;
  }

  /** Forgets what was charged. */
  clear(): void {
    this.#slices.fill(0);
  }

  /** Adds time; returns the share of one CPU that was used within the window. */
  charge(us: number): number {
    const slice = Math.floor(this.#now() / (this.#windowMs / SLICES));
    for (let old = Math.max(this.#slice + 1, slice - SLICES + 1); old <= slice; old++) this.#slices[old % SLICES] = 0;
    this.#slice = slice;
    this.#slices[slice % SLICES]! += us / 1000;
    return this.#slices.reduce((sum, ms) => sum + ms, 0) / this.#windowMs;
  }
}
