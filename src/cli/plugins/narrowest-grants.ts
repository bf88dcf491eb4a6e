/** `creel permissions suggest`: what a plugin used, compared with what it was granted. */
import { flagsFor, requestedKeys } from "../../install/review/grant-concerns.ts";
import { narrowestGrantsOf } from "../../install/review/narrowest-grants.ts";
import type { NarrowestGrant } from "../../install/review/narrowest-grants.ts";
import type { Grants } from "../../protocol/config/config.ts";
import { AuditLog } from "../../state/audit-log.ts";
import type { Terminal } from "../ui/terminal.ts";
import { findInstalled } from "./installed-plugin.ts";
import type { Project } from "./project.ts";
import { SIGN } from "./review-page.ts";

/** With fewer calls or a shorter time, the data says little. */
const FEW_CALLS = 100;
const SHORT_MS = 24 * 3_600_000;

export interface UsageReport {
  readonly id: string;
  /** Null: the audit log has no calls of it. */
  readonly since: string | null;
  readonly until: string | null;
  readonly calls: number;
  /**
   * Grants of the creel.json, which override the accepted ones; null: there are none. The suggestions are about the
   * accepted ones.
   */
  readonly configGrants: Grants | null;
  /** Little is known. */
  readonly isThin: boolean;
  readonly suggestions: readonly (NarrowestGrant & { readonly command: string | null })[];
}

/** `tell` writes a command line of Creel's. */
export async function usageReport(project: Project, id: string, tell: (...words: string[]) => string): Promise<UsageReport> {
  const { entry, review, configGrants } = await findInstalled(project, id);
  const usage = await new AuditLog(project.state.dir).usage(id);
  const { since = null, until = null } = usage;
  const calls = [...usage.calls.values()].reduce((sum, count) => sum + count, 0);
  const isShort = since === null || until === null || Date.parse(until) - Date.parse(since) < SHORT_MS;
  const asked = requestedKeys(review?.permissions ?? []);
  const verbs = { "-": "revoke", "+": "grant" } as const;
  return {
    id,
    since,
    until,
    calls,
    configGrants: configGrants ?? null,
    isThin: calls < FEW_CALLS || isShort,
    suggestions: narrowestGrantsOf(entry, review, usage).map((one) => ({
      ...one,
      command:
        one.sign === "-" || one.sign === "+"
          ? [tell("permissions", verbs[one.sign], id, one.key), ...(one.sign === "+" ? flagsFor([one.key], asked, entry) : [])].join(" ")
          : null,
    })),
  };
}

export function usagePage({ id, since, until, calls, configGrants, isThin, suggestions }: UsageReport, { line, paint }: Terminal): void {
  line(paint("bold", id));
  if (since === null)
    line(
      paint(
        "yellow",
        "! the audit log has no calls of it: it was not called, hosts with another state folder called it, or it was called less than a minute ago",
      ),
    );
  else {
    line(paint("gray", `  from ${calls} ${calls === 1 ? "call" : "calls"}, ${since} to ${until}`));
    if (isThin) line(paint("yellow", "! that is little data: the plugin may do other things rarely"));
  }
  if (configGrants !== null)
    line(paint("yellow", `! plugins.entries.${id}.grants in the creel.json overrides what was granted: ${JSON.stringify(configGrants)}`));
  line();
  if (suggestions.length === 0) line("  it has no permissions, and none were refused");
  for (const { sign, key, words, why, command } of suggestions) {
    line(`  ${paint(SIGN[sign]!, `${sign} ${key}`)}: ${words}`);
    line(paint("gray", `      ${why}`));
    if (command !== null && since !== null) line(`      ${paint("cyan", command)}`);
  }
}
