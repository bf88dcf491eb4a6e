/**
 * Trusted side: which plugin lives in which quick lane. Handlers of a sequential hook (gate, modify, claim, sync) run one after the other,
 * and a run crosses into a lane once for each row of handlers that live there. So plugins that share a sequential hook, directly or through
 * others, form a group, and a group lives in one lane. An operator's pin wins and takes a plugin out of its group; a slow plugin lives in
 * the slow lane, whatever its group.
 */
import type { Plugin } from "./plugin.ts";
import type { Registry } from "./registry.ts";
import { hooksOf } from "./roster.ts";

/** `inspect` names so many neighbours. */
const NAMED = 5;

export interface PlacementOptions {
  /** How many quick lanes the host has. */
  readonly lanes: number;
  /** The plugin that is inspected: it lives alone, in the lane after the quick ones. */
  readonly inspected?: string | undefined;
  readonly registry: Pick<Registry, "hook" | "handlersOf">;
  /** The version of each plugin that counts, in order. */
  list(): readonly Plugin[];
  /** Moves a plugin that serves to another lane without losing a call; see reloads.ts. Never rejects. */
  move(plugin: Plugin, lane: number): Promise<void>;
}

export class Placement {
  readonly #options: PlacementOptions;
  #last: Promise<void> = Promise.resolve();

  constructor(options: PlacementOptions) {
    this.#options = options;
  }

