/** Untrusted side, lane thread: what a cell has set going outside of itself: timers, and questions to the host. Each belongs to the call that started it. */

export class Errands {
  readonly #timers = new Map<number, { handle: NodeJS.Timeout; call: number }>();
  /** By a number that is never used twice: the cell that asked may have been replaced. */
  readonly #asks = new Map<number, { question: number; call: number }>();
  #nextAsk = 1;

  startTimer(timer: number, ms: number, call: number, due: (timer: number, call: number) => void): void {
    this.stopTimer(timer);
    const handle = setTimeout(() => {
      this.#timers.delete(timer);
      due(timer, call);
    }, ms);
    this.#timers.set(timer, { handle, call });
  }

  stopTimer(timer: number): void {
    clearTimeout(this.#timers.get(timer)?.handle);
    this.#timers.delete(timer);
  }

  /** The number to ask by. */
  ask(question: number, call: number): number {
    const ask = this.#nextAsk++;
    this.#asks.set(ask, { question, call });
    return ask;
  }

  /** What was asked, once; undefined when it is an earlier cell's. */
  told(ask: number): { question: number; call: number } | undefined {
    const asked = this.#asks.get(ask);
    this.#asks.delete(ask);
    return asked;
  }

  stop(): void {
    for (const { handle } of this.#timers.values()) clearTimeout(handle);
    this.#timers.clear();
    this.#asks.clear();
  }
}
