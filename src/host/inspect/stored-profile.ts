/**
 * Trusted side: profiles in the state folder, one for each plugin that ran out of CPU time or memory in a run. `creel explain` makes
 * them, and the console shows them. A CPU profile is V8's format, with the author's lines beside it: DevTools ignores what it does not
 * know. Of memory only the summary is kept: a snapshot has megabytes, and contains what the plugin had in memory.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import type { CpuProfile } from "./cpu-profile.ts";
import type { HeapProfile } from "./heap-profile.ts";
import { parseJson } from "../../text/parse-json.ts";

const FOLDER = "profiles";
const stored = z.object({
  creel: z.object({
    totalMs: z.number(),
    isCut: z.boolean(),
    lines: z.array(
      z.object({
        url: z.string(),
        line: z.int(),
        function: z.string(),
        ms: z.number(),
        share: z.number(),
        code: z.string().optional(),
      }),
    ),
  }),
});

/** As many lines as a file repeats. */
const KEPT = 20;

export function profilePath(stateDir: string, runId: string, plugin: string): string {
  return join(stateDir, FOLDER, `${safe(runId)}-${safe(plugin)}.cpuprofile`);
}

/** The content of a `.cpuprofile` with its summary. */
function profileText({ totalMs, isCut, lines, file }: CpuProfile): string {
  return JSON.stringify({ ...(JSON.parse(file) as object), creel: { totalMs, isCut, lines: lines.slice(0, KEPT) } });
}

export async function writeProfile(path: string, profile: CpuProfile): Promise<void> {
  await mkdir(join(path, ".."), { recursive: true, mode: 0o700 });
  await writeFile(path, profileText(profile), { mode: 0o600 });
}

export type StoredProfile = Omit<CpuProfile, "file">;

/** Undefined: there is none that can be read. */
export async function readProfile(path: string): Promise<StoredProfile | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  const parsed = text === undefined ? undefined : parseJson(stored, text);
  if (!parsed?.success) return undefined;
  const { totalMs, isCut, lines } = parsed.data.creel;
  return { totalMs, isCut, lines: lines.map((line) => ({ ...line, code: line.code })) };
}

const growth = z.object({
  beforeBytes: z.number(),
  afterBytes: z.number(),
  isCut: z.boolean(),
  stack: z.array(z.object({ url: z.string(), line: z.int(), column: z.int(), function: z.string(), code: z.string().optional() })),
  grew: z.array(z.object({ name: z.string(), count: z.number(), bytes: z.number() })),
});

export type StoredGrowth = Omit<HeapProfile, "file">;

export function growthPath(stateDir: string, runId: string, plugin: string): string {
  return join(stateDir, FOLDER, `${safe(runId)}-${safe(plugin)}.memory.json`);
}

export async function writeGrowth(path: string, { beforeBytes, afterBytes, isCut, stack, grew }: StoredGrowth): Promise<void> {
  await mkdir(join(path, ".."), { recursive: true, mode: 0o700 });
  const shown = { beforeBytes, afterBytes, isCut, stack: stack.slice(0, KEPT), grew: grew.slice(0, KEPT) };
  await writeFile(path, JSON.stringify(shown), { mode: 0o600 });
}

/** Undefined: there is none that can be read. */
export async function readGrowth(path: string): Promise<StoredGrowth | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  const parsed = text === undefined ? undefined : parseJson(growth, text);
  if (!parsed?.success) return undefined;
  return { ...parsed.data, stack: parsed.data.stack.map((frame) => ({ ...frame, code: frame.code })) };
}

/** Ids are third parties' words in a file of the operator's. */
const safe = (text: string): string => text.replaceAll(/[^\w-]/g, "_").slice(0, 100);
