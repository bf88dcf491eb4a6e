/**
 * Trusted side: reads the YAML front matter of an untrusted Markdown file. Bounds everything that a short text could
 * make expensive: it reads only the beginning of the file, refuses aliases (a kilobyte of them expands to gigabytes),
 * and lets no tag create objects.
 */
import { open } from "node:fs/promises";
import { CreelError } from "../protocol/errors.ts";

/** Front matter has tens of lines; the rest of the file is prose for people. */
const MAX_BYTES = 16 * 1024;
const BLOCK = /^\uFEFF?---[ \t]*\r?\n(?<yaml>[\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

export async function readFrontMatter(path: string): Promise<unknown> {
  const invalid = (detail: string): CreelError => new CreelError("ERR_PLUGIN_MANIFEST", { path, field: "(front matter)", detail });
  const yaml = BLOCK.exec(await beginning(path))?.groups?.yaml;
  if (yaml === undefined) throw invalid(`the file must begin with a block between two lines of "---", of at most ${MAX_BYTES} bytes`);
  // Few plugins have front matter, and the parser has 72 modules.
  const { parseDocument } = await import("yaml");
  // SECURITY: no aliases, no tags but YAML's own, no merge keys. test/discovery/hook-folder.test.ts
  const document = parseDocument(yaml, { schema: "core", merge: false, uniqueKeys: true, logLevel: "silent" });
  const mistake = document.errors[0] ?? document.warnings[0];
  if (mistake) throw invalid(firstLine(mistake.message));
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    throw invalid(firstLine((error as Error).message));
  }
}

async function beginning(path: string): Promise<string> {
  await using file = await open(path, "r");
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
  return buffer.toString("utf8", 0, bytesRead);
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]!.replace(/:$/, "");
}
