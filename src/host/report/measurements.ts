/**
 * Trusted side: what a host counts of itself, always, for `host.stats`. Calls are counted where plans are (plugins/call-counts.ts); here
 * are runs by hook, and rarer things by plugin. A plugin's words are never a key: services that Creel does not have are all "other".
 */
import { ERRORS } from "../../protocol/errors.ts";
import type { HookStats } from "../../protocol/live-report.ts";
import type { Decision, Outcome } from "../../protocol/outcome.ts";
import { permissionOf } from "../audit/usage.ts";
import { BucketCounts } from "./bucket-counts.ts";
import type { HostEvents } from "./events.ts";

type Counts = Record<string, number>;

/** Counted from the start, so that a series exists before the first time. */
const SERVICES = ["fetch", "connect", "kv", "schedule", "session:get", "session:patch", "fs", "other"] as const;
const USES = ["fetch", "connect", "kv", "schedule", "session:get", "session:patch", "fs"] as const;
const DELIVERIES = ["delivered", "failed", "dead", "dropped"] as const;
const RESOLUTIONS = ["allow-once", "allow-always", "deny", "timeout", "cancelled"] as const;

export interface PluginCounts {
  readonly replacements: Counts;
  droppedLogLines: number;
  heapBytes: number | undefined;
  readonly fetches: Counts;
  readonly refusals: Counts;
  readonly permissionUses: Counts;
  /** By key of a grant, which the operator has written: how often it was used, and when last, in milliseconds since 1970. */
  readonly uses: Map<string, { count: number; at: number }>;
  readonly approvals: Counts;
  readonly deliveries: Counts;
}

/** Of a run without a decision, beside the decisions. */
const ABORTED = "aborted";

interface HookCounts {
  readonly runs: Counts;
  readonly duration: BucketCounts;
}

export class Measurements {
  readonly openedAt = Date.now();
  readonly recursions: Counts = zeros(["depth", "rate"]);
  readonly approvalWait = new BucketCounts();
  readonly #hooks = new Map<string, HookCounts>();
  readonly #plugins = new Map<string, PluginCounts>();
  readonly #restarts = new Map<string, { readonly plugin?: string; readonly reason: string; count: number }>();
  pendingApprovals = 0;

