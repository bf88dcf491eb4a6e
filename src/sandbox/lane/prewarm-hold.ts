/**
 * Untrusted side, lane thread: when a fresh lane is to load several plugins, their cells are made first, together
 * (cell/prewarm.ts). Everything that comes meanwhile is held here, in its order.
 */
import type { GuestCode } from "./cell/cell.ts";
import type { Prewarm } from "./cell/prewarm.ts";
import { messageOf, toItem } from "./items.ts";
import type { Item } from "./items.ts";

export class PrewarmHold<Side> {
  readonly #prewarm: Prewarm;
  readonly #serve: (items: readonly Item[], side: Side) => void;
  #held: { readonly items: readonly Item[]; readonly side: Side }[] | undefined;

  constructor(prewarm: Prewarm, serve: (items: readonly Item[], side: Side) => void) {
    this.#prewarm = prewarm;
    this.#serve = serve;
  }

  get isOn(): boolean {
    return this.#held !== undefined;
  }

  start(guest: GuestCode, items: readonly Item[], side: Side): void {
    this.#held = [];
    this.add(items, side);
    void this.#prewarm.fill(guest).then(() => {
      // The hold stays on until the last item is served or in the backlog, so that the first one does not start
      // another.
      for (const held of this.#held!) this.#serve(held.items, held.side);
      this.#held = undefined;
    });
  }

  add(frames: readonly Item[], side: Side): void {
    const items = frames.map(toItem);
    this.#held!.push({ items, side });
    for (const item of items) {
      const message = messageOf(item);
      if (message?.kind === "open") this.#prewarm.want(message.limits.heapMb);
    }
  }

  /** The lane ends. */
  drop(): void {
    this.#held?.splice(0);
  }
}
