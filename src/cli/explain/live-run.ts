/**
 * A run of the host that runs here, with what the console shows of it. The audit log has only those that were blocked or failed, and less of
 * each.
 */
import { explained } from "../../console/explained-run.ts";
import { AUDIT_VERSION } from "../../protocol/audit-line.ts";
import type { AuditRun, AuditShown } from "../../protocol/audit-line.ts";
import type { RecordedCall, RunDetail } from "../../protocol/live-report.ts";
import { silentLogger } from "../../host/report/silent-logger.ts";
import { joinHost } from "../../sdk/remote/remote-host.ts";
import { socketOf } from "../serve-socket.ts";

export interface LiveRun {
  readonly run: AuditRun;
  readonly why: string;
  readonly live: LivePart;
}

/** What the console shows of a run, and a line of the audit log has not. */
export interface LivePart extends Pick<RunDetail, "wallMs" | "activateMs" | "logs" | "caused" | "causedBy"> {
  /** Of each call: when it began, in which lane, which attempt it was, and in which batch it went there. */
  readonly calls: readonly Pick<RecordedCall, "startMs" | "lane" | "attempt" | "batch">[];
}

/** Undefined: no host answers here, or it does not remember the run. */
export async function liveRun(runId: string, values: Parameters<typeof socketOf>[0]): Promise<LiveRun | undefined> {
  try {
    await using host = await joinHost({ connect: await socketOf(values), logger: silentLogger });
    const detail = await host.runDetail(runId);
    if (!detail) return undefined;
    const { processes } = await host.stats();
    const { why, budgets, failure } = explained(detail, host.plugins());
    const {
      at,
      hook,
      decision = detail.wallMs === undefined ? "running" : "aborted",
      by,
      reason,
      chain,
      approval,
      calls,
      steps = [],
    } = detail;
    const { event, context, result } = detail as { readonly [K in "event" | "context" | "result"]?: AuditShown };
    const run: AuditRun = {
      v: AUDIT_VERSION,
      at: new Date(at).toISOString(),
      host: host.id,
      pid: processes.find(({ kind }) => kind === "gateway")?.pid ?? 0,
      kind: "run",
      runId,
      hook,
      decision,
      by,
      reason,
      failure,
      chain: { rootRunId: chain.rootRunId, depth: chain.depth, path: [...chain.path] },
      approval: approval as AuditRun["approval"],
      event,
      context,
      result,
      calls: calls.map((call, index) => ({ ...call, budget: budgets[index]!, ...steps[index] })) as AuditRun["calls"],
    };
    const { wallMs, activateMs, logs, caused, causedBy } = detail;
    const made = calls.map(({ startMs, lane, attempt, batch }) => ({ startMs, lane, attempt, batch }) as LivePart["calls"][number]);
    const times = { ...(wallMs !== undefined && { wallMs }), ...(activateMs !== undefined && { activateMs }) };
    const live = { ...times, ...(causedBy !== undefined && { causedBy }), caused, logs, calls: made };
    return { run, why, live };
  } catch {
    return undefined;
  }
}
