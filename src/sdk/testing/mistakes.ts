/**
 * Trusted side, in an author's test: errors that the test's own functions threw while the plugin ran. The plugin sees a server or a user that
 * failed; the test must see its own failed assertion, and not pass because the plugin coped.
 */
export class Mistakes {
  readonly #noted: unknown[] = [];

  note(error: unknown): void {
    this.#noted.push(error);
  }

  /** Throws the first error that was not thrown yet. */
  raise(): void {
    const [first] = this.#noted.splice(0);
    if (first !== undefined) throw first;
  }
}
