/**
 * Trusted side: replaces a version of a plugin while it serves: by its current version (reload), or by a copy in another lane (move). The new
 * version is loaded in a cell of its own; only when it has registered does it take the old one's place, in one step. Runs that began with
 * the old version finish there. A new version that fails leaves no trace but the reason.
 */
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { CallError } from "../../protocol/outcome.ts";
import type { Breaker } from "../blame/breaker.ts";
import { Circuit } from "../blame/circuit.ts";
import { CpuShare } from "../blame/cpu-share.ts";
import { ownError } from "../run/guest-error.ts";
import type { RunInput } from "../run/run-input.ts";
import type { PluginLoader } from "./loader.ts";
import type { Plugin } from "./plugin.ts";
import type { PluginServices } from "./plugin-services.ts";
import type { Roster } from "./roster.ts";

export interface ReloadsOptions {
  readonly roster: Roster;
  readonly loader: PluginLoader;
  readonly breaker: Breaker;
  readonly services: PluginServices;
  /** Finds the current version of a plugin by its id; undefined: there is none. Rejects with a CreelError. */
  find(id: string): Promise<Plugin | undefined>;
  /** The runs in flight. */
  runs(): RunInput[];
  add(plugin: Plugin): Promise<void>;
  /** Takes a plugin out of its cell; what is under way about it goes on. */
  takeOut(plugin: Plugin): void;
}

/** How a reload ended. */
export interface Reloaded<T> {
  /** The version that counted then; of a plugin that was uninstalled, the last one. */
  readonly plugin: Plugin;
  readonly error: CallError | undefined;
  /** What was to be said about it then: a later reload may change the same plugin. */
  readonly report: T;
}

interface Attempt {
  readonly id: string;
  /** The same version goes to another lane. */
  readonly isMove: boolean;
  /** The plugin was disabled meanwhile. */
  isCalledOff: boolean;
  /** The version that is being tried. */
  tried: Plugin | undefined;
}

interface Leaving {
  readonly runs: Set<RunInput>;
  readonly late: NodeJS.Timeout;
}

/** How the error of a plugin begins whose new version has failed. */
export const WENT_ON = "the new version was not taken in, the one before goes on: ";

export class Reloads {
  readonly #options: ReloadsOptions;
  readonly #attempts = new Set<Attempt>();
  /** The last attempt of each plugin: they run one after the other. */
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #leaving = new Map<Plugin, Leaving>();
  #isClosed = false;

  constructor(options: ReloadsOptions) {
    this.#options = options;
  }

  /** Versions in cells beside those that serve: first those that finish their last runs, then those that are being tried. */
  beside(): Plugin[] {
    return [...this.#leaving.keys(), ...[...this.#attempts].flatMap(({ tried }) => tried ?? [])];
  }

  /** Reloads of one plugin are made in the order in which they were requested, so the last one wins. */
  reload<T>(id: string, report: (plugin: Plugin) => T): Promise<Reloaded<T>> {
    return this.#inTurn(id, false, async (attempt) => {
      const plugin = await this.#reload(attempt);
      if (this.#isClosed) throw new CreelError("ERR_HOST_CLOSED");
      return { plugin, error: plugin.error, report: report(plugin) };
    });
  }

  /** Moves a plugin that serves to another quick lane. A copy that does not load there is given up, and the plugin stays. Never rejects. */
  async move(id: string, lane: number): Promise<void> {
    await this.#inTurn(id, true, (attempt) => this.#move(attempt, lane)).catch(() => {});
  }

