/** How many threads want each core while something is measured: the load of the last minute says what was, this says what is. */
import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { median } from "../../src/cli/bench/statistics.ts";

/** What is measured keeps two threads awake by itself, and a compiler now and then. */
const OWN = 2;
/** One more than there is room for: somebody else is at work. */
const SPARE = 1;

export class Weather {
  readonly #looks: number[] = [];
  readonly #cores = availableParallelism();

  look(): void {
    this.#looks.push(runnable());
  }

  /** Threads that wanted to run, in the middle of all looks. */
  get threads(): number {
    return this.#looks.length === 0 ? 0 : median(this.#looks);
  }

  get isCrowded(): boolean {
    return this.threads > Math.max(OWN, this.#cores) + SPARE;
  }
}

function runnable(): number {
  try {
    return Number(readFileSync("/proc/loadavg", "utf8").split(" ")[3]!.split("/")[0]);
  } catch {
    // Only Linux says it.
    return loadavg()[0]!;
  }
}
