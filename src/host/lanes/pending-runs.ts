/**
 * Trusted side: the runs that are in a lane, by number. A ring instead of a Map: a Map that is filled and emptied all the time makes itself a
 * new table every so many runs, and the tables that it leaves behind keep what was in them alive until a full garbage collection (measured with
 * 64 in flight: a third of what was allocated survived, and a fifth of the gateway's time went there).
 */
export class PendingRuns<T extends { readonly id: number }> {
  #slots: (T | undefined)[] = Array.from({ length: 64 });
  #size = 0;
  #last = 0;

  get size(): number {
    return this.#size;
  }

  /** The number of the next run. A later one has a higher number; not every number is given. */
  nextId(): number {
    if (this.#size * 2 >= this.#slots.length) this.#grow();
    let id = this.#last + 1;
    // Somebody who takes long keeps the place.
    while (this.#slots[this.#at(id)] !== undefined) id += 1;
    this.#last = id;
    return id;
  }

  /** By the number that was given last. */
  add(run: T): void {
    this.#slots[this.#at(run.id)] = run;
    this.#size += 1;
  }

  get(id: number): T | undefined {
    const found = this.#slots[this.#at(id)];
    return found?.id === id ? found : undefined;
  }

  /** False: it was not there. */
  delete(id: number): boolean {
    const at = this.#at(id);
    if (this.#slots[at]?.id !== id) return false;
    this.#slots[at] = undefined;
    this.#size -= 1;
    return true;
  }

  /** The oldest first. A copy: whoever looks at them may end them. */
  all(): T[] {
    return this.#slots.filter((run) => run !== undefined).toSorted((a, b) => a.id - b.id);
  }

  #at(id: number): number {
    return id & (this.#slots.length - 1);
  }

  #grow(): void {
    const runs = this.all();
    this.#slots = Array.from({ length: this.#slots.length * 2 });
    for (const run of runs) this.#slots[this.#at(run.id)] = run;
  }
}