  /** The lane for a plugin that is about to load, by what is known of its hooks. Plugins of which nothing is known start together. */
  choose(plugin: Plugin): number {
    if (plugin.id === this.#options.inspected) return this.#options.lanes;
    if (plugin.pinnedLane !== undefined) return plugin.pinnedLane;
    const all = this.#options.list().filter((other) => other !== plugin && other.home);
    const before = all.find(({ id }) => id === plugin.id)?.lane;
    const hooks = this.#hooksOf(plugin);
    if (!hooks) return before ?? 0;
    const others = all.filter((other) => other.id !== plugin.id && other.slowWhy === undefined);
    const sharing = others.filter((other) => this.#isGrouped(other) && this.#hooksOf(other)?.some((hook) => hooks.includes(hook)));
    return sharing.length > 0 ? mostCommonLane(sharing) : (before ?? this.#emptiest(others));
  }

  /** Brings groups together whose plugins live in several lanes. One rebalancing at a time; it never rejects. */
  rebalance(): Promise<void> {
    return this.#inTurn(() => this.#join());
  }

  /** At the start: joins groups, then fills lanes that are still empty with whole groups. */
  spread(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#join();
      await this.#fill();
    });
  }

  /** Why a plugin lives where it does, in one sentence. */
  reason(plugin: Plugin): string {
    const { id, lane, slowWhy, pinnedLane } = plugin;
    if (id === this.#options.inspected) return "alone: it is inspected";
    if (slowWhy !== undefined) return `in the slow lane: ${slowWhy}`;
    if (pinnedLane !== undefined) return `pinned by plugins.entries.${id}.lane`;
    const hooks = this.#hooksOf(plugin);
    if (!hooks) return "its hooks are not known";
    if (hooks.length === 0) return "observes only";
    const neighbours = this.#options.list().filter((other) => other.id !== id && other.lane === lane && other.slowWhy === undefined);
    const shared = new Set<string>();
    const ids = neighbours.flatMap((other) => {
      const both = hooks.filter((hook) => this.#hooksOf(other)?.includes(hook));
      for (const hook of both) shared.add(hook);
      return both.length > 0 ? other.id : [];
    });
    if (ids.length === 0) return `shares ${hooks.join(", ")} with no other plugin`;
    const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : "";
    return `shares ${[...shared].join(", ")} with ${ids.slice(0, NAMED).join(", ")}${more}`;
  }

  /** The sequential hooks of a plugin: what it registered or, before that, what lock, manifest or its last version say. */
  #hooksOf(plugin: Plugin): string[] | undefined {
    const { registry } = this.#options;
    const registered = plugin.status === "ready" ? registry.handlersOf(plugin).map(({ key }) => key) : undefined;
    const known =
      registered ?? (hooksOf(plugin)?.filter((handler) => !handler.function) ?? plugin.activationHooks)?.map(({ hook }) => hook);
    return known && [...new Set(known)].filter((key) => isSequential(registry.hook(key)?.kind));
  }

  /** The plugins that placement may move, by group. */
  #groups(): Plugin[][] {
    const plugins = this.#options.list().filter((plugin) => isServing(plugin) && this.#isGrouped(plugin));
    return groupsOf(plugins, (plugin) => this.#hooksOf(plugin) ?? []);
  }

  async #join(): Promise<void> {
    await Promise.all(this.#groups().map((group) => this.#moveAll(group, mostCommonLane(group))));
  }

  async #fill(): Promise<void> {
    const isTaken = new Set(this.#options.list().flatMap((plugin) => (isServing(plugin) ? plugin.lane : [])));
    const empty = this.#lanes().filter((lane) => !isTaken.has(lane));
    const byLane = Map.groupBy(this.#groups(), ([first]) => first!.lane);
    // The first group of each lane stays. A chain gains more from a lane of its own than a plugin that observes.
    const spare = [...byLane.values()].flatMap((groups) => groups.slice(1)).toSorted((a, b) => this.#weight(b) - this.#weight(a));
    await Promise.all(spare.slice(0, empty.length).map((group, at) => this.#moveAll(group, empty[at]!)));
  }

  /** A pinned plugin stays where the operator wants it, and an inspected one alone. */
  #isGrouped({ id, pinnedLane }: Plugin): boolean {
    return pinnedLane === undefined && id !== this.#options.inspected;
  }

  #weight(group: readonly Plugin[]): number {
    return group.some((plugin) => this.#hooksOf(plugin)!.length > 0) ? group.length : 0;
  }

  async #moveAll(group: readonly Plugin[], lane: number): Promise<void> {
    await Promise.all(group.flatMap((plugin) => (plugin.lane === lane ? [] : this.#options.move(plugin, lane))));
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    if (this.#options.lanes === 1) return Promise.resolve();
    this.#last = this.#last.then(work);
    return this.#last;
  }

  #lanes(): number[] {
    return Array.from({ length: this.#options.lanes }, (_, lane) => lane);
  }

  #emptiest(plugins: readonly Plugin[]): number {
    const counts = this.#lanes().map((lane) => plugins.filter((plugin) => plugin.lane === lane).length);
    return counts.indexOf(Math.min(...counts));
  }
}

/** Do the handlers of such a hook run one after the other? */
function isSequential(kind: string | undefined): boolean {
  return kind !== undefined && kind !== "observe" && kind !== "evaluate";
}

/** It serves in a quick lane. */
function isServing({ status, slowWhy }: Plugin): boolean {
  return status === "ready" && slowWhy === undefined;
}

/** Plugins that share a hook, directly or through others. The order of plugins, and of groups by their first plugin, stays. */
export function groupsOf<P>(plugins: readonly P[], hooks: (plugin: P) => readonly string[]): P[][] {
  const groups: { plugins: P[]; hooks: Set<string> }[] = [];
  for (const plugin of plugins) {
    const own = hooks(plugin);
    const joined = groups.filter((group) => own.some((hook) => group.hooks.has(hook)));
    const [first = { plugins: [], hooks: new Set<string>() }, ...rest] = joined;
    if (joined.length === 0) groups.push(first);
    for (const other of rest) {
      first.plugins.push(...other.plugins);
      for (const hook of other.hooks) first.hooks.add(hook);
      groups.splice(groups.indexOf(other), 1);
    }
    first.plugins.push(plugin);
    for (const hook of own) first.hooks.add(hook);
  }
  return groups.map((group) => group.plugins);
}

/** The lane where most of them live; of several the lowest. */
function mostCommonLane(plugins: readonly Plugin[]): number {
  const counts = [...Map.groupBy(plugins, ({ lane }) => lane)].map(([lane, there]) => ({ lane, count: there.length }));
  return counts.toSorted((a, b) => b.count - a.count || a.lane - b.lane)[0]!.lane;
}
