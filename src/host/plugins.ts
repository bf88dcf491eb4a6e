/** Trusted side: the plugins of a host: bundled, placed in lanes, loaded, and what they registered taken down. */
import { dirname } from "node:path";
import { pack } from "../protocol/frame.ts";
import type { LaneMessage } from "../protocol/messages.ts";
import type { CallError } from "../protocol/outcome.ts";
import { registration } from "../protocol/registration.ts";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { bundleFile, bundleText } from "./bundle.ts";
import type { PluginBundle } from "./bundle.ts";
import type { HostEvents } from "./events.ts";
import { guestError, oneLine, ownError } from "./guest-error.ts";
import { firstIssue } from "./issues.ts";
import type { LaneClient } from "./lanes/lane-client.ts";
import { findPlugin } from "./manifest.ts";
import type { Plugin } from "./plugin.ts";
import type { Registry } from "./registry.ts";
import { checkScript } from "./turn-script.ts";

/** A sandbox that dies while a plugin loads is tried once more with it, not for ever. */
const MAX_LOAD_DEATHS = 2;

export interface PluginsOptions {
  readonly registry: Registry;
  readonly events: HostEvents;
  readonly heapMb: number;
  lane(plugin: Plugin): LaneClient;
}

export class Plugins {
  readonly #all = new Map<string, Plugin>();
  readonly #byCell = new Map<number, Plugin>();
  readonly #options: PluginsOptions;
  #nextCell = 0;
  /** Those who wait for a plugin to have loaded or failed. */
  readonly #settled = new Map<Plugin, PromiseWithResolvers<void>>();

  constructor(options: PluginsOptions) {
    this.#options = options;
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

  /** Whose cell it is; undefined when it was dropped meanwhile. Throws when it never was in this lane. */
  byCell(cell: number, lane: LaneClient): Plugin | undefined {
    const plugin = this.#byCell.get(cell);
    if (plugin ? plugin.lane !== lane.index : cell >= this.#nextCell)
      throw new RangeError(`a message about a cell that is not in lane ${lane.index}`);
    return plugin;
  }

  /** Who lives in a cell; undefined when it was dropped. */
  inCell(cell: number): Plugin | undefined {
    const plugin = this.#byCell.get(cell);
    return plugin?.status === "disabled" ? undefined : plugin;
  }

  /** Takes a plugin in. A plugin that cannot be bundled is kept, as failed, so that the operator sees it. */
  async add(plugin: Plugin): Promise<void> {
    if (this.#all.has(plugin.id)) throw new CreelError("ERR_PLUGIN_DUPLICATE", { plugin: plugin.id });
    this.#all.set(plugin.id, plugin);
    this.#byCell.set(plugin.cell, plugin);
    this.#nextCell = Math.max(this.#nextCell, plugin.cell + 1);
    this.mayAsk ||= Object.keys(plugin.grants).length > 0;
    if (plugin.status !== "disabled") await this.#bundle(plugin);
  }

  /** What a fresh lane must be told about its plugins. */
  openings(lane: LaneClient): string[] {
    return this.list()
      .filter((plugin) => plugin.lane === lane.index && plugin.bundle && (plugin.status === "loading" || plugin.status === "ready"))
      .map((plugin) => this.#opening(plugin));
  }

  /** Resolves when none is loading any more. */
  async settled(): Promise<void> {
    await Promise.all(this.list().map(async (plugin) => this.#settled.get(plugin)?.promise));
  }

  async reload(id: string): Promise<void> {
    const plugin = this.get(id);
    plugin.status = "loading";
    plugin.error = undefined;
    plugin.loadDeaths = 0;
    plugin.remarks.clear();
    await this.#bundle(plugin);
    if (!plugin.bundle || this.get(id).status !== "loading") return;
    // A cell of its own: until it has loaded, runs meet the old version, and never a mixture of both.
    plugin.retired.push(plugin.cell);
    plugin.cell = this.#nextCell++;
    this.#byCell.set(plugin.cell, plugin);
    this.#options.lane(plugin).postFrame(this.#opening(plugin));
    await this.settled();
  }

  disable(id: string): void {
    const plugin = this.get(id);
    plugin.status = "disabled";
    this.#options.registry.remove(plugin);
    this.#drop(plugin, plugin.cell);
    this.#settle(plugin);
  }

  /** The lane says that a cell has loaded, or failed to. */
  opened(plugin: Plugin, { cell, ok, loadMs }: Extract<LaneMessage, { kind: "opened" }>, body: string): void {
    if (plugin.status === "disabled" || cell !== plugin.cell) return;
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
    const diagnostics = this.#options.registry.set(plugin, this.#options.lane(plugin), found);
    if (found.id !== undefined && found.id !== plugin.id)
      diagnostics.push(`the plugin calls itself "${oneLine(found.id, LIMITS.nameChars)}"; here it is "${plugin.id}"`);
    plugin.diagnostics = diagnostics;
    plugin.status = "ready";
    plugin.error = undefined;
    this.#settle(plugin);
  }

  /** A lane died under its plugins. */
  sandboxDied(lanes: readonly number[], why: string): void {
    for (const plugin of this.list()) {
      if (plugin.status !== "loading" || !lanes.includes(plugin.lane) || !plugin.bundle) continue;
      plugin.loadDeaths += 1;
      if (plugin.loadDeaths >= MAX_LOAD_DEATHS) this.#failed(plugin, ownError("ERR_PLUGIN_LOAD", { detail: why }));
    }
  }

  async #bundle(plugin: Plugin): Promise<void> {
    this.#settled.set(plugin, Promise.withResolvers());
    try {
      plugin.bundle = await bundleSource(plugin);
    } catch (error) {
      plugin.bundle = undefined;
      if (!(error instanceof CreelError)) throw error;
      this.#failed(plugin, ownError(error.code, error.params));
    }
  }

  #opening(plugin: Plugin): string {
    const facts = { id: plugin.id, name: plugin.name, version: plugin.version, pluginConfig: plugin.config };
    return pack(
      { kind: "open", cell: plugin.cell, plugin: plugin.id, heapMb: this.#options.heapMb },
      plugin.bundle!.code,
      JSON.stringify(facts),
    );
  }

  #failed(plugin: Plugin, error: CallError): void {
    plugin.status = "failed";
    plugin.error = error;
    this.#options.registry.remove(plugin);
    this.#settle(plugin);
  }

  #drop(plugin: Plugin, cell: number): void {
    this.#options.lane(plugin).post({ kind: "drop", cell });
  }

  #settle(plugin: Plugin): void {
    for (const cell of plugin.retired.splice(0)) {
      this.#drop(plugin, cell);
      this.#byCell.delete(cell);
    }
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

async function bundleSource({ source }: Plugin): Promise<PluginBundle> {
  if ("source" in source) return bundleText(source.source);
  if (source.adapter !== undefined) {
    await checkScript(source.path);
    return bundleFile(dirname(source.path), source.path, source.adapter);
  }
  const { root, entry, adapter } = await findPlugin(source.path);
  return bundleFile(root, entry, adapter);
}

/** What a handler's failure is called when it happens while loading. */
function loadError(error: CallError): CallError {
  return error.code === "ERR_CALL_FAILED"
    ? { ...error, code: "ERR_PLUGIN_LOAD", message: error.message.replace(/^the handler threw: /, "the plugin failed while loading: ") }
    : error;
}
