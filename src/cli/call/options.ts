/** The options of verbs that run a hook. */
import type { Options } from "../verb.ts";

export const CALL_OPTIONS = {
  event: { type: "string", value: "json|@file|-", help: "the event: JSON, a file, or stdin" },
  ctx: { type: "string", value: "json|@file|-", help: "the context (default: taken from the event, or the smallest valid one)" },
  config: { type: "string", value: "path", help: "a creel.json: its plugins and their grants (default: none)" },
  grant: {
    type: "string",
    multiple: true,
    value: "key",
    help: 'grant this permission to the plugin that is named by its path; "requested": all that its manifest requests',
  },
  isolation: { type: "string", choices: ["process", "thread"], help: "where the plugins run (default: process)" },
  approve: {
    type: "string",
    choices: ["allow-once", "allow-always", "deny"],
    help: "the user's answer when a plugin asks for approval (default: there is no user)",
  },
} as const satisfies Options;
