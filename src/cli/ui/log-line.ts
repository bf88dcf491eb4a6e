/** A line of the log for a person at a terminal: time, level, phrase and fields. Pipes and files get pino's JSON. */
import { oneLine } from "../../text/one-line.ts";
import type { Style, Terminal } from "./terminal.ts";

/** By pino's numbers. */
const LEVELS: readonly (readonly [from: number, name: string, style: Style])[] = [
  [50, "error", "red"],
  [40, "warn", "yellow"],
  [30, "info", "green"],
  [0, "debug", "gray"],
];
/** They are the same in every line, or have their own column. */
const LEFT_OUT = new Set(["level", "time", "pid", "hostname", "name", "msg"]);
const MAX_CHARS = 1_000;

// SECURITY: fields quote plugins; each line is one line without control characters. test/cli/terminal.test.ts
export function logLine(json: string, { paint }: Pick<Terminal, "paint">): string {
  const line = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const [, level, style] = LEVELS.find(([from]) => Number(line.level) >= from)!;
  const fields = Object.entries(line)
    .filter(([key, value]) => !LEFT_OUT.has(key) && value !== undefined)
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(messageOf(value))}`);
  const time = new Date(Number(line.time)).toTimeString().slice(0, 8);
  const words = oneLine(String(line.msg), MAX_CHARS);
  return `${paint("gray", time)} ${paint(style, level.padEnd(5))} ${words} ${paint("gray", oneLine(fields.join(" "), MAX_CHARS))}`.trimEnd();
}

/** Of an error, the sentence is enough here. */
function messageOf(value: unknown): unknown {
  const { message, stack } = (value ?? {}) as { message?: unknown; stack?: unknown };
  return stack === undefined ? value : message;
}
