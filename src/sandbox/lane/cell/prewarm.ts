/**
 * Untrusted side, lane thread: prewarmed cells. A fresh lane that is to load many plugins makes their cells first,
 * several at a time: the lane's thread creates the isolates, and threads of isolated-vm run the bootstrap in them, so
 * that two cores are at work. Then the plugins are loaded one after the other, as usual.
 *
 * SECURITY: only while no plugin is in the lane. A thread that is terminated while isolated-vm has a completion for it
 * never ends, and a plugin that does not return could cause that. test/sandbox/lane/cell/prewarm.test.ts
 */
import { LIMITS } from "../../../protocol/limits.ts";
import { EmptyCell } from "./cell.ts";
import type { GuestCode } from "./cell.ts";

export class Prewarm {
  #emptyCells: EmptyCell[] = [];
  #wantedMb: number[] = [];
  #filling: Promise<unknown> | undefined;

  /** Adds a cell of this heap size to those that are made. */
  want(heapMb: number): void {
    this.#wantedMb.push(heapMb);
  }

  /**
   * Makes all wanted cells, including those that become wanted meanwhile. Never rejects: a slot that finds no cell
   * makes one, and gets the error.
   */
  async fill(guest: GuestCode): Promise<void> {
    const fill = async (): Promise<void> => {
      for (let heapMb = this.#wantedMb.shift(); heapMb !== undefined; heapMb = this.#wantedMb.shift())
        this.#emptyCells.push(await EmptyCell.makeAsync(guest, heapMb));
    };
    this.#filling = Promise.allSettled(Array.from({ length: LIMITS.sandbox.cellsAtOnce }, fill));
    await this.#filling;
    this.#wantedMb = [];
  }

  /** A cell of this heap size; undefined: there is none. */
  take(heapMb: number): EmptyCell | undefined {
    const at = this.#emptyCells.findIndex((empty) => empty.heapMb === heapMb);
    return at < 0 ? undefined : this.#emptyCells.splice(at, 1)[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#wantedMb = [];
    await this.#filling;
    for (const empty of this.#emptyCells) empty.dispose();
    this.#emptyCells = [];
  }
}
