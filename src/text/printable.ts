/** Trusted side: an untrusted name for a message: one short line, with control and invisible characters escaped. */
import { DANGEROUS } from "../protocol/dangerous-text.ts";

const MAX = 80;
/** Marks, too: two names that differ in how an accent is written must not look the same. */
const UNPRINTABLE = new RegExp(String.raw`[${DANGEROUS}\p{Cn}\p{M}"\\]|(?! )\p{Zs}`, "gu");
const NOT_ASCII = /[^\x20-\x7E]|["\\]/gu;

export const printable = (text: string): string => short(text, UNPRINTABLE);

/** For names that must be ASCII: a letter that only looks like one is escaped. */
export const printableAscii = (text: string): string => short(text, NOT_ASCII);

function short(text: string, escaped: RegExp): string {
  const plain = text.slice(0, MAX * 4).replaceAll(escaped, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
  const chars = Array.from(plain);
  return chars.length > MAX || text.length > MAX * 4 ? `${chars.slice(0, MAX).join("")}…` : plain;
}
