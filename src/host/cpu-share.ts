/** Trusted side: how much CPU time a plugin has taken over the last minute, in slices that are forgotten one by one. */
import { LIMITS } from "../protocol/limits.ts";

const SLICES = 6;
const SLICE_MS = LIMITS.cpuShareMs / SLICES;

export class CpuShare {
  readonly #now: () => number;
  readonly #slices: number[] = Array.from({ length: SLICES }, () => 0);
  #slice = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Gives the share of one CPU that was taken over the last minute. */
  charge(us: number): number {
    const slice = Math.floor(this.#now() / SLICE_MS);
    for (let old = Math.max(this.#slice + 1, slice - SLICES + 1); old <= slice; old++) this.#slices[old % SLICES] = 0;
    this.#slice = slice;
    this.#slices[slice % SLICES]! += us / 1000;
    return this.#slices.reduce((sum, ms) => sum + ms, 0) / LIMITS.cpuShareMs;
  }
}
