/** Trusted side: the plugins of a host: bundled, placed in lanes, loaded, and what they registered taken down. */
import type { LaneMessage } from "../protocol/messages.ts";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { strikeKilled } from "./breaker.ts";
import type { Breaker } from "./breaker.ts";
import type { HostEvents } from "./events.ts";
import type { Functions } from "./functions.ts";
import { ownError } from "./guest-error.ts";
import type { LaneClient } from "./lanes/lane-client.ts";
import { Cells } from "./cells.ts";
import { openingFrame, readOpened } from "./opening.ts";
import { isLoaded } from "./plugin.ts";
import type { Plugin } from "./plugin.ts";
import type { PluginServices } from "./plugin-services.ts";
import { bundlePlugin } from "./plugin-source.ts";
import { Reloads } from "./reloads.ts";
import type { Stage } from "./reloads.ts";
import { Roster } from "./roster.ts";
import type { RunInput } from "./runner/run-input.ts";
import type { Registry } from "./registry.ts";
import { Sleepers } from "./sleepers.ts";

export interface PluginsOptions {
  readonly registry: Registry;
  readonly functions: Functions;
  readonly services: PluginServices;
  readonly events: HostEvents;
  readonly breaker: Breaker;
  /** See Stage. */
  find(id: string): Promise<Plugin | undefined>;
  /** The runs that are under way. */
  runs(): RunInput[];
  /** A quick lane, by its number. */
  lane(index: number): LaneClient;
  /** The lane of those who have used up a turn; it is started when it is asked for. */
  slowLane(): LaneClient;
  /** A cell is gone, with all that was in it. */
  left(plugin: Plugin, cell: number): void;
}

export class Plugins {
  readonly #roster: Roster;
  readonly #options: PluginsOptions;
  readonly cells: Cells;
  readonly #sleepers = new Sleepers();
  readonly #waking = new Map<Plugin, Promise<void>>();
  readonly #reloads: Reloads;

  constructor(options: PluginsOptions) {
    this.#options = options;
    this.cells = new Cells((plugin, cell) => options.left(plugin, cell));
    const { registry, functions, events } = options;
    this.#roster = new Roster({ registry, functions, events, cells: this.cells });
    this.#reloads = new Reloads(this.#stage());
  }

  /** Does any of them hold a grant with which it could cause further runs? */
  mayAsk = false;

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
    plugin.home = this.cells.assign(plugin, this.#options.lane(plugin.lane));
    this.mayAsk ||= Object.keys(plugin.grants).length > 0;
    if (plugin.status === "asleep") this.#sleepers.add(plugin);
    else if (plugin.status !== "disabled") await this.#bundle(plugin);
  }

  /** A plugin that was taken in is loaded; `settled` says when all are. In the order in which they are to be blamed if the sandbox dies meanwhile. */
  open(plugin: Plugin): void {
    if (plugin.status === "loading") this.#open(plugin);
  }

  /** Those who sleep and listen to the hook; undefined when there are none, as nearly always. */
  asleepFor(hook: string): Plugin[] | undefined {
    return this.#sleepers.of(hook);
  }

  /** Resolves when it is loaded, or has failed to: then its gates that fail closed stand, and block. Until then whoever listens for it waits. */
  wake(plugin: Plugin): Promise<void> {
    const waking = this.#waking.get(plugin) ?? this.#wake(plugin);
    this.#waking.set(plugin, waking);
    return waking;
  }

