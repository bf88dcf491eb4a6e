/**
 * Trusted side: plugins that are loaded again. The new version is found, bundled and loaded in a cell of its own while the old one serves; only
 * when it has registered does it take the old one's place, in one step. What was begun with the old version is finished there. A new version
 * that fails leaves no trace but the reason.
 */
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { CallError } from "../protocol/outcome.ts";
import type { Breaker } from "./breaker.ts";
import { ownError } from "./guest-error.ts";
import type { Plugin } from "./plugin.ts";
import type { PluginServices } from "./plugin-services.ts";
import type { Roster } from "./roster.ts";
import type { RunInput } from "./runner/run-input.ts";

/** What a reload does to the plugins of a host. */
export interface Stage {
  readonly roster: Roster;
  readonly breaker: Breaker;
  readonly services: PluginServices;
  /** The plugin as it is to be loaded now; undefined: there is none of that id. Rejects with a CreelError. */
  find(id: string): Promise<Plugin | undefined>;
  /** Resolves when it is neither being loaded nor woken. */
  calm(plugin: Plugin): Promise<void>;
  takeIn(plugin: Plugin): Promise<void>;
  remove(plugin: Plugin): void;
  disable(id: string): void;
  /** Another version is the plugin from now on. What the old one listens to stands until it has loaded, or failed to. */
  replace(old: Plugin, plugin: Plugin): void;
  /** Resolves when it has loaded, or failed to. `met` is told when there is a bundle, or none. */
  load(plugin: Plugin, met: () => void): Promise<void>;
  /** A version that was tried, and has loaded, takes the other's place. */
  swap(old: Plugin, plugin: Plugin): void;
  /** The runs that are under way. */
  runs(): RunInput[];
}

interface Attempt {
  readonly id: string;
  /** The plugin was disabled meanwhile. */
  isCalledOff: boolean;
  /** The version that is tried. */
  tried: Plugin | undefined;
}

interface Leaving {
  readonly runs: Set<RunInput>;
  readonly late: NodeJS.Timeout;
}

/** So begins the error of a plugin whose new version has failed. */
export const WENT_ON = "the new version was not taken in, the one before goes on: ";

