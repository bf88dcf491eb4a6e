/** Trusted side: the permission that a failed call lacked, and the command that grants it, as `creel permissions suggest` knows it. */
import { flagsFor, requestedKeys } from "../../install/review/grant-concerns.ts";
import { isCovered } from "../../install/review/permission-keys.ts";
import { grantOf } from "../../protocol/config/permission-key.ts";
import type { AuditRun } from "../../protocol/audit-line.ts";
import { usageReport } from "../plugins/narrowest-grants.ts";
import { findInstalled } from "../plugins/installed-plugin.ts";
import type { Project } from "../plugins/project.ts";
import type { Advice } from "../../text/run-advice.ts";

/**
 * SECURITY: from what the host refused and the operator's review lists, never from a text that a plugin threw; a plugin that reaches for more than it
 * asked for gets no command here. test/cli/verbs/host/explain.test.ts
 */
export async function grantAdvice(project: Project, run: AuditRun, tell: (...words: string[]) => string): Promise<Advice[]> {
  const failed = new Set(run.calls.filter(({ status, error }) => status === "failed" && error).map(({ plugin }) => plugin));
  const installed = await project.state.read();
  const advice: Advice[] = [];
  for (const id of failed) {
    if (!installed.has(id)) continue;
    const { entry, review } = await findInstalled(project, id);
    const requested = requestedKeys(review?.permissions ?? []);
    const { suggestions } = await usageReport(project, id, tell);
    for (const { sign, key, command } of suggestions)
      // A narrower grant in place of one that it has was not refused.
      if (sign === "+" && !isCovered(grantOf(key)!, entry) && flagsFor([key], requested, entry).length === 0)
        advice.push({ text: `${id} was refused what it requests; if it should have it:`, command });
  }
  return advice;
}
