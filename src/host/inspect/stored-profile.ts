/**
 * Trusted side: profiles in the state folder, one for each plugin that ran out of CPU time in a run. `creel explain` makes them, and
 * the console shows them. The file is V8's format, with the author's lines beside it: DevTools ignores what it does not
 * know.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import type { CpuProfile } from "./cpu-profile.ts";
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

/** Ids are third parties' words in a file of the operator's. */
const safe = (text: string): string => text.replaceAll(/[^\w-]/g, "_").slice(0, 100);
