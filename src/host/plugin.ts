/** Trusted side: a plugin as the host knows it. */
import type { Grants, PluginHooksConfig } from "../protocol/config.ts";
import type { CallError } from "../protocol/outcome.ts";
import type { PluginBudget } from "./budget.ts";
import type { PluginBundle } from "./bundle.ts";
import type { CpuShare } from "./cpu-share.ts";
import type { Registration } from "../protocol/registration.ts";
import type { Circuit } from "./circuit.ts";
import type { LaneClient } from "./lanes/lane-client.ts";

export type PluginStatus = "loading" | "ready" | "failed" | "disabled" | "quarantined";

/** Where a version of a plugin lives. It may move to another lane; a new version has another home. */
export interface Home {
  lane: LaneClient;
  cell: number;
}

export interface Plugin {
  readonly id: string;
  name: string;
  version: string | undefined;
  readonly description: string | undefined;
  /** Position in the host's list: ties in priority go by it. */
  readonly order: number;
  /** The quick lane it was given. */
  readonly lane: number;
  /** A plugin lives in exactly one cell. Undefined until the host has taken it in. */
  home: Home | undefined;
  /** The next version, while it is loading. */
  next: Home | undefined;
  /** Cells it has left, to be dropped when the one it lives in now has loaded. */
  retired: Home[];
  /** Its cell was to be opened, and has not said that it was. */
  isOpening: boolean;
  readonly config: Record<string, unknown>;
  /** What it sees of the operator's configuration; see visible-config.ts. */
  readonly visibleConfig: Record<string, unknown>;
  /** The tools that its manifest says it has; undefined: it says nothing, and may have any. */
  readonly contractTools: readonly string[] | undefined;
  readonly hooks: PluginHooksConfig | undefined;
  readonly grants: Grants;
  /** The hooks of the catalog that it was accepted with, if it was installed, as `acceptedHook` makes them: others it does not get. */
  readonly acceptedHooks?: ReadonlySet<string> | undefined;
  /** Its gates that fail closed: they stay, and block, when it cannot be loaded. */
  readonly standIns?: Registration["handlers"] | undefined;
  /** Variables that the operator set for it alone. */
  readonly env: Readonly<Record<string, string>>;
  readonly budget: PluginBudget;
  readonly cpuShare: CpuShare;
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
  readonly circuit: Circuit;
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
