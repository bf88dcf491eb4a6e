/** Trusted side: which plugin lives in which cell of which lane. Cell numbers are never reused. */
import type { LaneClient } from "../supervisor/lane-client.ts";
import type { Home, Plugin } from "./plugin.ts";

export interface Tenancy {
  readonly plugin: Plugin;
  readonly home: Home;
}

/** How many dropped cells are remembered: a lane may still be executing one and report about it. */
const REMEMBERED = 256;

export class Cells {
  readonly #tenancies = new Map<number, Tenancy>();
  readonly #dropped = new Map<number, Tenancy>();
  readonly #left: (plugin: Plugin, cell: number) => void;
  #next = 0;

  /** `left` is called for every cell that is gone, with everything in it. */
  constructor(left: (plugin: Plugin, cell: number) => void = () => {}) {
    this.#left = left;
  }

  /** Gives a plugin a fresh cell. */
  assign(plugin: Plugin, lane: LaneClient): Home {
    const home = { lane, cell: this.#next++ };
    this.#tenancies.set(home.cell, { plugin, home });
    return home;
  }

  /** Gives a plugin another cell. The old one stays, under the home that is returned, until it is dropped. */
  move(plugin: Plugin, home: Home, lane: LaneClient): Home {
    const left = { ...home };
    this.#tenancies.set(left.cell, { plugin, home: left });
    home.lane = lane;
    home.cell = this.#next++;
    this.#tenancies.set(home.cell, { plugin, home });
    return left;
  }

  /** The plugin of a cell; undefined when the cell was dropped. Throws when the cell never was in this lane. */
  at(cell: number, lane: LaneClient): Tenancy | undefined {
    const tenancy = this.#tenancies.get(cell);
    // SECURITY: a lane may speak for the cells that are in it, and for no others. test/host/plugins/cells.test.ts
    if (tenancy ? tenancy.home.lane !== lane : cell >= this.#next)
      throw new RangeError(`a message about a cell that is not in lane ${lane.index}`);
    return tenancy;
  }

  /** The plugin of a cell; undefined when the cell was dropped. */
  find(cell: number): Tenancy | undefined {
    return this.#tenancies.get(cell);
  }

  /** The plugin of a cell, also of one that was dropped lately: a turn in it may still go on. */
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

  /** The sandbox behind the lane is gone. Its cells will be opened again under the same numbers. */
  died(lane: LaneClient): void {
    for (const { plugin, home } of this.#tenancies.values()) if (home.lane === lane) this.#left(plugin, home.cell);
  }
}
