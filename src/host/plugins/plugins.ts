/** Trusted side: the plugins of a host: taking them in, moving slow ones out of the way, disabling, quarantine, blame for a lost sandbox. */
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS, turnMs } from "../../protocol/limits.ts";
import type { LaneMessage } from "../../protocol/messages/host-lane.ts";
import { oneLine } from "../../text/one-line.ts";
import { strikeKilled } from "../blame/breaker.ts";
import type { Breaker } from "../blame/breaker.ts";
import { findHog } from "../blame/neighbours.ts";
import type { Hog } from "../blame/neighbours.ts";
import { Rests } from "../blame/rests.ts";
import type { Functions } from "../functions/functions.ts";
import type { HostEvents } from "../report/events.ts";
import type { RunInput } from "../run/run-input.ts";
import type { LaneClient } from "../supervisor/lane-client.ts";
import { Cells } from "./cells.ts";
import { PluginLoader } from "./loader.ts";
import { Placement } from "./placement.ts";
import { isLoaded } from "./plugin.ts";
import type { Plugin } from "./plugin.ts";
import type { PluginServices } from "./plugin-services.ts";
import type { Registry } from "./registry.ts";
import { Reloads } from "./reloads.ts";
import { hooksOf, Roster } from "./roster.ts";

export interface PluginsOptions {
  readonly registry: Registry;
  readonly functions: Functions;
  readonly services: PluginServices;
  readonly events: HostEvents;
  readonly breaker: Breaker;
  /** How many quick lanes the host has. */
  readonly lanes: number;
  /** The plugin that is inspected, in the lane after the quick ones. */
  readonly inspected?: string | undefined;
  /** Finds the current version of a plugin by its id; undefined: there is none. Rejects with a CreelError. */
  find(id: string): Promise<Plugin | undefined>;
  /** The runs in flight. */
  runs(): RunInput[];
  /** A quick lane, by its number. */
  lane(index: number): LaneClient;
  /** The lane for plugins that have used up a turn; the call starts it. */
  slowLane(): LaneClient;
  /** A cell is gone, with everything in it. */
  left(plugin: Plugin, cell: number): void;
}

export class Plugins {
  readonly cells: Cells;
  readonly placement: Placement;
  readonly #options: PluginsOptions;
  readonly #roster: Roster;
  readonly #loader: PluginLoader;
  readonly #reloads: Reloads;
  readonly #rests = new Rests();

