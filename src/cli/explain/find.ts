/** Finds a run in the audit log, and what happened to its plugins around that time. */
import type { AuditRun, AuditState } from "../../protocol/audit-line.ts";
import { CreelError } from "../../protocol/errors.ts";
import { UsageError } from "../options.ts";
import type { AuditLog } from "../../state/audit-log.ts";

const LISTED = 20;
/** As many as help a person to say which one they mean. */
const MEANT = 5;

export interface Chosen {
  /** It decided, or its call failed. */
  readonly plugin?: string | undefined;
  /** Milliseconds since 1970. */
  readonly since?: number | undefined;
}

/** The newest first. */
export async function lastRuns(log: AuditLog, { plugin, since = 0 }: Chosen = {}, most = LISTED): Promise<AuditRun[]> {
  const runs: AuditRun[] = [];
  const concerns = ({ by, calls }: AuditRun): boolean =>
    plugin === undefined || by === plugin || calls.some((call) => call.plugin === plugin && call.error !== undefined);
  for await (const run of log.runs()) {
    if (Date.parse(run.at) < since || !concerns(run)) continue;
    if (runs.push(run) >= most) break;
  }
  return runs;
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration back from now, or a date. Throws a UsageError. */
export function sinceOf(text: string, now = Date.now()): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return now - Number(count) * UNITS_MS[unit!]!;
  const at = Date.parse(text);
  if (Number.isNaN(at))
    throw new UsageError(`--since cannot be "${text}"`, "use a duration such as 30m, 2h or 7d, or a date such as 2026-01-31");
  return at;
}

/** By its id, or the beginning of it if that is no other's. */
export async function findRun(log: AuditLog, runId: string): Promise<AuditRun> {
  const found: AuditRun[] = [];
  for await (const run of log.runs(`"runId":"${runId}`)) {
    if (run.runId === runId) return run;
    if (run.runId.startsWith(runId) && found.length <= MEANT) found.push(run);
  }
  const [first, second] = found;
  if (!first) throw new CreelError("ERR_AUDIT_UNKNOWN", { run: runId, known: await knownOf(log, runId) });
  if (second) {
    const ids = found.slice(0, MEANT).map((run) => run.runId);
    throw new CreelError("ERR_AUDIT_AMBIGUOUS", { run: runId, runs: ids.join(", "), more: found.length > MEANT ? " and more" : "" });
  }
  return first;
}

/** What the log has instead, and whether runs of that host were counted but not logged. */
async function knownOf(log: AuditLog, runId: string): Promise<string> {
  let oldest: AuditRun | undefined;
  let count = 0;
  for await (const run of log.runs()) {
    oldest = run;
    count += 1;
  }
  let dropped = 0;
  for await (const state of log.states()) if (state.kind === "dropped" && runId.startsWith(state.host)) dropped += state.count;
  const left = dropped > 0 ? `; ${dropped} runs of that host were counted but not logged` : "";
  return oldest ? `it has ${count} ${count === 1 ? "run" : "runs"}, since ${oldest.at}${left}` : `${log.dir} is empty`;
}

const BEFORE_MS = 600_000;
const AFTER_MS = 60_000;
const MAX_STATES = 8;

/** Of the run's host, and of the plugins in it that did not simply answer. The oldest first. */
export async function around(log: AuditLog, { host, at, by, calls }: AuditRun): Promise<AuditState[]> {
  const plugins = new Set([by, ...calls.flatMap(({ plugin, error }) => (error ? plugin : []))]);
  const ms = Date.parse(at);
  const found: AuditState[] = [];
  for await (const state of log.states()) {
    const distance = Date.parse(state.at) - ms;
    // Lines of several hosts are not quite in order.
    if (distance < -2 * BEFORE_MS) break;
    const concerns = "plugin" in state && state.plugin !== undefined && plugins.has(state.plugin);
    if (state.host === host && concerns && distance <= AFTER_MS && distance >= -BEFORE_MS) found.push(state);
    if (found.length >= MAX_STATES) break;
  }
  return found.toReversed();
}
