/**
 * Inside the isolate: `console`, with Node's methods and format specifiers. Each call is one line of the operator's
 * log, so objects are shown on one line. Node's `inspect` is only loaded for values that are not plain text.
 */
import { part } from "../boot/library.ts";
import { LOG_LEVELS } from "../../../protocol/messages/mail.ts";
import { postLog } from "../turn/mailbox.ts";
import { now } from "./clock.ts";
import { usv } from "./text.ts";

type Level = (typeof LOG_LEVELS)[number];
interface Inspecting {
  inspect(value: unknown, options?: object): string;
  formatWithOptions(options: object, ...args: unknown[]): string;
}

const ONE_LINE = { breakLength: Infinity, compact: true };
const counts = new Map<string, number>();
const times = new Map<string, number>();
/** The operator's log drops blanks at the beginning of a line. */
const INDENT = "> ";
let indent = "";

const inspecting = (): Inspecting => part("node/util/inspect") as unknown as Inspecting;

function format(args: readonly unknown[]): string {
  const first = args[0];
  if (typeof first === "string" && args.length > 1 && first.includes("%")) return inspecting().formatWithOptions(ONE_LINE, ...args);
  return args.map(textOf).join(" ");
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  // A stack has lines of its own.
  return inspecting().inspect(value, value instanceof Error ? { breakLength: Infinity } : ONE_LINE);
}

function write(level: Level, text: string): void {
  postLog(LOG_LEVELS.indexOf(level), indent === "" ? text : indent + text.replaceAll("\n", `\n${indent}`));
}

const writer =
  (level: Level) =>
  (...args: unknown[]): void =>
    write(level, format(args));

/** Labels are strings; `default` if there is none. */
const labelOf = (label: unknown): string => (label === undefined ? "default" : usv(label));

function passed(label: unknown, method: string): string | undefined {
  const name = labelOf(label);
  const since = times.get(name);
  if (since === undefined) {
    write("warn", `Warning: No such label '${name}' for console.${method}()`);
    return undefined;
  }
  const ms = Math.round((now() - since) * 1_000) / 1_000;
  return `${name}: ${ms < 1_000 ? `${ms}ms` : `${(ms / 1_000).toFixed(3)}s`}`;
}

const show = (value: unknown): string => (value === undefined ? "" : inspecting().inspect(value, { ...ONE_LINE, depth: 0 }));
const isRow = (row: unknown): row is Record<string, unknown> => typeof row === "object" && row !== null;

/** Each row of the table is a line of the log. */
function table(...[data, columns]: unknown[]): void {
  if (typeof data !== "object" || data === null) return write("info", format([data]));
  const isList = data instanceof Map || data instanceof Set;
  const rows: [index: unknown, row: unknown][] = isList
    ? [...(data as Map<unknown, unknown>).entries()].map(([key, value], at) => [
        at,
        data instanceof Map ? { Key: key, Values: value } : value,
      ])
    : Object.entries(data);
  const found = rows.flatMap(([, row]) => (isRow(row) ? Object.keys(row) : []));
  const keys = Array.isArray(columns) ? columns.map(String) : [...new Set(found)];
  const hasValues = rows.some(([, row]) => !isRow(row));
  write("info", ["(index)", ...keys, ...(hasValues ? ["Values"] : [])].join(" | "));
  for (const [index, row] of rows) {
    const cells = keys.map((key) => (isRow(row) ? show(row[key]) : ""));
    write("info", [String(index), ...cells, ...(hasValues ? [isRow(row) ? "" : show(row)] : [])].join(" | "));
  }
}

export const console = {
  log: writer("info"),
  info: writer("info"),
  debug: writer("debug"),
  warn: writer("warn"),
  error: writer("error"),
  dir(...[value, options]: unknown[]): void {
    write("info", inspecting().inspect(value, { customInspect: false, ...ONE_LINE, ...(options as object | undefined) }));
  },
  time(...[label]: unknown[]): void {
    const name = labelOf(label);
    if (times.has(name)) return write("warn", `Warning: Label '${name}' already exists for console.time()`);
    times.set(name, now());
  },
  timeEnd(...[label]: unknown[]): void {
    const text = passed(label, "timeEnd");
    if (text === undefined) return;
    times.delete(labelOf(label));
    write("info", text);
  },
  timeLog(...[label, ...more]: unknown[]): void {
    const text = passed(label, "timeLog");
    if (text !== undefined) write("info", more.length === 0 ? text : `${text} ${format(more)}`);
  },
  trace(...args: unknown[]): void {
    const { stack = "" } = new Error();
    // Without the error's name and this function's own frame.
    const frames = stack.split("\n").slice(2).join("\n");
    write("debug", `Trace${args.length === 0 ? "" : `: ${format(args)}`}\n${frames}`);
  },
  assert(...[holds, ...args]: unknown[]): void {
    if (holds) return;
    if (typeof args[0] === "string") args[0] = `Assertion failed: ${args[0]}`;
    else args.unshift("Assertion failed");
    write("warn", format(args));
  },
  clear(): void {},
  count(...[label]: unknown[]): void {
    const name = labelOf(label);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    write("info", `${name}: ${count}`);
  },
  countReset(...[label]: unknown[]): void {
    if (!counts.delete(labelOf(label))) write("warn", `Warning: Count for '${labelOf(label)}' does not exist`);
  },
  group(...args: unknown[]): void {
    if (args.length > 0) write("info", format(args));
    indent += INDENT;
  },
  groupEnd(): void {
    indent = indent.slice(INDENT.length);
  },
  table,
  dirxml: writer("info"),
  groupCollapsed(...args: unknown[]): void {
    console.group(...args);
  },
  profile(): void {},
  profileEnd(): void {},
  timeStamp(): void {},
};

for (const [name, method] of Object.entries(console)) Object.defineProperty(method, "name", { value: name, configurable: true });
// As Web IDL says of namespaces: an empty object stands between it and Object.prototype.
Object.setPrototypeOf(console, {});
Object.defineProperty(console, Symbol.toStringTag, { value: "console", configurable: true });

export default console;
