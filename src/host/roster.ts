/**
 * Trusted side: the plugins of a host by id, how each stands, and what of it counts. Of a plugin one version counts at a time; whoever waits for
 * it to have loaded, or to have failed to, waits here.
 */
import type { CallError } from "../protocol/outcome.ts";
import type { Registration } from "../protocol/registration.ts";
import { refusal } from "./breaker.ts";
import type { Cells } from "./cells.ts";
import type { HostEvents } from "./events.ts";
import type { Functions } from "./functions.ts";
import { inOrder } from "./plugin.ts";
import type { Plugin } from "./plugin.ts";
import type { Registry } from "./registry.ts";

export interface RosterOptions {
  readonly registry: Registry;
  readonly functions: Functions;
  readonly events: HostEvents;
  readonly cells: Cells;
}

export class Roster {
  readonly #options: RosterOptions;
  readonly #all = new Map<string, Plugin>();
  /** Those who wait for a plugin to have loaded or failed. */
  readonly #settled = new WeakMap<Plugin, PromiseWithResolvers<void>>();
  /** Versions that did not serve when they were replaced: what they listen to stands until the new one has loaded, or failed to. */
  readonly #standing = new Map<Plugin, Plugin>();

  constructor(options: RosterOptions) {
    this.#options = options;
  }

  list(): Plugin[] {
    return [...this.#all.values()];
  }

  find(id: string): Plugin | undefined {
    return this.#all.get(id);
  }

  isCurrent(plugin: Plugin): boolean {
    return this.#all.get(plugin.id) === plugin;
  }

  /** From now on this is the plugin of its id. */
  seat(plugin: Plugin): void {
    this.#all.set(plugin.id, plugin);
  }

  /** As `seat`; what the other listens to stands until this one is settled. */
  replace(old: Plugin, plugin: Plugin): void {
    this.seat(plugin);
    this.#standing.set(plugin, old);
  }

  remove({ id }: Plugin): void {
    this.#all.delete(id);
  }

  /** Those that came later are where they belong. */
  sort(): void {
    const all = this.list().toSorted(inOrder);
    this.#all.clear();
    for (const plugin of all) this.seat(plugin);
  }

  /** It is being loaded. */
  began(plugin: Plugin): void {
    this.#settled.set(plugin, Promise.withResolvers());
  }

  /** Resolves when it has loaded, or failed to. */
  async settled(plugin: Plugin): Promise<void> {
    await this.#settled.get(plugin)?.promise;
  }

  /** Nobody need wait for it any longer. */
  giveUp(plugin: Plugin): void {
    this.#settled.get(plugin)?.resolve();
  }

  /** It has registered: from now on runs meet it. */
  admit(plugin: Plugin): void {
    plugin.diagnostics = [...this.#declare(plugin, plugin.registered!), ...plugin.diagnostics];
    this.settle(plugin);
  }

  fail(plugin: Plugin, error: CallError): void {
    plugin.isOpening = false;
    plugin.status = "failed";
    plugin.error = error;
    this.undeclare(plugin);
    // SECURITY: a guard that was tampered with must not open its gate. test/contract/installed.test.ts
    if (plugin.standIns && this.isCurrent(plugin)) this.#declare(plugin, plugin.standIns);
    this.settle(plugin);
  }

  quarantine(plugin: Plugin): void {
    plugin.isOpening = false;
    plugin.status = "quarantined";
    plugin.error = refusal(plugin);
    // SECURITY: one that never loaded has its stand-ins. test/contract/reload.test.ts
    const gates = plugin.registered ?? plugin.standIns;
    if (gates && this.isCurrent(plugin) && this.#options.registry.handlersOf(plugin).length === 0)
      plugin.diagnostics = this.#declare(plugin, gates);
    this.settle(plugin);
  }

  /** It is known how it stands. */
  settle(plugin: Plugin): void {
    for (const home of plugin.retired.splice(0)) this.#options.cells.drop(home);
    const old = this.#standing.get(plugin);
    this.#standing.delete(plugin);
    if (old) {
      this.undeclare(old);
      this.drop(old);
    }
    this.giveUp(plugin);
    if (this.isCurrent(plugin)) this.publish(plugin);
  }

  undeclare(plugin: Plugin): void {
    this.#options.registry.remove(plugin);
    this.#options.functions.remove(plugin);
  }

  /** Nothing of a version is left. */
  drop(plugin: Plugin): void {
    const { cells } = this.#options;
    for (const home of [...plugin.retired.splice(0), plugin.home!]) if (cells.find(home.cell)) cells.drop(home);
    plugin.isRetired = true;
    plugin.bundle = undefined;
  }

  publish({ id, status, error, diagnostics }: Plugin): void {
    this.#options.events.publish("plugin", {
      plugin: id,
      status,
      diagnostics,
      ...(error && { error: error.at ? `${error.message} (${error.at})` : error.message }),
    });
  }

  /** Gives what was not accepted, and why. */
  #declare(plugin: Plugin, handlers: Registration["handlers"]): string[] {
    const { registry, functions } = this.#options;
    const home = plugin.home!;
    return [...registry.set(plugin, home, { handlers }), ...functions.set(plugin, home, { handlers })];
  }
}
