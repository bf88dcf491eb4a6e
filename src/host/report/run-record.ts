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
  /** As a list shows them: without when, where and how each call was made. That is worked out for each run anew. */
  readonly brief?: boolean | undefined;
}

export function endedRecord({ seq, number, input, outcome, endedMs }: EndedRun, toolName: string | undefined, isBrief = false): RunRecord {
  const record = recordOf(seq, input, toolName);
  record.number = number;
  record.wallMs = endedMs - input.startedMs;
  if (!outcome) {
    record.reason = ABORTED;
    return record;
  }
  const { decision, by, reason, approval, calls } = outcome;
  record.decision = decision;
  if (by !== undefined) record.by = by;
  if (typeof reason === "string") record.reason = reason;
  if (approval) record.approval = approval;
  record.calls = isBrief ? calls : recordedCalls(input, calls, endedMs);
  return record;
}

const ABORTED = "the gateway aborted the run";

/** `seq`: of the latest fact. */
export function flyingRecord(seq: number, input: RunInput, toolName: string | undefined): RunRecord {
  return { ...recordOf(seq, input, toolName), plugins: input.plan.map(({ plugin }) => plugin.id) };
}

/** Fields are set one by one: an open page reads hundreds of records a second, and each spread would cost as much as the rest. */
type Made = { -readonly [K in keyof RunRecord]: RunRecord[K] };

function recordOf(seq: number, { runId, hook, chain, startedMs, activateMs }: RunInput, toolName: string | undefined): Made {
  const record: Made = { seq, at: epochMs(startedMs), runId, hook: hook.name, chain: chainOf(chain), calls: [] };
  if (toolName !== undefined) record.toolName = toolName.slice(0, LIMITS.call.nameChars);
  if (activateMs > 0) record.activateMs = activateMs;
  return record;
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
