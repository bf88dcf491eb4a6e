/** Trusted side: the report about a plugin for its operator. */
import type { FunctionKind } from "../../protocol/messages/function-kinds.ts";
import type { FunctionAbout } from "../../protocol/messages/functions.ts";
import { familyOf } from "../../protocol/catalog.ts";
import { failurePolicy, ifItFails } from "../../protocol/rules/failure-policy.ts";
import type { FailurePolicy } from "../../protocol/rules/failure-policy.ts";
import type { HandlerOptions } from "../../protocol/rules/registration.ts";
import { grantedTo } from "./granted.ts";
import type { GrantedPermission } from "./granted.ts";
import type { CallError } from "../../protocol/outcome.ts";
import type { CallBudget, PluginBudget } from "../plugins/budget.ts";
import type { CircuitReport } from "../blame/circuit.ts";
import type { Functions } from "../functions/functions.ts";
import type { Plugin, PluginStatus } from "../plugins/plugin.ts";
import type { Plugins } from "../plugins/plugins.ts";
import type { Registry } from "../plugins/registry.ts";
import type { GatewayTimeReport } from "../services/gateway-time.ts";
import type { SecretReport, Secrets } from "../services/secrets/secrets.ts";
import type { Kv, KvReport } from "../services/kv/kv.ts";
import type { VolumeReport, Volumes } from "../services/files/volumes.ts";

export interface PluginReport {
  readonly id: string;
  readonly name: string;
  readonly version: string | undefined;
  readonly status: PluginStatus;
  /** `creel install` put it there: `creel disable`, `permissions` and `update` know it. Others are changed in creel.json, or by the gateway. */
  readonly isInstalled: boolean;
  readonly error: CallError | undefined;
  /** What has no effect of its registration, its results or the operator's settings, and why. */
  readonly diagnostics: readonly string[];
  readonly lane: number;
  /** Why it lives in this lane, in one sentence. */
  readonly lanePlacement: string;
  /** It has used up a turn, or taken too much of its lane, and lives in the slow lane. */
  readonly isSlow: boolean;
  /** Why it was moved there; undefined: it was not. */
  readonly slowWhy: string | undefined;
  readonly loadMs: number | undefined;
  readonly replacements: number;
  /** Its breaker: whether its handlers are called, and what counts against it. */
  readonly circuit: CircuitReport;
  /** Its limits, and who set them; those of each call are with its hooks. */
  readonly budget: PluginBudget;
  /** What its requests have cost the gateway's thread. */
  readonly gatewayTime: GatewayTimeReport;
  /** What it keeps in its store; undefined: it was granted none. */
  readonly kv: KvReport | undefined;
  /** The files it has written; undefined: it was granted none. */
  readonly volume: VolumeReport | undefined;
  readonly bundle: { readonly bytes: number; readonly digest: string } | undefined;
  /** What it has declared for the gateway to call. */
  readonly functions: readonly {
    readonly kind: FunctionKind;
    readonly name: string;
    /** What the plugin says about it: a tool's description and parameters, and the like. */
    readonly about: FunctionAbout<FunctionKind>;
    readonly budget: CallBudget;
  }[];
  readonly hooks: readonly {
    readonly hook: string;
    readonly priority: number;
    /** What the plugin said when it registered: `matcher`, `eligibleTriggers`, `timeoutMs` and the like. */
    readonly options: HandlerOptions;
    readonly budget: CallBudget;
    /** Its failure policy, and the same in words. */
    readonly failure: FailurePolicy;
    readonly ifItFails: string;
    /** Its events, or those of one hook of this family, are kept until the plugin has handled them. */
    readonly isDurable: boolean;
  }[];
  /** All its hooks fail closed. */
  readonly isRequired: boolean;
  /** What it was granted. */
  readonly permissions: readonly GrantedPermission[];
  /** The secrets its grants name, and how often they were used. Never their values. */
  readonly secrets: readonly SecretReport[];
}

/** The parts of a host that know something about a plugin. */
export interface InspectParts {
  readonly plugins: Plugins;
  readonly registry: Registry;
  readonly functions: Functions;
  readonly kv: Kv;
  readonly volumes: Volumes;
  /** What the operator set without effect, by hook. */
  readonly idle: ReadonlyMap<string, string>;
}

export interface InspectSettings {
  readonly secrets: Secrets;
  /** The operator's failure policies, by hook. */
  readonly failure: Readonly<Record<string, FailurePolicy>>;
  /** Hooks that are durable for every plugin. */
  readonly durable: ReadonlySet<string>;
}

export function inspect(
  plugin: Plugin,
  { plugins, registry, functions, kv, volumes, idle }: InspectParts,
  { secrets, failure, durable }: InspectSettings,
): PluginReport {
  const { id, name, version, status, error, home, loadMs, replacements, circuit, bundle } = plugin;
  return {
    id,
    name,
    version,
    status,
    isInstalled: plugin.acceptedHooks !== undefined,
    error,
    diagnostics: [...plugin.diagnostics.list(), ...functions.shadowed(plugin), ...concerning(plugin, registry, idle)],
    lane: home?.lane.index ?? plugin.lane,
    lanePlacement: plugins.placement.reason(plugin),
    isSlow: plugin.slowWhy !== undefined,
    slowWhy: plugin.slowWhy,
    loadMs,
    replacements,
    circuit: circuit.report(),
    budget: plugin.budget,
    gatewayTime: plugin.gatewayTime.report(),
    kv: kv.report(plugin),
    volume: volumes.report(plugin),
    bundle: bundle && { bytes: bundle.bytes, digest: bundle.digest },
    functions: functions.of(plugin),
    isRequired: plugin.isRequired,
    hooks: (status === "asleep" ? registry.asAccepted(plugin) : registry.handlersOf(plugin)).map((handler) => {
      const { key, priority, budget, options } = handler;
      const hook = registry.hook(key)!;
      const policy = failurePolicy(hook, plugin.isRequired, failure[key]);
      const isDurable = ("isDurable" in handler && handler.isDurable) || isAmong(durable, key);
      return { hook: key, priority, options, budget, failure: policy, ifItFails: ifItFails(hook, policy), isDurable };
    }),
    permissions: grantedTo(plugin),
    secrets: secrets.report(id, plugin.grants),
  };
}

function concerning(plugin: Plugin, registry: Registry, idle: ReadonlyMap<string, string>): string[] {
  return [...idle].flatMap(([hook, diagnostic]) => (registry.plan(hook).some((handler) => handler.plugin === plugin) ? [diagnostic] : []));
}

/** `key`: a hook, or a family of internal events. */
function isAmong(durable: ReadonlySet<string>, key: string): boolean {
  return durable.has(key) || [...durable].some((name) => familyOf(name) === key);
}
