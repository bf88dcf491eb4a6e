/** Inside the isolate: the arguments that `crypto` accepts as bytes. */
import { encode, encodingNamed } from "../buffer/codecs.ts";
import { invalidArgType } from "../errors.ts";
import { keyBytes } from "./crypto-key.ts";

export function viewBytes(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return value instanceof ArrayBuffer ? new Uint8Array(value) : undefined;
}

/** Text, or bytes in any form but a plain ArrayBuffer. */
export function dataBytes(value: unknown, name: string, encoding?: unknown): Uint8Array {
  if (typeof value === "string") return encode(value, encodingNamed(encoding) ?? "utf8");
  if (ArrayBuffer.isView(value)) return viewBytes(value)!;
  throw invalidArgType(name, "of type string or an instance of Buffer, TypedArray, or DataView", value);
}

/** Text, bytes in any form, or a secret key. */
export function secretBytes(value: unknown, name: string, expected: string): Uint8Array {
  const bytes = typeof value === "string" ? encode(value, "utf8") : (viewBytes(value) ?? keyBytes(value));
  if (!bytes) throw invalidArgType(name, expected, value);
  return bytes;
}
