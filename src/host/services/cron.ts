/** Trusted side: cron patterns. They are a stranger's text: short, of few characters, five fields, so that a minute is the shortest interval there is. */
import { Cron } from "croner";
import { CreelError } from "../../protocol/errors.ts";
import { oneLine } from "../guest-error.ts";

/** What patterns are made of; no colon, so that it is no date, which croner would take as well. */
const PATTERN = /^[\w*?,/#+@ -]+$/;

/** When the pattern comes next after that time, in milliseconds since 1970. Throws when it is none, or never does. */
export function nextTime(pattern: string, timezone: string | undefined, afterMs: number): number {
  if (!PATTERN.test(pattern)) throw refused("it has characters in it that patterns do not have");
  let next: Date | null;
  try {
    next = new Cron(pattern, { mode: "5-part", ...(timezone !== undefined && { timezone }) }).nextRun(new Date(afterMs));
  } catch (error) {
    throw refused(oneLine((error as Error).message, 160));
  }
  if (!next) throw refused("no day is like that");
  return next.getTime();
}

function refused(detail: string): CreelError {
  return new CreelError("ERR_SCHEDULE_PATTERN", { detail });
}
