/** A run of the past with its event: from the recordings, which have it whole, or else from the audit log. */
import { AuditLog } from "../../state/audit-log.ts";
import { Recordings } from "../../state/recordings.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { AuditRun, AuditShown } from "../../protocol/audit-line.ts";
import { RECORDING_VERSION } from "../../protocol/recording.ts";
import type { RecordedRun } from "../../protocol/recording.ts";
import { findRun } from "../explain/find.ts";

type Fields = Record<string, unknown>;

/** Rejects with a CreelError if neither has it, or only a part of its event. */
export async function pastRun(stateDir: string, runId: string): Promise<RecordedRun> {
  const recorded = await new Recordings(stateDir).find(runId);
  return recorded ?? auditedRun(await findRun(new AuditLog(stateDir), runId));
}

/** Rejects with a CreelError if the log has only a part of its event. */
export function auditedRun({ runId, at, hook, event, context, decision, by, reason, calls }: AuditRun): RecordedRun {
  const whole = wholeOf(event);
  if (!whole) throw new CreelError("ERR_REPLAY_EVENT", { runId });
  return {
    v: RECORDING_VERSION,
    at: Date.parse(at),
    runId,
    hook,
    event: whole,
    context: wholeOf(context) ?? {},
    decision,
    ...(by !== undefined && { by }),
    ...(reason !== undefined && { reason }),
    calls: calls.map(({ plugin, status }) => ({ plugin, status })),
  };
}

/** Undefined: it was cut, or not logged. */
export function wholeOf(shown: AuditShown | undefined): Fields | undefined {
  return shown && "value" in shown && typeof shown.value === "object" && shown.value !== null ? (shown.value as Fields) : undefined;
}
