/** Trusted side: bundles plugins, gives each a cell in the lane that placement.ts chooses, opens the cell, and takes down what it registered. */
import type { PluginBundle } from "../../bundler/bundle.ts";
import { missingModules, unavailable } from "../../bundler/missing-modules.ts";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { LaneMessage } from "../../protocol/messages/host-lane.ts";
import { fitsBytes } from "../../transport/frames.ts";
import type { Breaker } from "../blame/breaker.ts";
import { ownError } from "../run/guest-error.ts";
import type { LaneClient } from "../supervisor/lane-client.ts";
import type { Cells } from "./cells.ts";
import { LazyPlugins } from "./lazy-plugins.ts";
import { openingFrame, readOpened } from "./opening.ts";
import { isLoaded } from "./plugin.ts";
import type { Plugin } from "./plugin.ts";
import type { PluginServices } from "./plugin-services.ts";
import type { Roster } from "./roster.ts";

export interface LoaderOptions {
  readonly roster: Roster;
  readonly cells: Cells;
  readonly breaker: Breaker;
  readonly services: PluginServices;
  /** A quick lane, by its number. */
  lane(index: number): LaneClient;
  /** The number of the quick lane that a plugin is to live in. */
  placeOf(plugin: Plugin): number;
}

export class PluginLoader {
  readonly lazy = new LazyPlugins();
  /** Does any plugin hold a grant with which it could cause further runs? */
  mayCauseRuns = false;
  readonly #options: LoaderOptions;
  readonly #activating = new Map<Plugin, Promise<void>>();

  constructor(options: LoaderOptions) {
    this.#options = options;
  }

  /** Gives a plugin of the roster its cell and bundles it, unless it is lazy or disabled. */
  async add(plugin: Plugin): Promise<void> {
    this.#assign(plugin, this.#options.placeOf(plugin));
    if (plugin.status === "asleep") this.lazy.add(plugin);
    else if (plugin.status !== "disabled") await this.#bundle(plugin);
  }

  /** Opens the cell of a plugin that was bundled; `loaded` says when it has registered. */
  open(plugin: Plugin): void {
    if (plugin.status === "loading") this.reopen(plugin);
  }

  /** Opens the plugin's cell in its lane, also after a move. */
  reopen(plugin: Plugin): void {
    const { lane } = plugin.home!;
    plugin.isDue = true;
    // A lane that is not connected yet gets the frame with its greeting.
    const frame = lane.isConnected ? this.#frameOf(plugin) : undefined;
    if (frame !== undefined) lane.postFrame(frame);
  }

