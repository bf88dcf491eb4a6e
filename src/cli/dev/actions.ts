/** What happens in `creel dev`, one after the other: the files have changed, or a key was pressed. */
import type { Watch } from "./watch.ts";

export type Action = "changed" | { readonly key: string };

export class Actions {
  readonly #queue: Action[] = [];
  readonly #over = Promise.withResolvers<void>();
  #isOver = false;
  #wake: () => void = () => {};

  constructor(watch: Watch) {
    void this.#follow(watch);
  }

  push(action: Action): void {
    this.#queue.push(action);
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#over.resolve();
    this.#wake();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Waits for the work, unless all is over: a run that is paused at a breakpoint would not end. */
  async orOver(work: Promise<void>): Promise<void> {
    await Promise.race([work, this.#over.promise]);
  }

  /** Undefined: it is over. */
  async next(): Promise<Action | undefined> {
    while (this.#queue.length === 0 && !this.#isOver) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#isOver ? undefined : this.#queue.shift();
  }

  async #follow(watch: Watch): Promise<void> {
    while (await watch.next()) if (this.#queue.at(-1) !== "changed") this.push("changed");
    this.end();
  }
}
