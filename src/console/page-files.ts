/**
 * Trusted side: the files of the page, in memory from the first request on. The package contains them. When Creel runs from sources, a
 * child process bundles them (scripts/console-build/main.ts).
 */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { CreelError } from "../protocol/errors.ts";

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};
const FOLDER = new URL("./assets/", import.meta.url);
const MAX_BYTES = 4 * 1024 * 1024;

let loaded: Promise<ReadonlyMap<string, PageFile>> | undefined;

/** By path. */
export function pageFiles(): Promise<ReadonlyMap<string, PageFile>> {
  if (!loaded) {
    loaded = import.meta.url.endsWith(".ts") ? built() : packaged();
    // Do not keep a failure: the next request tries again.
    loaded.catch(() => (loaded = undefined));
  }
  return loaded;
}

async function packaged(): Promise<ReadonlyMap<string, PageFile>> {
  const names = await readdir(FOLDER);
  return filesOf(await Promise.all(names.map(async (name) => [name, await readFile(new URL(name, FOLDER))] as const)));
}

async function built(): Promise<ReadonlyMap<string, PageFile>> {
  const builder = fileURLToPath(new URL("../../scripts/console-build/main.ts", import.meta.url));
  const args = ["--disable-warning=ExperimentalWarning", builder];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: MAX_BYTES });
    return filesOf(Object.entries(JSON.parse(stdout) as Record<string, string>).map(([name, text]) => [name, Buffer.from(text)] as const));
  } catch (error) {
    throw new CreelError("ERR_CONSOLE_PAGE", { detail: (error as Error).message.slice(0, 2_000) });
  }
}

function filesOf(files: readonly (readonly [string, Buffer])[]): ReadonlyMap<string, PageFile> {
  return new Map(
    files.flatMap(([name, body]) => {
      const type = TYPES[name.split(".").at(-1)!];
      return type === undefined ? [] : [[name === "index.html" ? "/" : `/${name}`, { type, body }] as const];
    }),
  );
}
