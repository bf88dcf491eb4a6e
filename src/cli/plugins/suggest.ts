/** `creel permissions suggest`: what a plugin really used, against what it may do. */
import { suggestionsOf } from "../../install/suggestion.ts";
import type { Suggestion } from "../../install/suggestion.ts";
import type { Grants } from "../../protocol/config.ts";
import { AuditLog } from "../../state/audit-log.ts";
import type { Terminal } from "../ui/terminal.ts";
import { lookUp } from "./look-up.ts";
import type { Place } from "./place.ts";
import { SIGN } from "./signs.ts";

/** Fewer calls, or a shorter time: a plugin has hardly shown what it does. */
const FEW_CALLS = 100;
const SHORT_MS = 24 * 3_600_000;

export interface Suggested {
  readonly id: string;
  /** Null: the log knows nothing of it. */
  readonly since: string | null;
  readonly until: string | null;
  readonly calls: number;
  /** What the creel.json lays over what was granted, key by key; null: nothing. The suggestions are about what was granted. */
  readonly configGrants: Grants | null;
  /** Little is known. */
  readonly isThin: boolean;
  readonly suggestions: readonly (Suggestion & { readonly command: string | null })[];
}

/** `tell` writes a command line of Creel's. */
export async function suggest(place: Place, id: string, tell: (...words: string[]) => string): Promise<Suggested> {
  const { entry, review, configGrants } = await lookUp(place, id);
  const usage = await new AuditLog(place.state.dir).usage(id);
  const { since = null, until = null } = usage;
  const calls = [...usage.calls.values()].reduce((sum, count) => sum + count, 0);
  const isShort = since === null || until === null || Date.parse(until) - Date.parse(since) < SHORT_MS;
  const verbs = { "-": "revoke", "+": "grant" } as const;
  return {
    id,
    since,
    until,
    calls,
    configGrants: configGrants ?? null,
    isThin: calls < FEW_CALLS || isShort,
    suggestions: suggestionsOf(entry, review, usage).map((one) => ({
      ...one,
      command: one.sign === "-" || one.sign === "+" ? tell("permissions", verbs[one.sign], id, one.key) : null,
    })),
  };
}

export function suggestPage({ id, since, until, calls, configGrants, isThin, suggestions }: Suggested, { line, paint }: Terminal): void {
  line(paint("bold", id));
  if (since === null)
    line(
      paint(
        "yellow",
        "! the audit log knows nothing of it: it was not called, or by hosts with another state folder, or in the last minute, since which nothing was written",
      ),
    );
  else {
    line(paint("gray", `  from ${calls} ${calls === 1 ? "call" : "calls"}, ${since} to ${until}`));
    if (isThin) line(paint("yellow", "! that is little: what it does rarely, it may not have done yet"));
  }
  if (configGrants !== null)
    line(
      paint("yellow", `! plugins.entries.${id}.grants in the creel.json is laid over what was granted: ${JSON.stringify(configGrants)}`),
    );
  line();
  if (suggestions.length === 0) line("  it has no permission, and was refused none");
  for (const { sign, key, words, why, command } of suggestions) {
    line(`  ${paint(SIGN[sign]!, `${sign} ${key}`)}: ${words}`);
    line(paint("gray", `      ${why}`));
    if (command !== null && since !== null) line(`      ${paint("cyan", command)}`);
  }
}
