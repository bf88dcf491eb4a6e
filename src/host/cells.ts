/** Trusted side: which plugin lives in which cell of which lane. Cells are numbered once and for all: no number is used twice. */
import type { LaneClient } from "./lanes/lane-client.ts";
import type { Home, Plugin } from "./plugin.ts";

export interface Tenancy {
  readonly plugin: Plugin;
  readonly home: Home;
}

/** Of the cells that were dropped the newest are remembered: their lane may be inside of one, and is still heard about that. */
const REMEMBERED = 256;

export class Cells {
  readonly #tenancies = new Map<number, Tenancy>();
  readonly #dropped = new Map<number, Tenancy>();
  readonly #left: (plugin: Plugin, cell: number) => void;
  #next = 0;

  /** `left` is told of every cell that is gone, with all that was in it. */
  constructor(left: (plugin: Plugin, cell: number) => void = () => {}) {
    this.#left = left;
  }

  /** A home of its own for a plugin. */
  assign(plugin: Plugin, lane: LaneClient): Home {
    const home = { lane, cell: this.#next++ };
    this.#tenancies.set(home.cell, { plugin, home });
    return home;
  }

  /** Another cell for whoever lives there. The old one is kept, under the home that is given back, until it is dropped. */
  move(plugin: Plugin, home: Home, lane: LaneClient): Home {
    const left = { ...home };
    this.#tenancies.set(left.cell, { plugin, home: left });
    home.lane = lane;
    home.cell = this.#next++;
    this.#tenancies.set(home.cell, { plugin, home });
    return left;
  }

  /** Whose cell it is; undefined when it was dropped meanwhile. Throws when it never was in this lane. */
  at(cell: number, lane: LaneClient): Tenancy | undefined {
    const tenancy = this.#tenancies.get(cell);
    // SECURITY: a lane may speak for the cells that are in it, and for no others. test/host/cells.test.ts
    if (tenancy ? tenancy.home.lane !== lane : cell >= this.#next)
      throw new RangeError(`a message about a cell that is not in lane ${lane.index}`);
    return tenancy;
  }

  /** Whose cell it is; undefined when it was dropped meanwhile. */
  find(cell: number): Tenancy | undefined {
    return this.#tenancies.get(cell);
  }

  /** Whose cell it is, or was until it was dropped: a turn that was begun in it may last. */
  was(cell: number): Tenancy | undefined {
    return this.#tenancies.get(cell) ?? this.#dropped.get(cell);
  }

  drop({ lane, cell }: Home): void {
    const tenancy = this.#tenancies.get(cell);
    if (tenancy) this.#dropped.set(cell, { plugin: tenancy.plugin, home: { lane, cell } });
    if (this.#dropped.size > REMEMBERED) this.#dropped.delete(this.#dropped.keys().next().value!);
    this.#tenancies.delete(cell);
    lane.forget(cell);
    if (tenancy) this.#left(tenancy.plugin, cell);
  }

  /** The sandbox behind the lane is gone. Its cells are opened again, under the same numbers. */
  died(lane: LaneClient): void {
    for (const { plugin, home } of this.#tenancies.values()) if (home.lane === lane) this.#left(plugin, home.cell);
  }
}
