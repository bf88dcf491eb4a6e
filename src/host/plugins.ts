/** Trusted side: the plugins of a host: bundled, placed in lanes, loaded, and what they registered taken down. */
import { dirname } from "node:path";
import { pack } from "../protocol/frame.ts";
import type { LaneMessage } from "../protocol/messages.ts";
import type { CallError } from "../protocol/outcome.ts";
import { registration } from "../protocol/registration.ts";
import type { Registration } from "../protocol/registration.ts";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { limitsOf } from "./budget.ts";
import { refusal } from "./breaker.ts";
import type { Breaker } from "./breaker.ts";
import { bundleFile, bundleText } from "./bundle.ts";
import type { PluginBundle } from "./bundle.ts";
import type { HostEvents } from "./events.ts";
import type { Functions } from "./functions.ts";
import { guestError, oneLine, ownError } from "./guest-error.ts";
import { firstIssue } from "./issues.ts";
import type { LaneClient } from "./lanes/lane-client.ts";
import { findPlugin } from "./manifest.ts";
import { missingModules } from "./missing-modules.ts";
import { Cells } from "./cells.ts";
import { factsOf } from "./guest-facts.ts";
import type { Home, Plugin } from "./plugin.ts";
import type { PluginServices } from "./plugin-services.ts";
import type { Registry } from "./registry.ts";
import { Sleepers } from "./sleepers.ts";
import { touchedRemark } from "./touched.ts";
import { checkScript } from "./turn-script.ts";

export interface PluginsOptions {
  readonly registry: Registry;
  readonly functions: Functions;
  readonly services: PluginServices;
  readonly events: HostEvents;
  readonly breaker: Breaker;
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
  readonly #settled = new Map<Plugin, PromiseWithResolvers<void>>();

  constructor(options: PluginsOptions) {
    this.#options = options;
    this.cells = new Cells((plugin, cell) => options.left(plugin, cell));
  }

  /** Does any of them hold a grant with which it could cause further runs? */
  mayAsk = false;

  list(): Plugin[] {
    return [...this.#all.values()];
  }

  get(id: string): Plugin {
    const plugin = this.#all.get(id);
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
      if (plugin.status === "loading") this.#open(plugin);
      await this.#settled.get(plugin)?.promise;
    } finally {
      this.#sleepers.remove(plugin);
      this.#waking.delete(plugin);
    }
  }

