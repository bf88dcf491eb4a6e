/**
 * Trusted side: rests of plugins in the slow lane. Of a plugin that takes more than its share there without being called, timers and responses wait
 * for a while, so that its neighbours are served; its calls go on. Each rest is twice as long as the one before.
 */
import { LIMITS } from "../../protocol/limits.ts";
import type { Plugin } from "../plugins/plugin.ts";

type Resting = Pick<Plugin, "isResting" | "laneShare">;

export class Rests {
  readonly #lastMs = new WeakMap<Resting, number>();
  readonly #clocks = new Set<NodeJS.Timeout>();

  /** Gives how long it rests. `ended` is called when that is over. */
  begin(plugin: Resting, ended: () => void): number {
    const restMs = Math.min(LIMITS.lane.maxRestMs, 2 * (this.#lastMs.get(plugin) ?? LIMITS.lane.restMs / 2));
    this.#lastMs.set(plugin, restMs);
    plugin.isResting = true;
    plugin.laneShare.clear();
    const clock = setTimeout(() => {
      this.#clocks.delete(clock);
      plugin.isResting = false;
      ended();
    }, restMs).unref();
    this.#clocks.add(clock);
    return restMs;
  }

  close(): void {
    for (const clock of this.#clocks) clearTimeout(clock);
    this.#clocks.clear();
  }
}
