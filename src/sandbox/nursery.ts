/**
 * Untrusted side, lane thread: cells that are made ahead, several at a time. A fresh lane that is to load many plugins makes their cells first: the lane's thread
 * the isolates, threads of isolated-vm what goes into them, so that two cores are at work. Afterwards plugins are loaded one after the other, as ever.
 *
 * SECURITY: only while no plugin is in the lane. A thread that is terminated while isolated-vm has something to tell it never ends, and a plugin that does not
 * return could bring that about. test/sandbox/nursery.test.ts
 */
import { LIMITS } from "../protocol/limits.ts";
import { Blank } from "./cell.ts";
import type { GuestCode } from "./cell.ts";

export class Nursery {
  #blanks: Blank[] = [];
  #wantedMb: number[] = [];
  #cooking: Promise<unknown> | undefined;

  /** One more, of that heap size, if others are being made. */
  want(heapMb: number): void {
    this.#wantedMb.push(heapMb);
  }

  /** Makes all that are wanted, or become so meanwhile. Resolves, without any error, when they are there: whoever finds none makes one, and learns what is wrong. */
  async cook(guest: GuestCode): Promise<void> {
    const cook = async (): Promise<void> => {
      for (let heapMb = this.#wantedMb.shift(); heapMb !== undefined; heapMb = this.#wantedMb.shift())
        this.#blanks.push(await Blank.cook(guest, heapMb));
    };
    this.#cooking = Promise.allSettled(Array.from({ length: LIMITS.cellsAtOnce }, cook));
    await this.#cooking;
    this.#wantedMb = [];
  }

  /** One that fits; undefined: there is none. */
  take(heapMb: number): Blank | undefined {
    const at = this.#blanks.findIndex((blank) => blank.heapMb === heapMb);
    return at < 0 ? undefined : this.#blanks.splice(at, 1)[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#wantedMb = [];
    await this.#cooking;
    for (const blank of this.#blanks) blank.dispose();
    this.#blanks = [];
  }
}