  /** The plugin was disabled: no attempt that was requested before may undo that. */
  disable(plugin: Plugin): void {
    for (const attempt of this.#attempts) if (attempt.id === plugin.id) this.#callOff(attempt);
    this.#takeOut(plugin);
  }

  /** A run has ended, or waits for nothing but a user. */
  ended(run: RunInput): void {
    if (this.#leaving.size === 0) return;
    for (const [plugin, { runs }] of this.#leaving) if (runs.delete(run) && runs.size === 0) this.#done(plugin);
  }

  close(): void {
    this.#isClosed = true;
    for (const attempt of this.#attempts) this.#callOff(attempt);
    for (const { late } of this.#leaving.values()) clearTimeout(late);
  }

  /** Its retired versions end, too. */
  #takeOut(plugin: Plugin): void {
    this.#options.takeOut(plugin);
    for (const retired of this.#leaving.keys()) if (retired.id === plugin.id) this.#left(retired);
  }

  #callOff(attempt: Attempt): void {
    attempt.isCalledOff = true;
    if (attempt.tried) this.#options.roster.giveUp(attempt.tried);
  }

  async #inTurn<T>(id: string, isMove: boolean, work: (attempt: Attempt) => Promise<T>): Promise<T> {
    const attempt: Attempt = { id, isMove, isCalledOff: false, tried: undefined };
    this.#attempts.add(attempt);
    const before = this.#last.get(id);
    const mine = (async () => {
      await before?.catch(() => {});
      return work(attempt);
    })();
    this.#last.set(id, mine);
    try {
      return await mine;
    } finally {
      this.#attempts.delete(attempt);
      if (this.#last.get(id) === mine) this.#last.delete(id);
    }
  }

  async #reload(attempt: Attempt): Promise<Plugin> {
    const { roster, loader, breaker } = this.#options;
    const { id } = attempt;
    const old = roster.find(id);
    if (old) await loader.idle(old);
    let plugin: Plugin | undefined;
    try {
      plugin = await this.#options.find(id);
    } catch (error) {
      if (!old || !(error instanceof CreelError)) throw error;
      return this.#refuse(old, ownError(error.code, error.params));
    }
    if (this.#isClosed) throw new CreelError("ERR_HOST_CLOSED");
    if (!old) return this.#takeIn(id, plugin);
    if (attempt.isCalledOff) return old;
    if (!plugin) return this.#remove(old);
    plugin.cpuShare = old.cpuShare;
    plugin.gatewayTime = old.gatewayTime;
    plugin.gatewayTime.allow(plugin.budget.gatewayMs.value);
    plugin.replacements = old.replacements;
    plugin.knownHooks ??= old.registered ?? old.knownHooks;
    if (plugin.status === "disabled") {
      // Not `disable`: an attempt that was requested since may find that it is enabled again.
      this.#takeOut(old);
      roster.seat(plugin);
      await loader.load(plugin, () => {});
      return plugin;
    }
    plugin.status = "loading";
    if (serves(old)) {
      const tried = plugin;
      const counts = await this.#try(old, tried, attempt, () => loader.load(tried, () => {}));
      return counts === tried && counts.status !== "ready" ? this.#refuse(old, counts.error!) : counts;
    }
    roster.replace(old, plugin);
    await loader.load(plugin, () => breaker.succeeds(plugin, old));
    // What could not be bundled has no code of its own.
    if (!plugin.bundle) breaker.succeeds(plugin, old);
    return plugin;
  }

  async #takeIn(id: string, plugin: Plugin | undefined): Promise<Plugin> {
    if (!plugin) throw new CreelError("ERR_PLUGIN_UNKNOWN", { plugin: id });
    await this.#options.add(plugin);
    this.#options.roster.sort();
    await this.#options.loader.loaded(plugin);
    return plugin;
  }

  #remove(plugin: Plugin): Plugin {
    plugin.diagnostics.ofLoad = ["it is not installed any more"];
    this.#takeOut(plugin);
    this.#options.roster.remove(plugin);
    return plugin;
  }

  async #move(attempt: Attempt, lane: number): Promise<void> {
    const old = this.#options.roster.find(attempt.id);
    if (this.#isClosed || !old?.bundle || old.status !== "ready" || old.slowWhy !== undefined || old.lane === lane) return;
    const copy = copyOf(old);
    await this.#try(old, copy, attempt, () => this.#options.loader.load(copy, () => {}, lane));
  }

  /**
   * Loads a version beside the one that serves, and swaps them if it has loaded. Returns the version that counts then; if the new one has
   * failed, that one, with its error.
   */
  async #try(old: Plugin, plugin: Plugin, attempt: Attempt, load: () => Promise<void>): Promise<Plugin> {
    const { breaker, services, roster, loader } = this.#options;
    attempt.tried = plugin;
    breaker.tries(plugin);
    let hasStopped = false;
    try {
      await load();
      if (!attempt.isCalledOff && plugin.status === "ready") {
        // Services of two versions might be in each other's way: stop the old ones first, and only now, when it is certain.
        hasStopped = true;
        await services.stop(old);
        await loader.idle(old);
      }
    } finally {
      attempt.tried = undefined;
    }
    if (attempt.isCalledOff) {
      roster.drop(plugin);
      return old;
    }
    // A plugin that has become slow meanwhile stays in the slow lane.
    if (plugin.status !== "ready" || (attempt.isMove && old.slowWhy !== undefined)) {
      roster.drop(plugin);
      if (hasStopped) services.loaded(old);
      return plugin;
    }
    // The same code was quarantined meanwhile.
    if (breaker.isSame(plugin, old) && old.circuit.state === "quarantined") {
      roster.drop(plugin);
      return old;
    }
    this.#swap(old, plugin, !attempt.isMove);
    this.#leave(old);
    return plugin;
  }

  #swap(old: Plugin, plugin: Plugin, isNews: boolean): void {
    const { roster, breaker, loader } = this.#options;
    roster.seat(plugin);
    breaker.succeeds(plugin, old);
    loader.lazy.remove(old);
    roster.undeclare(old);
    loader.admit(plugin, isNews);
  }

