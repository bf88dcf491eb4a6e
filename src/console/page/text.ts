/** The page: untrusted text and numbers for a screen. Preact makes text nodes of them; what a person could not see is made visible here. */
import { DANGEROUS } from "../../protocol/dangerous-text.ts";

const HIDDEN = new RegExp(String.raw`(?!\n)[${DANGEROUS}]`, "gu");

/** SECURITY: bidi marks, escapes and invisible characters are shown as codes and obeyed by nothing. test/console/page/page.test.ts */
export function visible(text: unknown, max = 4_000): string {
  const whole = typeof text === "string" ? text : String(text);
  const cut = whole.length > max ? `${whole.slice(0, max)}…` : whole;
  return cut.replaceAll(HIDDEN, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}

export function json(value: unknown, max = 20_000): string {
  return value === undefined ? "nothing" : visible(JSON.stringify(value, undefined, 2), max);
}

/** A value of the audit log is `{ value }`, or the beginning of its text if it was too long. */
export function audited(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if ("value" in value) return value.value;
  return "text" in value && "chars" in value ? `${String(value.text)} … (${String(value.chars)} characters)` : value;
}

export function ms(value: number | undefined): string {
  if (value === undefined) return "–";
  if (value >= 60_000) return `${(value / 60_000).toFixed(1)} min`;
  if (value >= 1_000) return `${(value / 1_000).toFixed(2)} s`;
  if (value >= 100) return `${value.toFixed(0)} ms`;
  if (value >= 1) return `${value.toFixed(1)} ms`;
  return `${Math.round(value * 1_000)} µs`;
}

export function bytes(value: number | undefined): string {
  if (value === undefined) return "–";
  const units = ["B", "KB", "MB", "GB"];
  let at = 0;
  let left = value;
  while (left >= 1_024 && at < units.length - 1) {
    left /= 1_024;
    at += 1;
  }
  return `${at === 0 || left >= 100 ? left.toFixed(0) : left.toFixed(1)} ${units[at]}`;
}

export function percent(share: number | undefined): string {
  return share === undefined ? "–" : `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

export function rate(perSecond: number | undefined): string {
  if (perSecond === undefined) return "–";
  return perSecond >= 100 ? perSecond.toFixed(0) : perSecond >= 0.05 ? perSecond.toFixed(1) : "0";
}

const two = (part: number): string => String(part).padStart(2, "0");

export function clock(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function clockMs(at: number): string {
  return `${clock(at)}${fraction(at)}`;
}

/** The milliseconds of a clock. */
export function fraction(at: number): string {
  return `.${String(new Date(at).getMilliseconds()).padStart(3, "0")}`;
}

export function ago(at: number | string | undefined | null, now: number): string {
  if (at === undefined || at === null) return "never";
  const seconds = Math.max(0, (now - (typeof at === "string" ? Date.parse(at) : at)) / 1_000);
  if (seconds < 2) return "now";
  if (seconds < 90) return `${Math.round(seconds)} s ago`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 129_600) return `${Math.round(seconds / 3_600)} h ago`;
  return `${Math.round(seconds / 86_400)} d ago`;
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}
