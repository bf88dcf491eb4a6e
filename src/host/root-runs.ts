/**
 * Trusted side: the latest runs that nobody's plugin has caused, which are nearly all. Of such a run its hook is all there is to remember, so it is kept in rows of a fixed
 * length: an object and an entry of a Map for each, that live until thousands of others have come, cost a call a microsecond in garbage collection.
 */
export interface RootRun {
  readonly hook: string;
  readonly isOver: boolean;
}

export class RootRuns {
  readonly #numbers: Float64Array;
  readonly #hooks: string[];
  readonly #over: Uint8Array;

  /** So many. */
  constructor(size: number) {
    this.#numbers = new Float64Array(size);
    this.#hooks = Array.from({ length: size }, () => "");
    this.#over = new Uint8Array(size);
  }

  /** Gives the run that it takes the place of, if that one still goes on. */
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

  /** False: it is not here. */
  finished(run: number): boolean {
    const at = run % this.#numbers.length;
    if (this.#numbers[at] !== run) return false;
    this.#over[at] = 1;
    return true;
  }
}
