/** Trusted side: a run of the ring with the sentences of `creel explain`: why it ended so, and what to do. */
import type { AuditCall } from "../protocol/audit-line.ts";
import type { RunDetail } from "../protocol/live-report.ts";
import { ranOutOfCpu } from "../protocol/outcome.ts";
import type { PluginReport } from "../host/report/inspect.ts";
import { growthPath, profilePath, readGrowth, readProfile } from "../host/inspect/stored-profile.ts";
import type { StoredGrowth, StoredProfile } from "../host/inspect/stored-profile.ts";
import { adviceOf, whyOf } from "../text/run-advice.ts";
import type { Advice } from "../text/run-advice.ts";

export interface ExplainedRun {
  readonly run: RunDetail;
  readonly why: string;
  readonly advice: readonly Advice[];
  /** Of each call, as the plugin's registration has it now. */
  readonly budgets: readonly AuditCall["budget"][];
  /** What a failing handler means for its hook. */
  readonly failure: "open" | "closed";
}

/** Where the CPU time of a call went that ran out of it; undefined: none did, or nobody has made a profile of it (ConsoleTools.blame). */
export async function profileOf(
  stateDir: string | undefined,
  { runId, calls }: RunDetail,
): Promise<(StoredProfile & { readonly plugin: string }) | undefined> {
  const plugin = calls.find(ranOutOfCpu)?.plugin;
  if (stateDir === undefined || plugin === undefined) return undefined;
  const profile = await readProfile(profilePath(stateDir, runId, plugin));
  return profile && { plugin, ...profile };
}

/** The same for memory: what it was full of. */
export async function growthOf(
  stateDir: string | undefined,
  { runId, calls }: RunDetail,
): Promise<(StoredGrowth & { readonly plugin: string }) | undefined> {
  const plugin = calls.find(({ error }) => error?.code === "ERR_CALL_MEMORY")?.plugin;
  if (stateDir === undefined || plugin === undefined) return undefined;
  const grown = await readGrowth(growthPath(stateDir, runId, plugin));
  return grown && { plugin, ...grown };
}

const UNKNOWN: AuditCall["budget"] = { wallMs: { value: 0, origin: "unknown" }, cpuMs: { value: 0, origin: "unknown" } };

const tell = (...words: string[]): string => ["creel", ...words].join(" ");

export function explained(run: RunDetail, plugins: readonly PluginReport[]): ExplainedRun {
  const handlers = run.calls.map(({ plugin, priority }) => {
    const hooks = plugins.find(({ id }) => id === plugin)?.hooks.filter(({ hook }) => hook === run.hook) ?? [];
    return hooks.find((handler) => handler.priority === priority) ?? hooks[0];
  });
  const budgets = handlers.map((handler) => (handler?.budget as AuditCall["budget"] | undefined) ?? UNKNOWN);
  const { hook, decision = "pass", by, approval } = run;
  const decider = handlers[run.calls.findIndex(({ plugin }) => plugin === by)] ?? handlers.find((handler) => handler !== undefined);
  const failure = decider?.failure === "closed" ? "closed" : "open";
  const advised = {
    hook,
    decision,
    by,
    failure,
    approval: approval as never,
    calls: run.calls.map(({ plugin, status, error }, at) => ({ plugin, status, error, budget: budgets[at]! })),
  } as const;
  const isInstalled = (plugin: string): boolean => plugins.find(({ id }) => id === plugin)?.isInstalled !== false;
  const why = run.wallMs === undefined ? "It is still running." : run.decision === undefined ? "The gateway aborted it." : whyOf(advised);
  return { run, why, advice: run.wallMs === undefined ? [] : adviceOf(advised, { tell, isInstalled }), budgets, failure };
}
