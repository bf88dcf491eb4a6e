/** Trusted side: how often each handler of a plugin was called since the host opened, across reloads, how it ended and how long it took. */
import type { CallStatus } from "../../protocol/messages/host-lane.ts";
import type { Call } from "../../protocol/outcome.ts";
import { BucketCounts } from "../report/bucket-counts.ts";

/** What all handlers of a plugin took. */
export class PluginCost {
  readonly duration = new BucketCounts();
  cpuMs = 0;
}

/** Of one plugin and hook. */
export class CallCount {
  calls = 0;
  /** Of those that have ended: calls that took time, and what they took. */
  timed = 0;
  wallMs = 0;
  readonly cost: PluginCost;
  #ok = 0;
  /** Undefined as long as every call went well. */
  #others: Map<CallStatus, number> | undefined;

  constructor(cost: PluginCost) {
    this.cost = cost;
  }

  /** A run has ended. Handlers that were not called are counted by status and have no duration. */
  add({ status, wallMs, cpuMs }: Call, runId: string, nowMs: number): void {
    if (status === "ok") this.#ok += 1;
    else {
      this.#others ??= new Map();
      this.#others.set(status, (this.#others.get(status) ?? 0) + 1);
      if (wallMs === 0) return;
    }
    this.timed += 1;
    this.wallMs += wallMs;
    this.cost.duration.add(wallMs, runId, nowMs);
    this.cost.cpuMs += cpuMs;
  }

  ended(status: CallStatus): number {
    return status === "ok" ? this.#ok : (this.#others?.get(status) ?? 0);
  }
}

interface Counted {
  readonly cost: PluginCost;
  readonly hooks: Map<string, CallCount>;
}

export class CallCounts {
  readonly #all = new Map<string, Counted>();

  /** The same object for the same plugin and hook: a call is counted by adding to it. */
  of(plugin: string, hook: string): CallCount {
    const { cost, hooks } = this.#of(plugin);
    let callCount = hooks.get(hook);
    if (!callCount) hooks.set(hook, (callCount = new CallCount(cost)));
    return callCount;
  }

  plugins(): string[] {
    return [...this.#all.keys()];
  }

  cost(plugin: string): PluginCost {
    return this.#of(plugin).cost;
  }

  hooks(plugin: string): ReadonlyMap<string, CallCount> {
    return this.#of(plugin).hooks;
  }

  /** By hook, without those that were never called. */
  calls(plugin: string): Record<string, number> {
    const called = [...(this.#all.get(plugin)?.hooks ?? [])].filter(([, { calls }]) => calls > 0);
    return Object.fromEntries(called.map(([hook, { calls }]) => [hook, calls]));
  }

  #of(plugin: string): Counted {
    let own = this.#all.get(plugin);
    if (!own) this.#all.set(plugin, (own = { cost: new PluginCost(), hooks: new Map() }));
    return own;
  }
}
