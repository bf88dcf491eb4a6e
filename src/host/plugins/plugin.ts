/** Trusted side: a plugin as the host knows it. */
import type { Grants, PluginHooksConfig } from "../../protocol/config/config.ts";
import type { CallError } from "../../protocol/outcome.ts";
import type { PluginBudget } from "./budget.ts";
import type { PluginBundle } from "../../bundler/bundle.ts";
import type { CpuShare } from "../blame/cpu-share.ts";
import type { Diagnostics } from "./diagnostics.ts";
import type { SourcePlace } from "../inspect/sources.ts";
import type { Registration } from "../../protocol/rules/registration.ts";
import type { Circuit } from "../blame/circuit.ts";
import type { LaneClient } from "../supervisor/lane-client.ts";
import type { GatewayTime } from "../services/gateway-time.ts";

/** `asleep`: a lazy plugin that is installed and not loaded yet. */
export type PluginStatus = "asleep" | "loading" | "ready" | "failed" | "disabled" | "quarantined";

/** A hook that activates a lazy plugin, as the operator accepted it. */
export interface ActivationHook {
  readonly hook: string;
  readonly priority: number;
}

/** Where a version of a plugin lives. It may move to another lane; a new version has another home. */
export interface Home {
  lane: LaneClient;
  cell: number;
}

/** One version of a plugin: what it is, where it lives, how it stands. A reload makes another, which replaces it once it has loaded. */
export interface Plugin {
  readonly id: string;
  name: string;
  version: string | undefined;
  readonly description: string | undefined;
  /** Position in the host's list; plugins with the same position go by id. Decides ties in priority, see `inOrder`. */
  readonly order: number;
  /** The quick lane that placement.ts gave it; 0 until the host has taken it in. */
  lane: number;
  /** The quick lane that the operator wants it in; undefined: placement.ts chooses. */
  readonly pinnedLane: number | undefined;
  /** A plugin lives in exactly one cell. Undefined until the host has taken it in. */
  home: Home | undefined;
  /** Cells it has left; they are dropped once its current cell has loaded. */
  retired: Home[];
  /** It may be loaded now: a lane that starts gets its opening frame. */
  isDue: boolean;
  /** The lane was told to open its cell and has not answered yet. */
  isOpening: boolean;
  /** Another version has taken its place. It finishes the runs that began with it, and nothing else. */
  isRetired: boolean;
  readonly config: Record<string, unknown>;
  /** What it sees of the operator's configuration; see visible-config.ts. */
  readonly visibleConfig: Record<string, unknown>;
  /** The tools that its manifest names; undefined: the manifest names none, and it may have any. */
  readonly contractTools: readonly string[] | undefined;
  readonly hooks: PluginHooksConfig | undefined;
  readonly grants: Grants;
  /** Of an installed plugin, the catalog's hooks that the operator accepted, in the form of `acceptedHook`: it gets no others. */
  readonly acceptedHooks?: ReadonlySet<string> | undefined;
  /** The same for its tools, commands and other functions, in the form of `acceptedFunction`. */
  readonly acceptedFunctions?: ReadonlySet<string> | undefined;
  /** The hooks that its lock entry, its manifest or its last version name: the plans keep them when it does not load. */
  knownHooks?: Registration["handlers"] | undefined;
  /** All its hooks fail closed. */
  readonly isRequired: boolean;
  /** It is refused if it imports a module that the sandbox does not have. */
  readonly isStrict: boolean;
  /** A lazy plugin is loaded when one of these is first run; undefined: it is loaded when the host opens. */
  readonly activationHooks?: readonly ActivationHook[] | undefined;
  /** Variables that the operator set for it alone. */
  readonly env: Readonly<Record<string, string>>;
  readonly budget: PluginBudget;
  /** Its versions share one. */
  cpuShare: CpuShare;
  /** What its requests cost the gateway. Its versions share one. */
  gatewayTime: GatewayTime;
  /** How much of its lane it has held over the last seconds; see neighbours.ts. */
  readonly laneShare: CpuShare;
  /** Why it lives in the slow lane; undefined: it does not. */
  slowWhy: string | undefined;
  /** It took too much of the slow lane, so what it does by itself waits; see blame/rests.ts. */
  isResting: boolean;
  /** Makes its bundle, each time it is loaded; `isLiteral` for a debugger. Rejects with a CreelError. */
  readonly makeBundle: (isLiteral: boolean) => Promise<PluginBundle>;
  bundle: PluginBundle | undefined;
  /** Where its sources are, for a debugger. */
  readonly sourcePlace?: (() => Promise<SourcePlace>) | undefined;
  status: PluginStatus;
  error: CallError | undefined;
  readonly diagnostics: Diagnostics;
  /** What it registered when it last loaded, so that its gates still block when it is not loaded. */
  registered: Registration["handlers"] | undefined;
  /** Versions with the same code share one. */
  circuit: Circuit;
  loadMs: number | undefined;
  /** How often the sandbox died while the plugin was loading; its breaker does not count these yet. */
  loadDeaths: number;
  /** How often its cell had to be replaced. */
  replacements: number;
}

/** Loaded, or to be loaded. */
export function isLoaded({ status }: Plugin): boolean {
  return status === "loading" || status === "ready";
}

/** Compares plugins by their position in the host's list. */
export function inOrder(a: Plugin, b: Plugin): number {
  return a.order - b.order || (a.id < b.id ? -1 : Number(a.id > b.id));
}
