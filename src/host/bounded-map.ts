/** Trusted side: a Map that drops its least recently used entry. For facts about sessions, whose end the gateway may not report. */
export class BoundedMap<V> {
  readonly #entries = new Map<string, V>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): V | undefined {
    const value = this.#entries.get(key);
    // A Map keeps the order of insertion: inserting again makes the entry the most recent.
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#max) this.#entries.delete(this.#entries.keys().next().value!);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}

/**
 * How many sessions the SDK remembers. A busy gateway has thousands at once; past this the least recently used ones are forgotten. At some
 * hundred bytes each that is a few megabytes at most.
 */
export const REMEMBERED_SESSIONS = 10_000;