  constructor(events: HostEvents) {
    for (const { reason } of REASONS) this.#restarts.set(`undefined ${reason}`, { reason, count: 0 });
    events.on("replaced", ({ plugin, code }) => increase(this.plugin(plugin).replacements, REPLACED.get(code ?? "") ?? "other"));
    events.on("recursion", ({ limit }) => increase(this.recursions, limit));
    events.on("restart", ({ why, culprit }) => this.#restarted(reasonOf(why), culprit));
    events.on("refused", ({ plugin, service }) => increase(this.plugin(plugin).refusals, serviceOf(service)));
    events.on("delivery", ({ plugin, status }) => increase(this.plugin(plugin).deliveries, status));
    events.on("approval", ({ what, runId, waitedMs = 0 }) => {
      if (what === "asked") this.pendingApprovals += 1;
      else {
        this.pendingApprovals -= 1;
        this.approvalWait.add(waitedMs, runId, performance.now());
      }
    });
  }

  /** On the path of every call. */
  run({ hook, decision, runId, approval }: Outcome, wallMs: number, nowMs: number): void {
    const { runs, duration } = this.#hook(hook);
    runs[decision] = (runs[decision] ?? 0) + 1;
    duration.add(wallMs, runId, nowMs);
    if (approval) for (const { pluginId, resolution } of approval.requests) increase(this.plugin(pluginId).approvals, resolution);
  }

  /** The gateway gave up a run. How long it lasted says nothing of plugins, and is not among the durations. */
  aborted(hook: string): void {
    increase(this.#hook(hook).runs, ABORTED);
  }

  /** A permission of this kind was used, by these keys of grants. */
  used(plugin: string, kind: string, keys: readonly string[]): void {
    const { permissionUses, uses } = this.plugin(plugin);
    increase(permissionUses, kind);
    for (const key of keys) uses.set(key, { count: (uses.get(key)?.count ?? 0) + 1, at: Date.now() });
  }

  requested(plugin: string, isGranted: boolean): void {
    increase(this.plugin(plugin).fetches, isGranted ? "granted" : "refused");
  }

  plugin(id: string): PluginCounts {
    let own = this.#plugins.get(id);
    if (own) return own;
    own = {
      replacements: zeros([...REPLACED.values()]),
      droppedLogLines: 0,
      heapBytes: undefined,
      fetches: zeros(["granted", "refused"]),
      refusals: zeros(SERVICES),
      permissionUses: zeros(USES),
      uses: new Map(),
      approvals: zeros(RESOLUTIONS),
      deliveries: zeros(DELIVERIES),
    };
    this.#plugins.set(id, own);
    return own;
  }

  /** Of these hooks, with the decisions they can end with, and of all others that were run. */
  hooks(listened: ReadonlyMap<string, readonly Decision[]>): HookStats[] {
    for (const [hook, decisions] of listened) for (const decision of [...decisions, ABORTED]) this.#hook(hook).runs[decision] ??= 0;
    return Array.from(this.#hooks, ([hook, { runs, duration }]) => ({ hook, runs: { ...runs }, duration: duration.report() }));
  }

  restarts(): { readonly plugin?: string; readonly reason: string; readonly count: number }[] {
    return Array.from(this.#restarts.values(), (one) => ({ ...one }));
  }

  #hook(name: string): HookCounts {
    let own = this.#hooks.get(name);
    if (!own) this.#hooks.set(name, (own = { runs: { pass: 0 }, duration: new BucketCounts() }));
    return own;
  }

  #restarted(reason: string, plugin: string | undefined): void {
    const key = `${plugin} ${reason}`;
    const known = this.#restarts.get(key);
    if (known) known.count += 1;
    else this.#restarts.set(key, { ...(plugin !== undefined && { plugin }), reason, count: 1 });
  }
}

/** One word for why a cell was rebuilt. */
const REPLACED: ReadonlyMap<string, string> = new Map([
  ["ERR_CALL_CPU", "cpu"],
  ["ERR_CALL_CPU_SHARED", "cpu"],
  ["ERR_CALL_MEMORY", "memory"],
  ["ERR_CALL_TIMEOUT", "timeout"],
  ["", "other"],
]);

function zeros(keys: readonly string[]): Counts {
  return Object.fromEntries(keys.map((key) => [key, 0]));
}

function increase(counts: Counts, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}

/** SECURITY: the name of a service that does not exist is the plugin's word, and must not become a label. test/host/report/measurements.test.ts */
function serviceOf(service: string): string {
  return permissionOf(service) ?? (service.startsWith("fetch") ? "fetch" : service.startsWith("connect") ? "connect" : "other");
}

/** The beginnings of the messages that say why a sandbox was replaced; what follows has numbers. */
const REASONS = (
  [
    ["died", "ERR_SANDBOX_DIED"],
    ["frozen", "ERR_SANDBOX_FROZEN"],
    ["link", "ERR_SANDBOX_LINK"],
    ["memory", "ERR_SANDBOX_MEMORY"],
    ["protocol", "ERR_SANDBOX_PROTOCOL"],
    ["stuck", "ERR_SANDBOX_STUCK"],
    ["wedged", "ERR_SANDBOX_WEDGED"],
  ] as const
).map(([reason, code]) => ({ reason, beginning: ERRORS[code].message.split("{")[0]! }));

/** One word for why a sandbox was replaced: texts have numbers in them, and labels must not. */
export function reasonOf(why: string): string {
  return REASONS.find(({ beginning }) => beginning.length > 0 && why.startsWith(beginning))?.reason ?? "died";
}
