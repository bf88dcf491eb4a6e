/** How many threads want each core while something is measured: the load of the last minute says what was, this says what is. */
import { readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { median } from "../../src/cli/bench/statistics.ts";

export class Weather {
  readonly #looks: number[] = [];
  readonly #cores = availableParallelism();

  look(): void {
    this.#looks.push(runnable());
  }

  /** Threads per core that wanted to run, in the middle of all looks. */
  get crowd(): number {
    return this.#looks.length === 0 ? 0 : median(this.#looks) / this.#cores;
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
