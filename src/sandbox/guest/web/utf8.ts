/**
 * Inside the isolate, instead of a file of whatwg-url (scripts/guest-build/thin.ts) that would use globals which a
 * plugin may have replaced.
 */
import { TextDecoder, TextEncoder } from "./encoding.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export function utf8Encode(text: string): Uint8Array {
  return encoder.encode(text);
}

export function utf8DecodeWithoutBOM(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
