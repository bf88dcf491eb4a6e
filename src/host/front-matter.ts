/**
 * Trusted side: reads the YAML front matter of a stranger's Markdown file. Bounded in every way a short text can be made to cost
 * much: only the file's beginning is read, aliases are refused (a kilobyte of them unfolds to gigabytes), tags make no objects.
 */
import { open } from "node:fs/promises";
import { parseDocument } from "yaml";
import { CreelError } from "../protocol/errors.ts";

/** Front matter has tens of lines; what a file says after it is prose for people. */
const MAX_BYTES = 16 * 1024;
const BLOCK = /^\uFEFF?---[ \t]*\r?\n(?<yaml>[\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

export async function readFrontMatter(path: string): Promise<unknown> {
  const invalid = (detail: string): CreelError => new CreelError("ERR_PLUGIN_MANIFEST", { path, field: "(front matter)", detail });
  const yaml = BLOCK.exec(await beginning(path))?.groups?.yaml;
  if (yaml === undefined) throw invalid(`the file must begin with a block between two lines of "---", of at most ${MAX_BYTES} bytes`);
  // SECURITY: no aliases, no tags but YAML's own, no merge keys. test/sdk/hook-folder.test.ts
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
