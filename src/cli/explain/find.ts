/** The run that a person means, and what happened to its plugins around that time. */
import type { AuditRun, AuditState } from "../../protocol/audit-line.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { AuditLog } from "../../state/audit-log.ts";

export const LISTED = 20;
/** As many as help a person to say which one they mean. */
const MEANT = 5;

export async function lastRuns(log: AuditLog): Promise<AuditRun[]> {
  const runs: AuditRun[] = [];
  for await (const run of log.runs()) if (runs.push(run) >= LISTED) break;
  return runs;
}

/** By its id, or the beginning of it if that is no other's. */
export async function findRun(log: AuditLog, wanted: string): Promise<AuditRun> {
  const found: AuditRun[] = [];
  for await (const run of log.runs(`"runId":"${wanted}`)) {
    if (run.runId === wanted) return run;
    if (run.runId.startsWith(wanted) && found.length <= MEANT) found.push(run);
  }
  const [first, second] = found;
  if (!first) throw new CreelError("ERR_AUDIT_UNKNOWN", { run: wanted, known: await knownOf(log, wanted) });
  if (second) {
    const ids = found.slice(0, MEANT).map(({ runId }) => runId);
    throw new CreelError("ERR_AUDIT_AMBIGUOUS", { run: wanted, runs: ids.join(", "), more: found.length > MEANT ? " and more" : "" });
  }
  return first;
}

/** What the log does have; and whether it says that runs of that host were left out. */
async function knownOf(log: AuditLog, wanted: string): Promise<string> {
  let oldest: AuditRun | undefined;
  let count = 0;
  for await (const run of log.runs()) {
    oldest = run;
    count += 1;
  }
  let dropped = 0;
  for await (const state of log.states()) if (state.kind === "dropped" && wanted.startsWith(state.host)) dropped += state.count;
  const left = dropped > 0 ? `; ${dropped} of that host were only counted` : "";
  return oldest ? `it has ${count} ${count === 1 ? "run" : "runs"}, since ${oldest.at}${left}` : `nothing was written to ${log.dir}`;
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