  constructor(options: PluginsOptions) {
    this.#options = options;
    const { registry, functions, events, breaker, services } = options;
    const cells = new Cells((plugin, cell) => options.left(plugin, cell));
    const roster = new Roster({ registry, functions, events, cells });
    this.cells = cells;
    this.#roster = roster;
    this.placement = new Placement({
      lanes: options.lanes,
      inspected: options.inspected,
      registry,
      list: () => roster.list(),
      move: (plugin, lane) => this.#reloads.move(plugin.id, lane),
    });
    this.#loader = new PluginLoader({
      roster,
      cells,
      breaker,
      services,
      lane: (index) => options.lane(index),
      placeOf: (plugin) => this.placement.choose(plugin),
    });
    this.#reloads = new Reloads({
      roster,
      breaker,
      services,
      loader: this.#loader,
      find: (id) => options.find(id),
      runs: () => options.runs(),
      add: (plugin) => this.add(plugin),
      takeOut: (plugin) => this.#takeOut(plugin),
    });
  }

  /** Does any plugin hold a grant with which it could cause further runs? */
  get mayCauseRuns(): boolean {
    return this.#loader.mayCauseRuns;
  }

  list(): Plugin[] {
    return this.#roster.list();
  }

  find(id: string): Plugin | undefined {
    return this.#roster.find(id);
  }

  get(id: string): Plugin {
    const plugin = this.find(id);
    if (!plugin) throw new CreelError("ERR_PLUGIN_UNKNOWN", { plugin: id });
    return plugin;
  }

  /** Takes a plugin in. A plugin that cannot be bundled is kept, as failed, so that the operator sees it. */
  async add(plugin: Plugin): Promise<void> {
    if (this.find(plugin.id)) throw new CreelError("ERR_PLUGIN_DUPLICATE", { plugin: plugin.id });
    this.#roster.seat(plugin);
    await this.#loader.add(plugin);
  }

  /** Loads a plugin that was added; `settled` says when all have loaded. If the sandbox dies meanwhile, plugins are blamed in this order. */
  open(plugin: Plugin): void {
    this.#loader.open(plugin);
  }

  /** The lazy plugins that the hook activates; undefined when there are none, as nearly always. */
  lazyFor(hook: string): Plugin[] | undefined {
    return this.#loader.lazy.of(hook);
  }

  /** Loads a lazy plugin. Resolves when it has loaded, or failed: then its fail-closed gates stand, and block. */
  async activate(plugin: Plugin): Promise<void> {
    await this.#loader.activate(plugin);
    void this.placement.rebalance();
  }

  /** The frames that a fresh lane needs for its plugins. */
  openings(lane: LaneClient): string[] {
    return this.#loader.openings(lane, this.#everyVersion());
  }

  /** The lane says that a cell has loaded, or failed to. */
  opened(plugin: Plugin, message: Extract<LaneMessage, { kind: "opened" }>, body: string): void {
    this.#loader.opened(plugin, message, body);
  }

  /** CPU time that a turn of a cell may take; undefined: the cell is not in that lane. */
  cpuMsOf(lane: LaneClient, cell: number, isLoad: boolean): number | undefined {
    const tenancy = this.cells.was(cell);
    if (tenancy?.home.lane !== lane) return undefined;
    if (isLoad) return LIMITS.call.loadCpuMs;
    const budgets = this.#options.registry.handlersOf(tenancy.plugin).map(({ budget }) => budget.cpuMs.value);
    return Math.max(LIMITS.call.cpuMs, ...budgets, ...this.#options.functions.cpuMsOf(tenancy.plugin));
  }

  /** The longest turn that a cell of the lane may take, as V8 is told at most. */
  longestTurnMs(lane: LaneClient): number {
    const there = this.#everyVersion().filter(({ home }) => home?.lane === lane);
    return turnMs(Math.max(0, ...there.map(({ home }) => this.cpuMsOf(lane, home!.cell, false) ?? 0)));
  }

  /** The plugins that do not serve and whose hooks are not known. */
  unknown(): Plugin[] {
    return this.list().filter((plugin) => (plugin.status === "failed" || plugin.status === "quarantined") && !hooksOf(plugin));
  }

  /** Resolves when no plugin is loading any more. */
  async settled(): Promise<void> {
    await Promise.all(this.list().map((plugin) => this.#roster.settled(plugin)));
  }

  /** Loads the current version of the plugin; see reloads.ts. Returns the report about the version that counts then. */
  async reload<T>(id: string, reportOf: (plugin: Plugin) => T): Promise<T> {
    const { plugin, error, report } = await this.#reloads.reload(id, reportOf);
    await this.placement.rebalance();
    const now = this.find(id);
    // It may have moved. What a later reload has done meanwhile is for that one to say. A copy has the diagnostics of its original.
    return now?.diagnostics === plugin.diagnostics && now.error === error ? reportOf(now) : report;
  }

  /** A run has ended, or waits for nothing but a user. */
  ended(run: RunInput): void {
    this.#reloads.ended(run);
  }

  /** The host is closing: no load is awaited any more. */
  close(): void {
    this.#reloads.close();
    this.#rests.close();
    for (const plugin of this.list()) this.#roster.giveUp(plugin);
  }

  /**
   * A plugin that has used up a turn, or takes too much of its lane, goes to the slow lane, so that its neighbours do not wait for it again.
   * Calls in its old cell finish there, if that cell lives; later calls wait for the new cell. It does not come back by itself: a move costs
   * its state, and a plugin that is slow now and then would move for ever. A reload brings it back.
   */
  slowDown(plugin: Plugin, why: string): void {
    const { home } = plugin;
    const slow = this.#options.slowLane();
    if (!home || home.lane === slow || home.lane.isDebug || plugin.isRetired || !isLoaded(plugin)) return;
    plugin.slowWhy = oneLine(why);
    plugin.laneShare.clear();
    const left = this.cells.move(plugin, home, slow);
    plugin.retired.push(left);
    // Its calls in there end, its timers need not go on.
    left.lane.post({ kind: "pause", cell: left.cell, isPaused: true });
    this.#options.registry.moved();
    this.#loader.reopen(plugin);
    left.lane.evict(left.cell);
    this.#options.events.publish("moved", { plugin: plugin.id, lane: slow.index, why: plugin.slowWhy });
  }

  /** The plugin has kept its neighbours waiting for so long, and for so long of it no call waited. */
  held(plugin: Plugin, us: number, ownUs: number): void {
    const isSlow = plugin.slowWhy !== undefined;
    // Plugins are in the slow lane because their calls take long, so there only the time counts that they take by themselves.
    plugin.laneShare.charge(isSlow ? ownUs : us);
    const { lane } = plugin.home!;
    const hog = findHog(this.#everyVersion().filter((other) => other.home?.lane === lane && isLoaded(other)));
    if (!hog) return;
    if (isSlow) this.#rest(hog);
    else this.slowDown(hog.plugin, hog.why);
  }

  /** There is no slower lane: what the plugin does by itself rests, and its neighbours are served. Its calls go on. */
  #rest({ plugin, why }: Hog): void {
    if (plugin.isRetired || plugin.isResting) return;
    const restMs = this.#rests.begin(plugin, () => this.pause(plugin, plugin.circuit.isResting));
    this.pause(plugin, true);
    plugin.slowWhy = `${why}; what it does by itself rests for ${restMs / 1000} s`;
    this.#options.events.publish("moved", { plugin: plugin.id, lane: plugin.home!.lane.index, why: plugin.slowWhy });
  }

  /** The plugin takes more than its share of a CPU. */
  overspent(plugin: Plugin, share: number): void {
    const why = `it took ${Math.round(share * 100)} % of a CPU over the last minute`;
    this.slowDown(plugin, why);
    plugin.circuit.strike("cpu", why);
  }

  /** The plugin's breaker lets no call through, or does again: its timers wait as long, and while it rests. */
  pause({ home, isResting }: Plugin, isPaused: boolean): void {
    if (home && this.cells.find(home.cell)) home.lane.post({ kind: "pause", cell: home.cell, isPaused: isPaused || isResting });
  }

  disable(id: string): void {
    this.#reloads.disable(this.get(id));
  }

  #takeOut(plugin: Plugin): void {
    plugin.status = "disabled";
    this.#loader.lazy.remove(plugin);
    plugin.isOpening = false;
    const home = { ...plugin.home! };
    const ending = this.#options.services.stop(plugin);
    this.#roster.undeclare(plugin);
    // Its services need the cell until they have stopped.
    if (ending) void ending.then(() => this.cells.find(home.cell) && this.cells.drop(home));
    else this.cells.drop(home);
    this.#roster.settle(plugin);
  }

  /** Takes the plugin out of its cell; it is not loaded again. It stays registered: its gates fail by their policy. */
  quarantine(plugin: Plugin): void {
    if (plugin.status === "disabled") return;
    this.cells.drop(plugin.home!);
    this.#options.services.lost(plugin);
    this.#roster.quarantine(plugin);
  }

  /** Forgets what its breaker knows, and loads it if it was in quarantine. */
  async release(id: string): Promise<void> {
    const plugin = this.get(id);
    this.#options.breaker.forget(plugin);
    plugin.circuit.release("the operator released it");
    if (plugin.status === "quarantined") await this.reload(id, () => {});
  }

  /** What a cell reports about itself is not true: a fresh cell replaces it. */
  renew(plugin: Plugin, cell: number, why: string): void {
    if (cell !== plugin.home?.cell || plugin.isRetired || !isLoaded(plugin) || plugin.isOpening) return;
    plugin.circuit.strike("crashed", why);
    if (isLoaded(plugin)) this.#loader.reopen(plugin);
  }

  /**
   * A sandbox is gone. Returns the plugin to blame, if there is one: the plugin whose cell was executing. If that is not known, no plugin
   * is struck, not even one that was loading: a neighbour may have filled the process, or it was killed from outside. Only where it crashed
   * (`isCrash`) and one plugin was loading, a second crash is its own: the first one has moved it to where it is alone.
   */
  sandboxDied(lanes: readonly LaneClient[], why: string, culprit: number | undefined, isCrash: boolean): Plugin | undefined {
    for (const lane of lanes) this.cells.died(lane);
    const blamed = culprit === undefined ? undefined : this.cells.was(culprit)?.plugin;
    if (blamed) {
      strikeKilled(blamed, why, true);
      this.slowDown(blamed, why);
      return blamed;
    }
    if (!isCrash) return undefined;
    // A lane loads one after the other.
    const opening = this.#everyVersion().filter(({ isOpening }) => isOpening);
    const suspects = lanes.flatMap((lane) => opening.find(({ home }) => home?.lane === lane) ?? []);
    const only = suspects.length === 1 ? suspects[0] : undefined;
    const isStruck = only !== undefined && strikeKilled(only, why, false);
    for (const plugin of suspects) this.slowDown(plugin, `${why}, and it was loading then; alone it shows whether it was the reason`);
    return isStruck ? only : undefined;
  }

  /** The versions that serve, and those that are retired or being tried beside them. */
  #everyVersion(): Plugin[] {
    return [...this.list(), ...this.#reloads.beside()];
  }
}

/** One error for all of them, so that the operator sees at once what to repair. */
export function notServing(plugins: readonly Plugin[]): CreelError {
  const each = plugins.map(({ id, error }) => `"${id}" (${error?.message ?? "no reason given"}${error?.at ? `, ${error.at}` : ""})`);
  return new CreelError("ERR_PLUGINS_FAILED", { plugins: each.join("; "), ids: plugins.map(({ id }) => id).join(", ") });
}
