/**
 * Inside the isolate, instead of a part of @exodus/bytes (scripts/guest-build/thin.ts): percent-encoding for URLs, in
 * UTF-8 only.
 */
import { TextEncoder } from "../encoding.ts";

const HEX = Array.from({ length: 256 }, (_, byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`);
const encoder = new TextEncoder();

/** `set` holds the printable characters that are encoded, too. */
export function percentEncodeAfterEncoding(_encoding: string, text: string, set: string, spaceAsPlus = false): string {
  let made = "";
  for (const byte of encoder.encode(text)) {
    const letter = String.fromCharCode(byte);
    if (spaceAsPlus && byte === 0x20) made += "+";
    else made += byte < 0x20 || byte > 0x7e || set.includes(letter) ? HEX[byte]! : letter;
  }
  return made;
}
