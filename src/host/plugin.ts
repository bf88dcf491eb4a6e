/** Trusted side: a plugin as the host knows it. */
import type { Grants, PluginHooksConfig } from "../protocol/config.ts";
import type { CallError } from "../protocol/outcome.ts";
import type { PluginBudget } from "./budget.ts";
import type { PluginBundle } from "./bundle.ts";
import type { CpuShare } from "./cpu-share.ts";
import type { Registration } from "../protocol/registration.ts";
import type { Circuit } from "./circuit.ts";
import type { LaneClient } from "./lanes/lane-client.ts";

/** `asleep`: it is installed, and is loaded when it is first needed. */
export type PluginStatus = "asleep" | "loading" | "ready" | "failed" | "disabled" | "quarantined";

/** What it listens to, as it was when it was accepted. */
export interface WakingHook {
  readonly hook: string;
  readonly priority: number;
}

/** Where a version of a plugin lives. It may move to another lane; a new version has another home. */
export interface Home {
  lane: LaneClient;
  cell: number;
}

/** One version of a plugin: what it is, where it lives, what became of it. A reload makes another, which takes its place when it has loaded. */
export interface Plugin {
  readonly id: string;
  name: string;
  version: string | undefined;
  readonly description: string | undefined;
  /** Position in the host's list; those that share one go by id. Ties in priority go by it, see `inOrder`. */
  readonly order: number;
  /** The quick lane it was given. */
  readonly lane: number;
  /** A plugin lives in exactly one cell. Undefined until the host has taken it in. */
  home: Home | undefined;
  /** Cells it has left, to be dropped when the one it lives in now has loaded. */
  retired: Home[];
  /** It is its turn to be loaded: a lane that starts now is told of it. */
  isDue: boolean;
  /** Its cell was to be opened, and has not said that it was. */
  isOpening: boolean;
  /** Another version has taken its place. It finishes what was begun with it, and nothing else. */
  isRetired: boolean;
  readonly config: Record<string, unknown>;
  /** What it sees of the operator's configuration; see visible-config.ts. */
  readonly visibleConfig: Record<string, unknown>;
  /** The tools that its manifest says it has; undefined: it says nothing, and may have any. */
  readonly contractTools: readonly string[] | undefined;
  readonly hooks: PluginHooksConfig | undefined;
  readonly grants: Grants;
  /** The hooks of the catalog that it was accepted with, if it was installed, as `acceptedHook` makes them: others it does not get. */
  readonly acceptedHooks?: ReadonlySet<string> | undefined;
  /** The same for tools, commands and its other functions, as `acceptedFunction` makes them. */
  readonly acceptedFunctions?: ReadonlySet<string> | undefined;
  /** Its gates that fail closed: they stay, and block, when it cannot be loaded. */
  readonly standIns?: Registration["handlers"] | undefined;
  /** It need not be loaded before one of these is run; undefined: it is loaded when the host opens. */
  readonly wakesFor?: readonly WakingHook[] | undefined;
  /** Variables that the operator set for it alone. */
  readonly env: Readonly<Record<string, string>>;
  readonly budget: PluginBudget;
  /** Its versions share one. */
  cpuShare: CpuShare;
  /** Where it comes from, so that it can be loaded again; undefined when it could not be bundled. */
  readonly source: PluginSource;
  bundle: PluginBundle | undefined;
  status: PluginStatus;
  error: CallError | undefined;
  diagnostics: readonly string[];
  /** What its answers gave cause to remark, each once; see remarks.ts. */
  readonly remarks: Map<string, string>;
  /** What it listened to when it was last loaded, so that its gates go on to block when it is not. */
  registered: Registration["handlers"] | undefined;
  /** Versions with the same code share one. */
  circuit: Circuit;
  loadMs: number | undefined;
  /** How often the sandbox died while it was loaded; not held against it yet. */
  loadDeaths: number;
  /** How often its cell had to be replaced. */
  replacements: number;
}

/**
 * `adapter`: the text of a virtual entry, which imports the file at `path`. `bundle`: it was bundled before, and is read, and compared with what
 * was accepted, every time it is loaded.
 */
export type PluginSource =
  | { readonly path: string; readonly adapter?: string }
  | { readonly source: string }
  | { readonly bundle: () => Promise<PluginBundle> };

/** Loaded, or to be loaded. */
export function isLoaded({ status }: Plugin): boolean {
  return status === "loading" || status === "ready";
}

/** To sort by: in the order of the host's list. */
export function inOrder(a: Plugin, b: Plugin): number {
  return a.order - b.order || (a.id < b.id ? -1 : Number(a.id > b.id));
}
