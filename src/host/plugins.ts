/** Trusted side: the plugins of a host: bundled, placed in lanes, loaded, and what they registered taken down. */
import type { LaneMessage } from "../protocol/messages.ts";
import type { CallError } from "../protocol/outcome.ts";
import type { Registration } from "../protocol/registration.ts";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { refusal } from "./breaker.ts";
import type { Breaker } from "./breaker.ts";
import type { HostEvents } from "./events.ts";
import type { Functions } from "./functions.ts";
import { ownError } from "./guest-error.ts";
import type { LaneClient } from "./lanes/lane-client.ts";
import { Cells } from "./cells.ts";
import { openingFrame, readOpened } from "./opening.ts";
import { inOrder, isLoaded } from "./plugin.ts";
import type { Home, Plugin } from "./plugin.ts";
import type { PluginServices } from "./plugin-services.ts";
import { bundlePlugin } from "./plugin-source.ts";
import { Reloads } from "./reloads.ts";
import type { Stage } from "./reloads.ts";
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
  readonly #all = new Map<string, Plugin>();
  readonly #options: PluginsOptions;
  readonly cells: Cells;
  readonly #sleepers = new Sleepers();
  readonly #waking = new Map<Plugin, Promise<void>>();
  /** Those who wait for a plugin to have loaded or failed. */
  readonly #settled = new WeakMap<Plugin, PromiseWithResolvers<void>>();
  /** Versions that did not serve when they were replaced: what they listen to stands until the new one has loaded, or failed to. */
  readonly #standing = new Map<Plugin, Plugin>();
  readonly #reloads: Reloads;

  constructor(options: PluginsOptions) {
    this.#options = options;
    this.#reloads = new Reloads(this.#stage());
    this.cells = new Cells((plugin, cell) => options.left(plugin, cell));
  }

  /** Does any of them hold a grant with which it could cause further runs? */
  mayAsk = false;

  list(): Plugin[] {
    return [...this.#all.values()];
  }

  find(id: string): Plugin | undefined {
    return this.#all.get(id);
  }

  get(id: string): Plugin {
    const plugin = this.find(id);
    if (!plugin) throw new CreelError("ERR_PLUGIN_UNKNOWN", { plugin: id });
    return plugin;
  }

  /** Takes a plugin in. A plugin that cannot be bundled is kept, as failed, so that the operator sees it. */
  async add(plugin: Plugin): Promise<void> {
    if (this.#all.has(plugin.id)) throw new CreelError("ERR_PLUGIN_DUPLICATE", { plugin: plugin.id });
    this.#all.set(plugin.id, plugin);
    plugin.home = this.cells.assign(plugin, this.#options.lane(plugin.lane));
    this.mayAsk ||= Object.keys(plugin.grants).length > 0;
    if (plugin.status === "asleep") this.#sleepers.add(plugin);
    else if (plugin.status !== "disabled") await this.#bundle(plugin);
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
      .filter((plugin) => plugin.home?.lane === lane && plugin.bundle && isLoaded(plugin))
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
    await Promise.all(this.list().map(async (plugin) => this.#settled.get(plugin)?.promise));
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
    for (const plugin of this.#all.values()) this.#settled.get(plugin)?.resolve();
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
    this.#undeclare(plugin);
    // What is to be stopped needs its cell for a while.
    if (ending) void ending.then(() => this.cells.find(home.cell) && this.cells.drop(home));
    else this.cells.drop(home);
    this.#settle(plugin);
  }

  /** Out of its cell, and not loaded again. What it listened to stays: its gates go on to fail by their policy. */
  quarantine(plugin: Plugin): void {
    if (plugin.status === "disabled") return;
    this.cells.drop(plugin.home!);
    this.#options.services.lost(plugin);
    this.#quarantined(plugin);
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
    if (fault) return this.#failed(plugin, fault);
    plugin.status = "ready";
    plugin.loadDeaths = 0;
    if (this.#isCurrent(plugin)) this.#admit(plugin);
    else this.#settle(plugin);
  }

  /** It has registered: from now on runs meet it. */
  #admit(plugin: Plugin): void {
    plugin.diagnostics = [...this.#declare(plugin, plugin.home!, plugin.registered!), ...plugin.diagnostics];
    this.#settle(plugin);
    this.#options.services.loaded(plugin);
  }

  #stage(): Stage {
    const { breaker, services } = this.#options;
    return {
      breaker,
      services,
      find: (id) => this.#options.find(id),
      runs: () => this.#options.runs(),
      current: (id) => this.#all.get(id),
      calm: async (plugin) => {
        await this.#waking.get(plugin);
        if (plugin.status === "loading") await this.#settled.get(plugin)?.promise;
      },
      takeIn: async (plugin) => {
        await this.add(plugin);
        const all = this.list().toSorted(inOrder);
        this.#all.clear();
        for (const one of all) this.#all.set(one.id, one);
        await this.#loaded(plugin);
      },
      remove: (plugin) => {
        plugin.diagnostics = ["it is not installed any more"];
        this.disable(plugin.id);
        this.#all.delete(plugin.id);
      },
      disable: (id) => this.disable(id),
      replace: (old, plugin) => {
        this.#all.set(plugin.id, plugin);
        if (plugin.status !== "disabled") this.#standing.set(plugin, old);
      },
      load: async (plugin, met) => {
        plugin.home = this.cells.assign(plugin, this.#options.lane(plugin.lane));
        this.mayAsk ||= Object.keys(plugin.grants).length > 0;
        if (plugin.status === "disabled") return this.#settle(plugin);
        await this.#bundle(plugin, met);
        await this.#loaded(plugin);
      },
      swap: (old, plugin) => {
        this.#all.set(plugin.id, plugin);
        breaker.succeeds(plugin, old);
        this.#sleepers.remove(old);
        this.#undeclare(old);
        this.#admit(plugin);
      },
      drop: (plugin) => this.#drop(plugin),
      giveUp: (plugin) => this.#settled.get(plugin)?.resolve(),
      publish: (plugin) => this.#publish(plugin),
    };
  }

  /** Those who serve, and the versions beside them. */
  #everyone(): Plugin[] {
    return [...this.#all.values(), ...this.#reloads.beside()];
  }

  #isCurrent(plugin: Plugin): boolean {
    return this.#all.get(plugin.id) === plugin;
  }

  /** Nothing of a version is left. */
  #drop(plugin: Plugin): void {
    for (const home of [...plugin.retired.splice(0), plugin.home!]) if (this.cells.find(home.cell)) this.cells.drop(home);
    plugin.isRetired = true;
    plugin.bundle = undefined;
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
    const suspects = blamed ? [blamed] : lanes.flatMap((lane) => this.#firstOpening(lane) ?? []);
    for (const plugin of suspects) this.#killed(plugin, why, plugin === blamed);
    return blamed ?? (suspects.length === 1 ? suspects[0] : undefined);
  }

  #firstOpening(lane: LaneClient): Plugin | undefined {
    return this.#everyone().find((plugin) => plugin.isOpening && plugin.home?.lane === lane);
  }

  /** One death while it was loaded may be somebody else's doing, or an accident; a second one is held against it, and the first with it. */
  #killed(plugin: Plugin, why: string, isSure: boolean): void {
    const { circuit, isOpening } = plugin;
    if (isOpening) plugin.loadDeaths += 1;
    else circuit.strike("killed", why);
    if (isSure || plugin.loadDeaths >= LIMITS.breakerLoadKills)
      for (; plugin.loadDeaths > 0; plugin.loadDeaths--) circuit.strike("killed", why, { atLoad: true });
    this.slowDown(plugin);
  }

  async #bundle(plugin: Plugin, met = () => this.#options.breaker.meet(plugin)): Promise<void> {
    this.#settled.set(plugin, Promise.withResolvers());
    try {
      plugin.bundle = await bundlePlugin(plugin);
      met();
      if (plugin.status === "disabled") return;
      if (plugin.circuit.state === "quarantined") this.#quarantined(plugin);
      else plugin.status = "loading";
    } catch (error) {
      plugin.bundle = undefined;
      if (!(error instanceof CreelError)) throw error;
      this.#failed(plugin, ownError(error.code, { ...error.params, plugin: plugin.id }));
    }
  }

  /** Resolves when a plugin that was bundled has loaded, or failed to. */
  async #loaded(plugin: Plugin): Promise<void> {
    if (plugin.status === "loading") this.#open(plugin);
    await this.#settled.get(plugin)?.promise;
  }

  #open(plugin: Plugin): void {
    const { lane } = plugin.home!;
    // A lane that is not there yet is told when it comes.
    if (lane.isConnected) lane.postFrame(openingFrame(plugin));
  }

  #failed(plugin: Plugin, error: CallError): void {
    plugin.isOpening = false;
    plugin.status = "failed";
    plugin.error = error;
    this.#undeclare(plugin);
    // SECURITY: a guard that was tampered with must not open its gate. test/contract/installed.test.ts
    if (plugin.standIns && this.#isCurrent(plugin)) this.#declare(plugin, plugin.home!, plugin.standIns);
    this.#settle(plugin);
  }

  #quarantined(plugin: Plugin): void {
    plugin.isOpening = false;
    plugin.status = "quarantined";
    plugin.error = refusal(plugin);
    // SECURITY: one that never loaded has its stand-ins. test/contract/reload.test.ts
    const gates = plugin.registered ?? plugin.standIns;
    if (gates && this.#isCurrent(plugin) && this.#options.registry.handlersOf(plugin).length === 0)
      plugin.diagnostics = this.#declare(plugin, plugin.home!, gates);
    this.#settle(plugin);
  }

  /** Gives what was not accepted, and why. */
  #declare(plugin: Plugin, home: Home, handlers: Registration["handlers"]): string[] {
    const { registry, functions } = this.#options;
    return [...registry.set(plugin, home, { handlers }), ...functions.set(plugin, home, { handlers })];
  }

  #undeclare(plugin: Plugin): void {
    this.#options.registry.remove(plugin);
    this.#options.functions.remove(plugin);
  }

  #settle(plugin: Plugin): void {
    for (const home of plugin.retired.splice(0)) this.cells.drop(home);
    const old = this.#standing.get(plugin);
    this.#standing.delete(plugin);
    if (old) {
      this.#undeclare(old);
      this.#drop(old);
    }
    this.#settled.get(plugin)?.resolve();
    if (this.#isCurrent(plugin)) this.#publish(plugin);
  }

  #publish({ id, status, error, diagnostics }: Plugin): void {
    this.#options.events.publish("plugin", {
      plugin: id,
      status,
      diagnostics,
      ...(error && { error: error.at ? `${error.message} (${error.at})` : error.message }),
    });
  }
}
