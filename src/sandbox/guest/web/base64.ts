/** Inside the isolate: `atob` and `btoa`. */
import { DOMException } from "./dom-exception.ts";
import { missing } from "./idl.ts";
import { str } from "./text.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES: Readonly<Record<string, number>> = Object.assign(
  Object.create(null),
  Object.fromEntries(Array.from(ALPHABET, (letter, value) => [letter, value])),
);

export function btoa(...args: unknown[]): string {
  if (args.length === 0) throw missing("input");
  const text = str(args[0]);
  let made = "";
  for (let i = 0; i < text.length; i += 3) {
    const a = text.charCodeAt(i);
    const b = text.charCodeAt(i + 1);
    const c = text.charCodeAt(i + 2);
    // NaN, past the end, compares false.
    if (a > 255 || b > 255 || c > 255) throw new DOMException("Invalid character", "InvalidCharacterError");
    made += ALPHABET[a >> 2]! + ALPHABET[((a & 3) << 4) | (b >> 4)]!;
    made += i + 1 < text.length ? ALPHABET[((b & 15) << 2) | (c >> 6)]! : "=";
    made += i + 2 < text.length ? ALPHABET[c & 63]! : "=";
  }
  return made;
}

export function atob(...args: unknown[]): string {
  if (args.length === 0) throw missing("input");
  let text = str(args[0]).replaceAll(/[\t\n\f\r ]/g, "");
  if (text.length % 4 === 0) text = text.replace(/={1,2}$/, "");
  if (text.length % 4 === 1) throw broken();
  let made = "";
  let bits = 0;
  let count = 0;
  for (const letter of text) {
    const value = VALUES[letter];
    if (value === undefined) throw broken();
    bits = ((bits << 6) | value) & 0xffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    made += String.fromCharCode((bits >> count) & 0xff);
  }
  return made;
}

function broken(): DOMException {
  return new DOMException("The string to be decoded is not correctly encoded.", "InvalidCharacterError");
}

for (const fn of [atob, btoa]) Object.defineProperty(fn, "length", { value: 1 });
