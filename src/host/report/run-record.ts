/** Trusted side: a run of the ring, or one in flight, as readers see it. */
import { LIMITS } from "../../protocol/limits.ts";
import type { RunRecord } from "../../protocol/live-report.ts";
import { chainOf } from "../causality/recorded-chain.ts";
import type { RunInput } from "../run/run-input.ts";
import { epochMs } from "./epoch.ts";
import { recordedCalls } from "./run-calls.ts";
import type { EndedRun } from "./run-ring.ts";

/** Which runs; a run must match all that is given. */
export interface RunFilter {
  /** Only runs that ended after the fact with this number, and those in flight. */
  readonly since?: number | undefined;
  /** The latest ones, at most. */
  readonly limit?: number | undefined;
  readonly hook?: string | undefined;
  /** A plugin that was called, or skipped. */
  readonly plugin?: string | undefined;
  /** A decision. Runs in flight have none. */
  readonly decision?: string | undefined;
}

export function endedRecord({ seq, number, input, outcome, endedMs }: EndedRun, toolName: string | undefined): RunRecord {
  const approval = outcome?.approval;
  return {
    ...recordOf(seq, input, toolName),
    number,
    wallMs: endedMs - input.startedMs,
    ...(outcome && { decision: outcome.decision }),
    ...(outcome?.by !== undefined && { by: outcome.by }),
    ...(typeof outcome?.reason === "string" ? { reason: outcome.reason } : !outcome && { reason: ABORTED }),
    ...(approval && { approval }),
    calls: outcome ? recordedCalls(input, outcome.calls, endedMs) : [],
  };
}

const ABORTED = "the gateway aborted the run";

/** `seq`: of the latest fact. */
export function flyingRecord(seq: number, input: RunInput, toolName: string | undefined): RunRecord {
  return { ...recordOf(seq, input, toolName), calls: [], plugins: input.plan.map(({ plugin }) => plugin.id) };
}

function recordOf(seq: number, { runId, hook, chain, startedMs, activateMs }: RunInput, toolName: string | undefined): RunRecord {
  return {
    seq,
    at: epochMs(startedMs),
    runId,
    hook: hook.name,
    ...(toolName !== undefined && { toolName: toolName.slice(0, LIMITS.call.nameChars) }),
    ...(activateMs > 0 && { activateMs }),
    chain: chainOf(chain),
    calls: [],
  };
}

export function matches(
  { input, outcome }: { readonly input: RunInput; readonly outcome?: EndedRun["outcome"] },
  filter: RunFilter,
): boolean {
  const { hook, plugin, decision } = filter;
  if (hook !== undefined && input.hook.name !== hook) return false;
  if (decision !== undefined && outcome?.decision !== decision) return false;
  return plugin === undefined || input.plan.some((handler) => handler.plugin.id === plugin);
}
