/** Trusted side, in an author's test: what a harness is made from. */
import type { CreelConfig } from "../../protocol/config/config.ts";
import { ManualClock } from "../../host/manual-clock.ts";
import type { Logger } from "../../host/report/log.ts";
import type { PluginSpec } from "../../discovery/plugin-spec.ts";
import type { OpenOptions } from "../options.ts";
import { entryText } from "./kv.ts";

/** What an operator would set for the plugin. */
type Settings = Pick<PluginSpec, "config" | "permissions" | "grants" | "hooks" | "limits" | "env" | "required">;

export interface HarnessOptions extends Settings {
  /** The plugin's folder or file, such as `import.meta.dirname`; or its source. */
  readonly plugin: string | { readonly id: string; readonly source: string };
  /** `thread` (default) starts sooner. `process` is what gateways use: for plugins that may take their sandbox down. */
  readonly isolation?: "thread" | "process";
  /** What else the gateway's `creel.json` says: `secrets`, `hooks.failure`, `approvals` … */
  readonly settings?: CreelConfig;
  /** Instead of the harness's own sessions and approvals. */
  readonly gateway?: NonNullable<OpenOptions["gateway"]>;
  /** For the log lines of the host. Default: none. */
  readonly logger?: Logger;
  /**
   * `true`: a debugger can attach to the plugin; its address is printed on stderr and in `debugger`. `"break"`: the plugin is loaded only
   * when a debugger has attached, and pauses at its first line. All its budgets but memory are off.
   */
  readonly inspect?: boolean | "break";
  /**
   * `true`: V8 counts which lines of the plugin are run; `coverage()` tells. With NODE_V8_COVERAGE, as c8, Node's test runner and vitest
   * (`coverage.autoAttachSubprocess`) set it, they are written there when the harness closes. All budgets of the plugin but memory are off. Not together with `inspect`.
   */
  readonly coverage?: boolean;
  /**
   * `"fake"`: time stands still and moves by `advance` only: the plugin's Date and timers, its jobs, and the lifetimes of its entries. A
   * Date: the same, and it begins then.
   */
  readonly clock?: "fake" | Date;
  /** Entries of the plugin's `api.kv` when it is loaded. It needs the permission `kv` to see them. */
  readonly kv?: Readonly<Record<string, unknown>>;
}

export function clockOf(clock: HarnessOptions["clock"]): ManualClock | undefined {
  if (clock === undefined) return undefined;
  const startMs = clock === "fake" ? Date.now() : clock.getTime();
  if (!Number.isInteger(startMs)) throw new TypeError('clock: it must be "fake" or a valid Date');
  return new ManualClock(startMs);
}

/** As JSON texts. Throws for what the store would refuse. */
export function seedsOf(entries: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(entries).map(([key, value]) => [key, entryText(key, value)]));
}