export class Reloads {
  readonly #stage: Stage;
  readonly #attempts = new Set<Attempt>();
  /** The last of each plugin: they are made one after the other. */
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #leaving = new Map<Plugin, Leaving>();
  #isClosed = false;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Versions that are in cells beside those that serve: first those that finish what was begun, then those that are tried. */
  beside(): Plugin[] {
    return [...this.#leaving.keys(), ...[...this.#attempts].flatMap(({ tried }) => tried ?? [])];
  }

  /** Gives the plugin as it is then; one that was uninstalled, as it was last. */
  async reload(id: string): Promise<Plugin> {
    const attempt: Attempt = { id, isCalledOff: false, tried: undefined };
    this.#attempts.add(attempt);
    const before = this.#last.get(id);
    const mine = this.#inTurn(attempt, before);
    this.#last.set(id, mine);
    try {
      return await mine;
    } finally {
      this.#attempts.delete(attempt);
      if (this.#last.get(id) === mine) this.#last.delete(id);
    }
  }

  /** The plugin was disabled: no reload of it that is under way may undo that, and nothing of it goes on. */
  callOff(id: string): void {
    for (const attempt of this.#attempts) if (attempt.id === id) this.#callOff(attempt);
    for (const plugin of this.#leaving.keys()) if (plugin.id === id) this.#left(plugin);
  }

  /** A run is over, or waits for nothing but a user. */
  ended(run: RunInput): void {
    if (this.#leaving.size === 0) return;
    for (const [plugin, { runs }] of this.#leaving) if (runs.delete(run) && runs.size === 0) this.#done(plugin);
  }

  close(): void {
    this.#isClosed = true;
    for (const attempt of this.#attempts) this.#callOff(attempt);
    for (const { late } of this.#leaving.values()) clearTimeout(late);
  }

  #callOff(attempt: Attempt): void {
    attempt.isCalledOff = true;
    if (attempt.tried) this.#stage.roster.giveUp(attempt.tried);
  }

  async #inTurn(attempt: Attempt, before: Promise<unknown> | undefined): Promise<Plugin> {
    await before?.catch(() => {});
    const plugin = await this.#reload(attempt);
    if (this.#isClosed) throw new CreelError("ERR_HOST_CLOSED");
    return plugin;
  }

  async #reload(attempt: Attempt): Promise<Plugin> {
    const stage = this.#stage;
    const { id } = attempt;
    const old = stage.roster.find(id);
    if (old) await stage.calm(old);
    let plugin: Plugin | undefined;
    try {
      plugin = await stage.find(id);
    } catch (error) {
      if (!old || !(error instanceof CreelError)) throw error;
      return this.#refuse(old, ownError(error.code, error.params));
    }
    if (this.#isClosed) throw new CreelError("ERR_HOST_CLOSED");
    if (!old) {
      if (!plugin) throw new CreelError("ERR_PLUGIN_UNKNOWN", { plugin: id });
      await stage.takeIn(plugin);
      return plugin;
    }
    if (attempt.isCalledOff) return old;
    if (!plugin) {
      stage.remove(old);
      return old;
    }
    plugin.cpuShare = old.cpuShare;
    plugin.replacements = old.replacements;
    if (plugin.status === "disabled") {
      stage.disable(id);
      stage.replace(old, plugin);
      await stage.load(plugin, () => {});
      return plugin;
    }
    plugin.status = "loading";
    if (serves(old)) return this.#try(old, plugin, attempt);
    stage.replace(old, plugin);
    await stage.load(plugin, () => stage.breaker.succeeds(plugin, old));
    // What could not be bundled has no code of its own.
    if (!plugin.bundle) stage.breaker.succeeds(plugin, old);
    return plugin;
  }

  async #try(old: Plugin, plugin: Plugin, attempt: Attempt): Promise<Plugin> {
    const { breaker, services, roster, ...stage } = this.#stage;
    attempt.tried = plugin;
    breaker.tries(plugin);
    let hasStopped = false;
    try {
      await stage.load(plugin, () => {});
      if (!attempt.isCalledOff && plugin.status === "ready") {
        // Two of one kind might be in each other's way: the old version's are stopped first, and only now, since it is certain.
        hasStopped = true;
        await services.stop(old);
        await stage.calm(old);
      }
    } finally {
      attempt.tried = undefined;
    }
    if (attempt.isCalledOff) {
      roster.drop(plugin);
      return old;
    }
    if (plugin.status !== "ready") {
      const { error } = plugin;
      roster.drop(plugin);
      if (hasStopped) services.loaded(old);
      return this.#refuse(old, error!);
    }
    if (breaker.isSame(plugin, old) && old.circuit.state === "quarantined") {
      // It has come there meanwhile, and it is the same code.
      roster.drop(plugin);
      return old;
    }
    stage.swap(old, plugin);
    this.#leave(old);
    return plugin;
  }

  #refuse(old: Plugin, error: CallError): Plugin {
    old.error = { ...error, message: `${WENT_ON}${error.message}` };
    this.#stage.roster.publish(old);
    return old;
  }

  /** Its cell is kept for the runs that were begun with it, for as long as they may take. */
  #leave(plugin: Plugin): void {
    plugin.isRetired = true;
    const runs = this.#stage.runs().filter(({ plan }) => plan.some((handler) => handler.plugin === plugin));
    const late = setTimeout(() => this.#left(plugin), Math.max(LIMITS.laneGraceMs, ...runs.map(longest)));
    this.#leaving.set(plugin, { runs: new Set(runs), late: late.unref() });
    if (runs.length === 0) this.#done(plugin);
  }

  /** What its last calls have logged comes after their answers. */
  #done(plugin: Plugin): void {
    void plugin.home!.lane.reached().then(() => this.#left(plugin));
  }

  #left(plugin: Plugin): void {
    clearTimeout(this.#leaving.get(plugin)?.late);
    if (this.#leaving.delete(plugin)) this.#stage.roster.drop(plugin);
  }
}

/** Is there anything that a failing version could take away? */
function serves({ status }: Plugin): boolean {
  return status === "ready" || status === "asleep";
}

/** How long a run can last: all its handlers one after the other. */
function longest({ plan }: RunInput): number {
  const eachMs = plan.map(({ budget }) => budget.wallMs.value + LIMITS.laneGraceMs);
  return eachMs.reduce((sum, ms) => sum + ms, LIMITS.youngRunMs);
}
