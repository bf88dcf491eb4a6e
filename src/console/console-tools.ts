/**
 * What a console can do beside its host: replay what was recorded, and read and change what is installed. That needs the project's files,
 * so `creel console` provides it (src/cli/console); without it the page names the commands instead.
 */
import type { StoredGrowth, StoredProfile } from "../host/inspect/stored-profile.ts";
import type { RunDetail } from "../protocol/live-report.ts";

/** How a run ends; `ask`: a user is asked. */
export interface ToolVerdict {
  readonly decision: string;
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
}

export interface ToolDifference {
  readonly runId: string;
  readonly hook: string;
  readonly at: number;
  readonly event: Readonly<Record<string, unknown>>;
  readonly before: ToolVerdict;
  readonly after: ToolVerdict;
}

export interface ToolReplay {
  readonly runs: number;
  readonly changes: readonly { readonly hook: string; readonly before: string; readonly after: string; readonly count: number }[];
  readonly differences: readonly ToolDifference[];
  readonly skipped: number;
  readonly unstable: number;
  readonly failures: readonly { readonly plugin: string; readonly error: string }[];
}

/** Where a call went that ran out of CPU time or memory. */
export interface ToolBlame {
  readonly profile?: StoredProfile & { readonly plugin: string };
  readonly memory?: StoredGrowth & { readonly plugin: string };
  /** A sentence: why there are no lines, or not all. */
  readonly unknown?: string;
}

export interface ConsoleTools {
  readonly stateDir: string;
  /** The event as it was recorded; undefined: it was not. */
  recorded(runId: string): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** One recorded run again, with an edited event if given, against the plugins as they are, without consequences. */
  rerun(
    runId: string,
    event: Readonly<Record<string, unknown>> | undefined,
  ): Promise<{
    readonly before: ToolVerdict;
    readonly after: ToolVerdict;
    readonly outcome: { readonly calls: readonly { readonly plugin: string; readonly status: string }[] };
  }>;
  /** The smallest set of plugins that causes a recorded outcome; `words`: the same in sentences. */
  bisect(runId: string): Promise<{ readonly plugins: readonly string[]; readonly words: readonly string[] }>;
  /** From what an earlier explanation has left, or by making the run again without consequences. One at a time, and a few in waiting. */
  blame(run: RunDetail): Promise<ToolBlame>;
  /** All recorded runs without a plugin, or without one of its permissions. */
  whatIf(plugin: string, withoutPermission?: string): Promise<ToolReplay>;
  /** Of an installed plugin: what it asked for and was not granted. Undefined: it is not installed. */
  refused(plugin: string): Promise<readonly { readonly key: string; readonly words: string }[] | undefined>;
  /** Changes the lock, and tells running hosts. `grant` takes only what the plugin asked for. */
  changePermission(action: "grant" | "revoke", plugin: string, key: string): Promise<void>;
  /** Looks for a newer version and reviews it; changes nothing. */
  reviewUpdate(plugin: string): Promise<{
    readonly outcome: string;
    readonly from?: string | undefined;
    readonly to?: string | undefined;
    readonly digest?: string | undefined;
    readonly error?: string | undefined;
    readonly changes: readonly string[];
    readonly replay?: ToolReplay | undefined;
  }>;
}