  async #wake(plugin: Plugin): Promise<void> {
    try {
      await this.#bundle(plugin);
      await this.#loaded(plugin);
    } finally {
      this.#sleepers.remove(plugin);
      this.#waking.delete(plugin);
    }
  }

  /** What a fresh lane must be told about its plugins. */
  openings(lane: LaneClient): string[] {
    return this.#everyone()
      .filter((plugin) => plugin.home?.lane === lane && plugin.isDue && plugin.bundle && isLoaded(plugin))
      .map((plugin) => openingFrame(plugin));
  }

  /** CPU time that a turn of a cell's own may take; undefined: it is not in that lane. */
  cpuMsOf(lane: LaneClient, cell: number, isLoad: boolean): number | undefined {
    const tenancy = this.cells.was(cell);
    if (tenancy?.home.lane !== lane) return undefined;
    if (isLoad) return LIMITS.loadCpuMs;
    const budgets = this.#options.registry.handlersOf(tenancy.plugin).map(({ budget }) => budget.cpuMs.value);
    return Math.max(LIMITS.cpuMs, ...budgets, ...this.#options.functions.cpuMsOf(tenancy.plugin));
  }

  /** Resolves when none is loading any more. */
  async settled(): Promise<void> {
    await Promise.all(this.list().map((plugin) => this.#roster.settled(plugin)));
  }

  /** Takes in what the plugin is now, if that can be loaded; see reloads.ts. Gives the plugin as it is then. */
  reload(id: string): Promise<Plugin> {
    return this.#reloads.reload(id);
  }

  /** A run is over, or waits for nothing but a user. */
  ended(run: RunInput): void {
    this.#reloads.ended(run);
  }

  /** The host is closing: nothing is waited for any more. */
  close(): void {
    this.#reloads.close();
    for (const plugin of this.list()) this.#roster.giveUp(plugin);
  }

  /**
   * A plugin that has used up a turn goes to the slow lane, so that its neighbours do not wait behind it again. What is in its old
   * cell is finished there, if that cell lives; whatever comes from now on waits for the new one.
   */
  slowDown(plugin: Plugin): void {
    const { home } = plugin;
    const slow = this.#options.slowLane();
    if (!home || home.lane === slow || plugin.isRetired || !isLoaded(plugin)) return;
    const left = this.cells.move(plugin, home, slow);
    plugin.retired.push(left);
    this.#options.registry.moved();
    this.#open(plugin);
    left.lane.evict(left.cell);
  }

  disable(id: string): void {
    const plugin = this.get(id);
    plugin.status = "disabled";
    this.#reloads.callOff(id);
    this.#sleepers.remove(plugin);
    plugin.isOpening = false;
    const home = { ...plugin.home! };
    const ending = this.#options.services.stop(plugin);
    this.#roster.undeclare(plugin);
    // What is to be stopped needs its cell for a while.
    if (ending) void ending.then(() => this.cells.find(home.cell) && this.cells.drop(home));
    else this.cells.drop(home);
    this.#roster.settle(plugin);
  }

  /** Out of its cell, and not loaded again. What it listened to stays: its gates go on to fail by their policy. */
  quarantine(plugin: Plugin): void {
    if (plugin.status === "disabled") return;
    this.cells.drop(plugin.home!);
    this.#options.services.lost(plugin);
    this.#roster.quarantine(plugin);
  }

  /** Forgets what its breaker knows, and loads it if that was in the way. */
  async release(id: string): Promise<void> {
    const plugin = this.get(id);
    plugin.circuit.release("the operator released it");
    if (plugin.status === "quarantined") await this.reload(id);
  }

  /** What a cell says of itself is not true: another takes its place, with what is. */
  renew(plugin: Plugin, cell: number, why: string): void {
    if (cell !== plugin.home?.cell || plugin.isRetired || !isLoaded(plugin) || plugin.isOpening) return;
    plugin.circuit.strike("crashed", why);
    if (isLoaded(plugin)) this.#open(plugin);
  }

  /** The lane says that a cell has loaded, or failed to. */
  opened(plugin: Plugin, { cell, ok, loadMs }: Extract<LaneMessage, { kind: "opened" }>, body: string): void {
    if (plugin.status === "disabled" || plugin.status === "quarantined" || cell !== plugin.home?.cell) return;
    plugin.isOpening = false;
    if (plugin.isRetired) return;
    plugin.loadMs = loadMs;
    const fault = readOpened(plugin, ok, body);
    if (fault) return this.#roster.fail(plugin, fault);
    plugin.status = "ready";
    plugin.loadDeaths = 0;
    if (this.#roster.isCurrent(plugin)) this.#admit(plugin);
    else this.#roster.settle(plugin);
  }

  /** It has registered: from now on runs meet it. */
  #admit(plugin: Plugin): void {
    this.#roster.admit(plugin);
    this.#options.services.loaded(plugin);
  }

  #stage(): Stage {
    const { breaker, services } = this.#options;
    return {
      roster: this.#roster,
      breaker,
      services,
      find: (id) => this.#options.find(id),
      runs: () => this.#options.runs(),
      calm: async (plugin) => {
        await this.#waking.get(plugin);
        if (plugin.status === "loading") await this.#roster.settled(plugin);
      },
      takeIn: async (plugin) => {
        await this.add(plugin);
        this.#roster.sort();
        await this.#loaded(plugin);
      },
      remove: (plugin) => {
        plugin.diagnostics = ["it is not installed any more"];
        this.disable(plugin.id);
        this.#roster.remove(plugin);
      },
      disable: (id) => this.disable(id),
      replace: (old, plugin) => {
        if (plugin.status === "disabled") this.#roster.seat(plugin);
        else this.#roster.replace(old, plugin);
      },
      load: async (plugin, met) => {
        plugin.home = this.cells.assign(plugin, this.#options.lane(plugin.lane));
        this.mayAsk ||= Object.keys(plugin.grants).length > 0;
        if (plugin.status === "disabled") return this.#roster.settle(plugin);
        await this.#bundle(plugin, met);
        await this.#loaded(plugin);
      },
      swap: (old, plugin) => {
        this.#roster.seat(plugin);
        breaker.succeeds(plugin, old);
        this.#sleepers.remove(old);
        this.#roster.undeclare(old);
        this.#admit(plugin);
      },
    };
  }

  /** Those who serve, and the versions beside them. */
  #everyone(): Plugin[] {
    return [...this.list(), ...this.#reloads.beside()];
  }

  /** It takes more than its share of a CPU. */
  overspent(plugin: Plugin, share: number): void {
    this.slowDown(plugin);
    plugin.circuit.strike("cpu", `it took ${Math.round(share * 100)} % of a CPU over the last minute`);
  }

  /**
   * A sandbox is gone. Gives the plugin that is to blame, if there is one: whose cell was executing, or, if that is not known and
   * plugins were loading in it, the first of those in the lane, since a lane loads one after the other.
   */
  sandboxDied(lanes: readonly LaneClient[], why: string, culprit: number | undefined): Plugin | undefined {
    for (const lane of lanes) this.cells.died(lane);
    const blamed = culprit === undefined ? undefined : this.cells.was(culprit)?.plugin;
    const opening = this.#everyone().filter(({ isOpening }) => isOpening);
    const suspects = blamed ? [blamed] : lanes.flatMap((lane) => opening.find(({ home }) => home?.lane === lane) ?? []);
    for (const plugin of suspects) {
      strikeKilled(plugin, why, plugin === blamed);
      this.slowDown(plugin);
    }
    return blamed ?? (suspects.length === 1 ? suspects[0] : undefined);
  }

  async #bundle(plugin: Plugin, met = () => this.#options.breaker.meet(plugin)): Promise<void> {
    this.#roster.began(plugin);
    try {
      plugin.bundle = await bundlePlugin(plugin);
      met();
      if (plugin.status === "disabled") return;
      if (plugin.circuit.state === "quarantined") this.#roster.quarantine(plugin);
      else plugin.status = "loading";
    } catch (error) {
      plugin.bundle = undefined;
      if (!(error instanceof CreelError)) throw error;
      this.#roster.fail(plugin, ownError(error.code, { ...error.params, plugin: plugin.id }));
    }
  }

  /** Resolves when a plugin that was bundled has loaded, or failed to. */
  async #loaded(plugin: Plugin): Promise<void> {
    this.open(plugin);
    await this.#roster.settled(plugin);
  }

  #open(plugin: Plugin): void {
    const { lane } = plugin.home!;
    plugin.isDue = true;
    // A lane that is not there yet is told when it comes.
    if (lane.isConnected) lane.postFrame(openingFrame(plugin));
  }
}
