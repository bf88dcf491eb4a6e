/**
 * Trusted side: cron patterns, which are untrusted text: short, few characters, five fields, so that a minute is the
 * shortest interval.
 */
import { createRequire } from "node:module";
import type * as Croner from "croner";
import { CreelError } from "../../../protocol/errors.ts";
import { oneLine } from "../../../text/one-line.ts";

/** The characters of patterns. No colon, because croner would also accept a date. */
const PATTERN = /^[\w*?,/#+@ -]+$/;

/** The next time after that time, in milliseconds since 1970. Throws when the pattern is invalid or never matches. */
export function nextTime(pattern: string, timezone: string | undefined, afterMs: number): number {
  if (!PATTERN.test(pattern)) throw refused("it contains characters that cron patterns do not have");
  // Loaded with the first pattern.
  const { Cron } = createRequire(import.meta.url)("croner") as typeof Croner;
  let next: Date | null;
  try {
    next = new Cron(pattern, { mode: "5-part", ...(timezone !== undefined && { timezone }) }).nextRun(new Date(afterMs));
  } catch (error) {
    throw refused(oneLine((error as Error).message, 160));
  }
  if (!next) throw refused("it never matches");
  return next.getTime();
}

function refused(detail: string): CreelError {
  return new CreelError("ERR_SCHEDULE_PATTERN", { detail });
}
