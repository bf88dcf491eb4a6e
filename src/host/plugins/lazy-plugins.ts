/**
 * Trusted side: installed plugins that are not loaded yet, by the hooks that activate them. The lock names those hooks, so the host loads
 * such a plugin when one of them is first run, and that run waits. Of two hundred plugins only those in use cost a cell.
 */
import { familyOf } from "../../protocol/catalog.ts";
import type { Plugin } from "./plugin.ts";

export class LazyPlugins {
  /** By hook, or family of internal events. */
  readonly #byKey = new Map<string, Set<Plugin>>();

  add(plugin: Plugin): void {
    for (const { hook } of plugin.activationHooks ?? []) {
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

  /** The plugins that the hook activates; undefined, and nothing allocated, when there are none. */
  of(hook: string): Plugin[] | undefined {
    if (this.#byKey.size === 0) return undefined;
    const exact = this.#byKey.get(hook);
    const family = familyOf(hook);
    const related = family === undefined ? undefined : this.#byKey.get(family);
    if (!exact && !related) return undefined;
    return [...new Set([...(related ?? []), ...(exact ?? [])])];
  }
}