  /** The frames that a fresh lane needs for its plugins. */
  openings(lane: LaneClient, plugins: readonly Plugin[]): string[] {
    return plugins
      .filter((plugin) => plugin.home?.lane === lane && plugin.isDue && plugin.bundle && isLoaded(plugin))
      .flatMap((plugin) => this.#frameOf(plugin) ?? []);
  }

  /** Loads a version of a plugin in a cell. Resolves when it has loaded, or failed. `met` is called when there is a bundle, or none. */
  async load(plugin: Plugin, met: () => void, lane: number = this.#options.placeOf(plugin)): Promise<void> {
    this.#assign(plugin, lane);
    if (plugin.status === "disabled") return this.#options.roster.settle(plugin);
    await this.#bundle(plugin, met);
    await this.loaded(plugin);
  }

  /** Opens a plugin that was bundled. Resolves when it has loaded, or failed. */
  async loaded(plugin: Plugin): Promise<void> {
    this.open(plugin);
    await this.#options.roster.settled(plugin);
  }

  /** Loads a lazy plugin. Resolves when it has loaded, or failed: then its fail-closed gates stand, and block. */
  activate(plugin: Plugin): Promise<void> {
    const activating = this.#activating.get(plugin) ?? this.#activate(plugin);
    this.#activating.set(plugin, activating);
    return activating;
  }

  /** Resolves when the plugin is neither loading nor being activated. */
  async idle(plugin: Plugin): Promise<void> {
    await this.#activating.get(plugin);
    if (plugin.status === "loading") await this.#options.roster.settled(plugin);
  }

  /** The lane says that a cell has loaded, or failed to. */
  opened(plugin: Plugin, { cell, ok, loadMs }: Extract<LaneMessage, { kind: "opened" }>, body: string): void {
    const { roster } = this.#options;
    if (plugin.status === "disabled" || plugin.status === "quarantined" || cell !== plugin.home?.cell) return;
    plugin.isOpening = false;
    if (plugin.isRetired) return;
    plugin.loadMs = loadMs;
    const fault = readOpened(plugin, ok, body);
    if (fault) return roster.fail(plugin, fault);
    plugin.status = "ready";
    plugin.loadDeaths = 0;
    if (roster.isCurrent(plugin)) this.admit(plugin);
    else roster.settle(plugin);
  }

  /** The plugin has registered: from now on runs call it. `isNews`: not for a plugin that has only moved to another lane. */
  admit(plugin: Plugin, isNews = true): void {
    this.#options.roster.admit(plugin, isNews);
    this.#options.services.loaded(plugin);
  }

  #assign(plugin: Plugin, lane: number): void {
    plugin.lane = lane;
    plugin.home = this.#options.cells.assign(plugin, this.#options.lane(lane));
    // A developer at a breakpoint is no fault of the plugin's.
    plugin.circuit.isExempt ||= plugin.home.lane.isDebug;
    this.mayCauseRuns ||= Object.keys(plugin.grants).length > 0;
  }

  async #activate(plugin: Plugin): Promise<void> {
    try {
      await this.#bundle(plugin);
      await this.loaded(plugin);
    } finally {
      this.lazy.remove(plugin);
      this.#activating.delete(plugin);
    }
  }

  /** A plugin that cannot be bundled is kept as failed, so that the operator sees it. */
  async #bundle(plugin: Plugin, met = () => this.#options.breaker.meet(plugin)): Promise<void> {
    const { roster } = this.#options;
    roster.began(plugin);
    try {
      plugin.bundle = await bundlePlugin(plugin);
      met();
      if (plugin.status === "disabled") return;
      if (plugin.circuit.state === "quarantined") roster.quarantine(plugin);
      else plugin.status = "loading";
    } catch (error) {
      plugin.bundle = undefined;
      if (!(error instanceof CreelError)) throw error;
      roster.fail(plugin, ownError(error.code, { ...error.params, plugin: plugin.id }));
    }
  }

  /** Undefined: the frame is too long to send, and the plugin has failed. */
  #frameOf(plugin: Plugin): string | undefined {
    const frame = openingFrame(plugin);
    if (fitsBytes(frame, LIMITS.frames.bytes)) return frame;
    plugin.isOpening = false;
    const params = { plugin: plugin.id, bytes: Buffer.byteLength(frame), limit: LIMITS.frames.bytes };
    this.#options.roster.fail(plugin, ownError("ERR_PLUGIN_FRAME", params));
    return undefined;
  }
}

/** Rejects with a CreelError. The diagnostics name the modules that the plugin misses. */
async function bundlePlugin(plugin: Plugin): Promise<PluginBundle> {
  const bundle = await plugin.makeBundle(plugin.home?.lane.isDebug === true);
  for (const [at, text] of unavailable(bundle.builtins).entries()) plugin.diagnostics.set(`absent ${at}`, text);
  const missing = plugin.isStrict ? missingModules(bundle.builtins) : [];
  if (missing.length === 0) return bundle;
  plugin.diagnostics.ofLoad = missing;
  const more = missing.length > 1 ? ` (and ${missing.length - 1} more, see its diagnostics)` : "";
  throw new CreelError("ERR_PLUGIN_ABSENT", { sentence: missing[0]!, more });
}
