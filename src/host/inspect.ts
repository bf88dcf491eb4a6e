/** Trusted side: what an operator may know about a plugin. */
import type { FunctionKind } from "../protocol/functions.ts";
import type { CallError } from "../protocol/outcome.ts";
import type { CallBudget, PluginBudget } from "./budget.ts";
import type { CircuitReport } from "./circuit.ts";
import type { Functions } from "./functions.ts";
import type { Plugin, PluginStatus } from "./plugin.ts";
import type { Registry } from "./registry.ts";
import type { SecretReport, Secrets } from "./services/secrets.ts";
import type { Kv, KvReport } from "./services/kv.ts";
import type { VolumeReport, Volumes } from "./volume/volumes.ts";

export interface PluginReport {
  readonly id: string;
  readonly name: string;
  readonly version: string | undefined;
  readonly status: PluginStatus;
  readonly error: CallError | undefined;
  /** What was not accepted of what it registered or answered, or of what the operator set for its hooks, and why. */
  readonly diagnostics: readonly string[];
  readonly lane: number;
  /** It has used up a turn, and runs where nobody quick waits behind it. */
  readonly isSlow: boolean;
  readonly loadMs: number | undefined;
  readonly replacements: number;
  /** Its breaker: whether its handlers are called, and what counts against it. */
  readonly circuit: CircuitReport;
  /** What it may take, and who said so; what each of its calls may take is with its hooks. */
  readonly budget: PluginBudget;
  /** What it keeps in its store; undefined: it was granted none. */
  readonly kv: KvReport | undefined;
  /** The files it has written; undefined: it was granted none. */
  readonly volume: VolumeReport | undefined;
  readonly bundle: { readonly bytes: number; readonly digest: string } | undefined;
  /** What it has declared for the gateway to call. */
  readonly functions: readonly { readonly kind: FunctionKind; readonly name: string; readonly budget: CallBudget }[];
  readonly hooks: readonly { readonly hook: string; readonly priority: number; readonly budget: CallBudget }[];
  /** The secrets its grants name, and what became of them. Never their values. */
  readonly secrets: readonly SecretReport[];
}

/** `idle`: what the operator set without effect, by hook. */
export function inspect(
  plugin: Plugin,
  registry: Registry,
  functions: Functions,
  idle: ReadonlyMap<string, string>,
  kv: Kv,
  secrets: Secrets,
  volumes: Volumes,
): PluginReport {
  const { id, name, version, status, error, home, loadMs, replacements, circuit, bundle } = plugin;
  return {
    id,
    name,
    version,
    status,
    error,
    diagnostics: [...plugin.diagnostics, ...functions.shadowed(plugin), ...plugin.remarks.values(), ...concerning(plugin, registry, idle)],
    lane: home?.lane.index ?? plugin.lane,
    isSlow: home !== undefined && home.lane.index !== plugin.lane,
    loadMs,
    replacements,
    circuit: circuit.report(),
    budget: plugin.budget,
    kv: kv.report(plugin),
    volume: volumes.report(plugin),
    bundle: bundle && { bytes: bundle.bytes, digest: bundle.digest },
    functions: functions.of(plugin),
    hooks:
      status === "asleep"
        ? registry.asAccepted(plugin)
        : registry.handlersOf(plugin).map(({ key, priority, budget }) => ({ hook: key, priority, budget })),
    secrets: secrets.report(id, plugin.grants),
  };
}

function concerning(plugin: Plugin, registry: Registry, idle: ReadonlyMap<string, string>): string[] {
  return [...idle].flatMap(([hook, remark]) => (registry.plan(hook).some((handler) => handler.plugin === plugin) ? [remark] : []));
}
