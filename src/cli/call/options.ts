/** The options of verbs that run a hook. */
import type { Options } from "../verb.ts";

export const CALL_OPTIONS = {
  event: { type: "string", value: "json|@file|-", help: "the event: JSON, a file, or stdin" },
  ctx: { type: "string", value: "json|@file|-", help: "the context (default: empty)" },
  config: { type: "string", value: "path", help: "a creel.json: its plugins, and what they were granted (default: none)" },
  isolation: { type: "string", choices: ["process", "thread"], help: "where the plugins run (default: process)" },
  approve: {
    type: "string",
    choices: ["allow-once", "allow-always", "deny"],
    help: "what the user says when a plugin asks (default: there is no user)",
  },
} as const satisfies Options;