  #refuse(old: Plugin, error: CallError): Plugin {
    old.error = { ...error, message: `${WENT_ON}${error.message}` };
    this.#options.roster.publish(old);
    return old;
  }

  /** Keeps the cell of a retired version for the runs that began with it, for as long as they may take. */
  #leave(plugin: Plugin): void {
    plugin.isRetired = true;
    const runs = this.#options.runs().filter(({ plan }) => plan.some((handler) => handler.plugin === plugin));
    const late = setTimeout(() => this.#left(plugin), Math.max(LIMITS.sandbox.laneGraceMs, ...runs.map(longest)));
    this.#leaving.set(plugin, { runs: new Set(runs), late: late.unref() });
    if (runs.length === 0) this.#done(plugin);
  }

  /** The log lines of its last calls arrive after their answers. */
  #done(plugin: Plugin): void {
    void plugin.home!.lane.reached().then(() => this.#left(plugin));
  }

  #left(plugin: Plugin): void {
    clearTimeout(this.#leaving.get(plugin)?.late);
    if (this.#leaving.delete(plugin)) this.#options.roster.drop(plugin);
  }
}

/** Is there anything that a failing version could take away? */
function serves({ status }: Plugin): boolean {
  return status === "ready" || status === "asleep";
}

/** The same version, to be loaded once more, with the bundle it has. */
function copyOf(plugin: Plugin): Plugin {
  const bundle = plugin.bundle!;
  return {
    ...plugin,
    home: undefined,
    retired: [],
    isDue: false,
    isOpening: false,
    status: "loading",
    circuit: new Circuit(),
    laneShare: new CpuShare(undefined, LIMITS.lane.shareMs),
    isResting: false,
    loadDeaths: 0,
    makeBundle: () => Promise.resolve(bundle),
  };
}

/** How long a run can last: all its handlers one after the other. */
function longest({ plan }: RunInput): number {
  const eachMs = plan.map(({ budget }) => budget.wallMs.value + LIMITS.sandbox.laneGraceMs);
  return eachMs.reduce((sum, ms) => sum + ms, LIMITS.call.youngRunMs);
}
