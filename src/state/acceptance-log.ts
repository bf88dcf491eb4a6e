/**
 * Trusted side: writes a line into the audit log of the state folder when a command accepts an update without asking a
 * person.
 */
import { AuditFile } from "../host/audit/audit-file.ts";
import { lineOf } from "../host/audit/line-queue.ts";
import type { CreelConfig } from "../protocol/config/config.ts";
import { LIMITS } from "../protocol/limits.ts";

export interface Acceptance {
  readonly plugin: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** Of the review. */
  readonly digest: string;
  readonly why: string;
}

/** Lines of hosts name the host; this stands in its place. */
const COMMAND = "creel update";

/** Writes nothing if the operator has switched the log off. */
export async function noteAcceptance(
  stateDir: string,
  settings: CreelConfig["audit"],
  { plugin, from, to, digest, why }: Acceptance,
): Promise<void> {
  if (settings?.enabled === false) return;
  const { maxBytes = LIMITS.audit.bytes } = settings ?? {};
  const file = new AuditFile(stateDir, "state", Math.floor(maxBytes * 0.25), LIMITS.audit.files);
  await file.append(lineOf(COMMAND, Date.now(), { kind: "accepted", plugin, from, to, digest, why }));
}
