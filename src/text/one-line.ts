/** Trusted side: untrusted text for a log line, a message or a terminal. */
import { withoutDanger } from "../protocol/dangerous-text.ts";
import { LIMITS } from "../protocol/limits.ts";

/** One line without control or invisible characters: a plugin must not forge log lines or control a terminal. */
export function oneLine(text: string, max: number = LIMITS.call.errorMessageChars): string {
  return withoutDanger(text.slice(0, max * 2))
    .trim()
    .slice(0, max);
}
