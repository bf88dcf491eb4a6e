/**
 * Trusted side: the plugins of a host by id, and the state of each. One version of a plugin counts at a time; callers that wait for a plugin
 * to load or fail wait here.
 */
import type { CallError } from "../../protocol/outcome.ts";
import type { Registration } from "../../protocol/rules/registration.ts";
import { refusal } from "../blame/breaker.ts";
import type { Cells } from "./cells.ts";
import type { HostEvents } from "../report/events.ts";
import type { Functions } from "../functions/functions.ts";
import { inOrder } from "./plugin.ts";
import type { Plugin } from "./plugin.ts";
import type { Registry } from "./registry.ts";

export interface RosterOptions {
  readonly registry: Registry;
  readonly functions: Functions;
  readonly events: HostEvents;
  readonly cells: Cells;
}

/** The hooks of a plugin: what this code registered, else what lock, manifest or its last version say; undefined: they are not known. */
export function hooksOf({ registered, knownHooks }: Plugin): Registration["handlers"] | undefined {
  return registered ?? knownHooks;
}

export class Roster {
  readonly #options: RosterOptions;
  readonly #all = new Map<string, Plugin>();
  /** Resolved when a plugin has loaded or failed. */
  readonly #settled = new WeakMap<Plugin, PromiseWithResolvers<void>>();
  /** By its successor, a version that did not serve: its fail-closed stubs stay until the successor has loaded or failed. */
  readonly #replaced = new Map<Plugin, Plugin>();

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

  /** From now on this version counts. */
  seat(plugin: Plugin): void {
    this.#all.set(plugin.id, plugin);
  }

  /** As `seat`; the fail-closed stubs of the old version stay until this one is settled. */
  replace(old: Plugin, plugin: Plugin): void {
    this.seat(plugin);
    this.#replaced.set(plugin, old);
  }

  remove({ id }: Plugin): void {
    this.#all.delete(id);
  }

  /** Puts plugins that came later into their place. */
  sort(): void {
    const all = this.list().toSorted(inOrder);
    this.#all.clear();
    for (const plugin of all) this.seat(plugin);
  }

  /** The plugin begins to load. */
  began(plugin: Plugin): void {
    this.#settled.set(plugin, Promise.withResolvers());
  }

  /** Resolves when the plugin has loaded or failed. */
  async settled(plugin: Plugin): Promise<void> {
    await this.#settled.get(plugin)?.promise;
  }

  /** Ends the wait for a plugin. */
  giveUp(plugin: Plugin): void {
    this.#settled.get(plugin)?.resolve();
  }

  /** The plugin has registered: from now on runs call it. */
  admit(plugin: Plugin, isNews = true): void {
    plugin.diagnostics.ofLoad = [...this.#declare(plugin, plugin.registered!), ...plugin.diagnostics.ofLoad];
    this.settle(plugin, isNews);
  }

  fail(plugin: Plugin, error: CallError): void {
    plugin.isOpening = false;
    plugin.status = "failed";
    plugin.error = error;
    this.undeclare(plugin);
    if (this.isCurrent(plugin)) this.#addFailClosedStubs(plugin, error);
    this.settle(plugin);
  }

  quarantine(plugin: Plugin): void {
    plugin.isOpening = false;
    plugin.status = "quarantined";
    plugin.error = refusal(plugin);
    if (this.isCurrent(plugin) && this.#options.registry.handlersOf(plugin).length === 0) this.#addFailClosedStubs(plugin, plugin.error);
    this.settle(plugin);
  }

  /** The plugin has loaded, failed or was taken out: cleans up, and publishes its state. */
  settle(plugin: Plugin, isNews = true): void {
    for (const home of plugin.retired.splice(0)) this.#options.cells.drop(home);
    const old = this.#replaced.get(plugin);
    this.#replaced.delete(plugin);
    if (old) {
      this.undeclare(old);
      this.drop(old);
    }
    this.giveUp(plugin);
    if (isNews && this.isCurrent(plugin)) this.publish(plugin);
  }

  undeclare(plugin: Plugin): void {
    this.#options.registry.remove(plugin);
    this.#options.functions.remove(plugin);
  }

  /** Ends a version: its cells and its bundle go. */
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
      diagnostics: diagnostics.ofLoad,
      ...(error && { error: error.at ? `${error.message} (${error.at})` : error.message }),
    });
  }

  /**
   * SECURITY: a plugin that does not serve keeps its place in the plans of its hooks or, if they are not known, of all.
   * test/contract/closed-doors.test.ts
   */
  #addFailClosedStubs(plugin: Plugin, error: CallError): void {
    const { registry } = this.#options;
    const handlers = hooksOf(plugin);
    if (!handlers) registry.setUnknown(plugin, plugin.home!, error);
    else if (plugin.status === "failed") registry.set(plugin, plugin.home!, { handlers }, error);
    // In quarantine the circuit refuses each call.
    else plugin.diagnostics.ofLoad = this.#declare(plugin, handlers);
  }

  /** Returns the diagnostics of what was not accepted. */
  #declare(plugin: Plugin, handlers: Registration["handlers"]): string[] {
    const { registry, functions } = this.#options;
    const home = plugin.home!;
    return [...registry.set(plugin, home, { handlers }), ...functions.set(plugin, home, { handlers })];
  }
}
