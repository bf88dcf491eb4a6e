/** Trusted side: a stranger's name for something, as it may stand in a message: one short line without anything that a terminal obeys. */
const MAX = 80;
/** Marks, too: two names that differ in how an accent is written must not look the same. */
const UNPRINTABLE = /[\p{C}\p{M}\p{Zl}\p{Zp}"\\]|(?! )\p{Zs}/gu;
const NOT_ASCII = /[^\x20-\x7E]|["\\]/gu;

export const printable = (text: string): string => short(text, UNPRINTABLE);

/** For what must be ASCII: a letter that only looks like one is seen. */
export const printableAscii = (text: string): string => short(text, NOT_ASCII);

function short(text: string, escaped: RegExp): string {
  const plain = text.slice(0, MAX * 4).replaceAll(escaped, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
  const chars = Array.from(plain);
  return chars.length > MAX || text.length > MAX * 4 ? `${chars.slice(0, MAX).join("")}…` : plain;
}
