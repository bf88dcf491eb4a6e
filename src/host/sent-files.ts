/** Trusted side, and the bundler's process: files as they are sent into a cell. */
import { isAscii, isUtf8 } from "node:buffer";
import type { SentFile } from "../protocol/volume.ts";

/** Text that would be longer than base64 when it is written in ASCII is sent as base64. */
const STRETCH = 4 / 3;

export function sentFile(path: string, mtimeMs: number, bytes: Buffer): SentFile {
  if (!isUtf8(bytes)) return [path, mtimeMs, "b", bytes.toString("base64")];
  const text = bytes.toString("utf8");
  const json = isAscii(bytes) ? JSON.stringify(text) : asciiJson(text);
  return json.length <= bytes.length * STRETCH + 16 ? [path, mtimeMs, "u", text] : [path, mtimeMs, "t", bytes.toString("base64")];
}

/** In ASCII: V8 keeps any other text in two bytes a character, and the cell holds it until somebody reads a file. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
