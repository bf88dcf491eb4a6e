/** Options that the commands about installed plugins share, and how they read their arguments. */
import { UsageError } from "../options.ts";

export const PROJECT_OPTIONS = {
  config: { type: "string", value: "path", help: "the creel.json (default: ./creel.json, if it exists)" },
  "state-dir": { type: "string", value: "path", help: "the state folder (default: CREEL_STATE_DIR, or stateDir of creel.json)" },
} as const;

/** The second yes of an operator without a terminal; see grant-concerns.ts. */
export const MEANT = {
  unasked: { type: "boolean", help: "grants a permission that the plugin never requested" },
  insecure: { type: "boolean", help: "grants a plain http: address, or connections that need not be TLS" },
} as const;

export const CONSENT = {
  ...MEANT,
  accept: {
    type: "string",
    multiple: true,
    value: "digest",
    help: "accepts the review with this digest, without asking",
  },
  diff: { type: "boolean", help: "shows how the code differs from the installed version, line by line" },
  grant: { type: "string", multiple: true, value: "key", help: "also grants this permission, whether the review lists it or not" },
  "no-grant": { type: "string", multiple: true, value: "key", help: "does not grant this permission" },
} as const;

/** The one argument of a verb. */
export function only(verb: string, what: string, positionals: readonly string[], example: string): string {
  const [first, extra] = positionals;
  if (first === undefined || extra !== undefined) throw new UsageError(`${verb} takes ${what}`, `such as "${example}"`);
  return first;
}
