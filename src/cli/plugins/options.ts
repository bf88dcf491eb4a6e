/** Options that the commands about installed plugins share, and how they read their arguments. */
import { UsageError } from "../options.ts";

export const PLACE = {
  config: { type: "string", value: "path", help: "the creel.json (default: ./creel.json, if it is there)" },
  "state-dir": { type: "string", value: "path", help: "the state folder (default: CREEL_STATE_DIR, or stateDir of the creel.json)" },
} as const;

export const CONSENT = {
  accept: {
    type: "string",
    multiple: true,
    value: "digest",
    help: "says yes to the review of that digest, without a question",
  },
  grant: { type: "string", multiple: true, value: "key", help: "grants this permission, too: one that the scan found, or another" },
  "no-grant": { type: "string", multiple: true, value: "key", help: "does not grant this permission" },
} as const;

/** The one argument of a verb. */
export function only(verb: string, what: string, positionals: readonly string[], example: string): string {
  const [first, extra] = positionals;
  if (first === undefined || extra !== undefined) throw new UsageError(`${verb} takes ${what}`, `such as "${example}"`);
  return first;
}
