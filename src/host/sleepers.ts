/**
 * Trusted side: plugins that are installed and not loaded yet, by what they listen to. The lock knows that from when they were accepted, so a
 * cell is made when the first such hook is run, and the run waits for it. Two hundred plugins of which three are used cost three cells.
 */
import { familyOf } from "../protocol/catalog.ts";
import type { Plugin } from "./plugin.ts";

export class Sleepers {
  /** By hook, or family of internal events. */
  readonly #byKey = new Map<string, Set<Plugin>>();

  add(plugin: Plugin): void {
    for (const { hook } of plugin.wakesFor ?? []) {
      const plugins = this.#byKey.get(hook);
      if (plugins) plugins.add(plugin);
      else this.#byKey.set(hook, new Set([plugin]));
    }
  }

  remove(plugin: Plugin): void {
    for (const [hook, plugins] of this.#byKey) {
      plugins.delete(plugin);
      if (plugins.size === 0) this.#byKey.delete(hook);
    }
  }

  /** Those who listen to it; undefined, and nothing made for it, when there are none. */
  of(hook: string): Plugin[] | undefined {
    if (this.#byKey.size === 0) return undefined;
    const exact = this.#byKey.get(hook);
    const family = familyOf(hook);
    const related = family === undefined ? undefined : this.#byKey.get(family);
    if (!exact && !related) return undefined;
    return [...new Set([...(related ?? []), ...(exact ?? [])])];
  }
}
