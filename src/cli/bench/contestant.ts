/**
 * One side of a comparison. A contestant makes one whole call, from the caller's values back to the caller's values.
 */
export interface Contestant extends AsyncDisposable {
  readonly name: string;
  /** `at` counts up, so that inputs can rotate. */
  readonly call: (at: number) => unknown;
  /** Other processes that work for it. */
  readonly pids?: () => readonly number[];
  /** Its processor time cannot be read, because its processes end before anybody can. */
  readonly isUnmetered?: boolean;
}

export function contestant(name: string, call: (at: number) => unknown, close: () => unknown = () => {}): Contestant {
  return {
    name,
    call,
    async [Symbol.asyncDispose]() {
      await close();
    },
  };
}
