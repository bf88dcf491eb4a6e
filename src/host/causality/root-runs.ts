/**
 * Trusted side: the latest runs that no plugin has caused, which are nearly all. Only the hook of such a run is remembered, so typed arrays of a
 * fixed length hold them: an object and a Map entry per run, alive for thousands of runs, cost a microsecond of garbage collection per call.
 */
export interface RootRun {
  readonly hook: string;
  readonly isOver: boolean;
}

export class RootRuns {
  readonly #numbers: Float64Array;
  readonly #hooks: string[];
  readonly #over: Uint8Array;

  /** `size`: how many runs are remembered. */
  constructor(size: number) {
    this.#numbers = new Float64Array(size);
    this.#hooks = Array.from({ length: size }, () => "");
    this.#over = new Uint8Array(size);
  }

  /** Returns the run whose place it takes, if that one is still in flight. */
  add(run: number, hook: string): (RootRun & { readonly run: number }) | undefined {
    const at = run % this.#numbers.length;
    const before = this.#numbers[at]!;
    const displaced = before !== 0 && this.#over[at] === 0 ? { run: before, hook: this.#hooks[at]!, isOver: false } : undefined;
    this.#numbers[at] = run;
    this.#hooks[at] = hook;
    this.#over[at] = 0;
    return displaced;
  }

  get(run: number): RootRun | undefined {
    const at = run % this.#numbers.length;
    return run !== 0 && this.#numbers[at] === run ? { hook: this.#hooks[at]!, isOver: this.#over[at] === 1 } : undefined;
  }

  /** False: the run is not remembered here. */
  finished(run: number): boolean {
    const at = run % this.#numbers.length;
    if (this.#numbers[at] !== run) return false;
    this.#over[at] = 1;
    return true;
  }
}
