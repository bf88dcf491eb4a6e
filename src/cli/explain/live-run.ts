/** A run that the audit log does not have, from the host that runs here: one that passed, or is still in flight. */
import { explained } from "../../console/explained-run.ts";
import { AUDIT_VERSION } from "../../protocol/audit-line.ts";
import type { AuditRun, AuditShown } from "../../protocol/audit-line.ts";
import { silentLogger } from "../../host/report/silent-logger.ts";
import { joinHost } from "../../sdk/remote/remote-host.ts";
import { socketOf } from "../serve-socket.ts";

export interface LiveRun {
  readonly run: AuditRun;
  readonly why: string;
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
    return { run, why };
  } catch {
    return undefined;
  }
}
