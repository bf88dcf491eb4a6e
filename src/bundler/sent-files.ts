/**
 * Both gateway and bundler child process: files as they are sent into a cell: each a SentFile
 * (protocol/messages/files.ts), as JSON.
 */
import { isAscii, isUtf8 } from "node:buffer";

/** Text that would be longer in ASCII than in base64 is sent as base64. */
const STRETCH = 4 / 3;

export function sentFile(path: string, mtimeMs: number, bytes: Buffer): string {
  const head = `[${asciiJson(path)},${mtimeMs}`;
  if (!isUtf8(bytes)) return `${head},"b","${bytes.toString("base64")}"]`;
  const text = bytes.toString("utf8");
  const json = isAscii(bytes) ? JSON.stringify(text) : asciiJson(text);
  return json.length <= bytes.length * STRETCH + 16 ? `${head},"u",${json}]` : `${head},"t","${bytes.toString("base64")}"]`;
}

export function sentFolder(path: string, mtimeMs: number): string {
  return `[${asciiJson(path)},${mtimeMs},"d"]`;
}

/** The file is too large. */
export function lackingFile(path: string, mtimeMs: number, size: number): string {
  return `[${asciiJson(path)},${mtimeMs},"x",${size}]`;
}

/**
 * In ASCII: V8 stores any other text with two bytes per character, and the cell holds it until the plugin reads a file.
 */
export function asciiJson(text: unknown): string {
  return JSON.stringify(text).replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
