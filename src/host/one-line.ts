/** Trusted side: a stranger's text as it may stand in a log line, a message, or on a terminal. */
import { LIMITS } from "../protocol/limits.ts";

/** One line, no control characters: a plugin must not be able to forge log lines or colour a terminal. */
export function oneLine(text: string, max: number = LIMITS.errorMessageChars): string {
  // oxlint-disable no-control-regex -- that is the point
  return text
    .slice(0, max * 2)
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g, " ")
    .trim()
    .slice(0, max);
}