  /** What a fresh lane must be told about its plugins. */
  openings(lane: LaneClient): string[] {
    return this.list()
      .filter((plugin) => homeToBe(plugin).lane === lane && plugin.bundle && isLoaded(plugin))
      .map((plugin) => this.#opening(plugin));
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

  async reload(id: string): Promise<void> {
    const plugin = this.get(id);
    // What it would be loaded from then is what it is loaded from now.
    if (plugin.status === "asleep" || this.#waking.has(plugin)) return this.wake(plugin);
    plugin.status = "loading";
    plugin.error = undefined;
    plugin.loadDeaths = 0;
    await this.#options.services.stop(plugin);
    plugin.remarks.clear();
    await this.#bundle(plugin);
    if (!plugin.bundle || this.get(id).status !== "loading") return;
    // A home of its own, in the lane it was first given: until it has loaded, runs meet the old version, and never a mixture of both.
    if (plugin.next) this.cells.drop(plugin.next);
    plugin.next = this.cells.assign(plugin, this.#options.lane(plugin.lane));
    this.#open(plugin);
    await this.settled();
  }

  /**
   * A plugin that has used up a turn goes to the slow lane, so that its neighbours do not wait behind it again. What is in its old
   * cell is finished there, if that cell lives; whatever comes from now on waits for the new one.
   */
  slowDown(plugin: Plugin): void {
    const { home } = plugin;
    const slow = this.#options.slowLane();
    if (!home || home.lane === slow || plugin.next || !isLoaded(plugin)) return;
    const left = this.cells.move(plugin, home, slow);
    plugin.retired.push(left);
    this.#options.registry.moved();
    this.#open(plugin);
    left.lane.evict(left.cell);
  }

  disable(id: string): void {
    const plugin = this.get(id);
    plugin.status = "disabled";
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
    if (plugin.next) this.cells.drop(plugin.next);
    plugin.next = undefined;
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
    if (cell !== homeToBe(plugin).cell || !isLoaded(plugin) || plugin.isOpening) return;
    plugin.circuit.strike("crashed", why);
    if (isLoaded(plugin)) this.#open(plugin);
  }

  /** The lane says that a cell has loaded, or failed to. */
  opened(plugin: Plugin, { cell, ok, loadMs }: Extract<LaneMessage, { kind: "opened" }>, body: string): void {
    const home = homeToBe(plugin);
    if (plugin.status === "disabled" || plugin.status === "quarantined" || cell !== home.cell) return;
    plugin.isOpening = false;
    plugin.loadMs = loadMs;
    if (!ok) return this.#failed(plugin, loadError(guestError(body, plugin.bundle)));
    let declared: unknown;
    try {
      declared = JSON.parse(body);
    } catch {
      declared = undefined;
    }
    const parsed = registration.safeParse(declared);
    if (!parsed.success) return this.#failed(plugin, ownError("ERR_PLUGIN_REGISTRATION", firstIssue(parsed.error)));
    const found = parsed.data;
    plugin.name = oneLine(found.name ?? plugin.name, LIMITS.nameChars);
    plugin.version ??= found.version && oneLine(found.version, 64);
    if (plugin.next) {
      plugin.retired.push(plugin.home!);
      plugin.home = plugin.next;
      plugin.next = undefined;
    }
    plugin.registered = found.handlers;
    const diagnostics = [...this.#declare(plugin, home, found.handlers), ...(found.touched ?? []).map(touchedRemark)];
    if (found.id !== undefined && found.id !== plugin.id)
      diagnostics.push(`the plugin calls itself "${oneLine(found.id, LIMITS.nameChars)}"; here it is "${plugin.id}"`);
    plugin.diagnostics = diagnostics;
    plugin.status = "ready";
    plugin.error = undefined;
    plugin.loadDeaths = 0;
    this.#settle(plugin);
    this.#options.services.loaded(plugin);
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
    return this.list().find((plugin) => plugin.isOpening && homeToBe(plugin).lane === lane);
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

  async #bundle(plugin: Plugin): Promise<void> {
    this.#settled.set(plugin, Promise.withResolvers());
    try {
      const bundle = await bundleSource(plugin);
      const missing = missingModules(bundle.builtins);
      if (missing.length > 0) {
        plugin.diagnostics = missing;
        const more = missing.length > 1 ? ` (and ${missing.length - 1} more, see its diagnostics)` : "";
        throw new CreelError("ERR_PLUGIN_ABSENT", { sentence: missing[0]!, more });
      }
      plugin.bundle = bundle;
      this.#options.breaker.meet(plugin);
      if (plugin.status === "disabled") return;
      if (plugin.circuit.state === "quarantined") this.#quarantined(plugin);
      else plugin.status = "loading";
    } catch (error) {
      plugin.bundle = undefined;
      if (!(error instanceof CreelError)) throw error;
      this.#failed(plugin, ownError(error.code, { ...error.params, plugin: plugin.id }));
    }
  }

  #open(plugin: Plugin): void {
    const { lane } = homeToBe(plugin);
    // A lane that is not there yet is told when it comes.
    if (lane.isConnected) lane.postFrame(this.#opening(plugin));
  }

  #opening(plugin: Plugin): string {
    plugin.isOpening = true;
    const { id, budget, grants, bundle } = plugin;
    const hasFineClock = grants.clock === "fine";
    const hasVolume = grants.fs !== undefined && bundle!.readsFiles;
    return pack(
      { kind: "open", cell: homeToBe(plugin).cell, plugin: id, limits: limitsOf(budget), hasFineClock, hasVolume },
      bundle!.code,
      JSON.stringify(factsOf(plugin)),
      bundle!.own,
    );
  }

  #failed(plugin: Plugin, error: CallError): void {
    plugin.isOpening = false;
    plugin.status = "failed";
    plugin.error = error;
    this.#undeclare(plugin);
    // SECURITY: a guard that was tampered with must not open its gate. test/contract/installed.test.ts
    if (plugin.standIns) this.#declare(plugin, plugin.home!, plugin.standIns);
    this.#settle(plugin);
  }

  #quarantined(plugin: Plugin): void {
    plugin.isOpening = false;
    plugin.status = "quarantined";
    plugin.error = refusal(plugin);
    if (plugin.registered && this.#options.registry.handlersOf(plugin).length === 0)
      plugin.diagnostics = this.#declare(plugin, plugin.home!, plugin.registered);
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
    this.#settled.get(plugin)?.resolve();
    this.#publish(plugin);
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

/** Loaded, or to be loaded. */
function isLoaded({ status }: Plugin): boolean {
  return status === "loading" || status === "ready";
}

/** Where it will live, or lives. */
function homeToBe({ home, next }: Plugin): Home {
  return next ?? home!;
}

async function bundleSource({ source }: Plugin): Promise<PluginBundle> {
  if ("bundle" in source) return source.bundle();
  if ("source" in source) return bundleText(source.source);
  if (source.adapter !== undefined) {
    await checkScript(source.path);
    return bundleFile(dirname(source.path), source.path, source.adapter);
  }
  const { root, entry, adapter, ownsRoot } = await findPlugin(source.path);
  return bundleFile(root, entry, adapter, ownsRoot);
}

/** What a handler's failure is called when it happens while loading. */
function loadError(error: CallError): CallError {
  return error.code === "ERR_CALL_FAILED"
    ? { ...error, code: "ERR_PLUGIN_LOAD", message: error.message.replace(/^the handler threw: /, "the plugin failed while loading: ") }
    : error;
}
