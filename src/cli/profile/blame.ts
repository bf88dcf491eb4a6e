/**
 * Where the time or the memory of a past run went, for `creel explain`: from what an earlier explanation has left, or by making the run
 * once more without consequences.
 */
import type { CpuProfile } from "../../host/inspect/cpu-profile.ts";
import { growthPath, profilePath, readGrowth, readProfile, writeGrowth, writeProfile } from "../../host/inspect/stored-profile.ts";
import type { StoredGrowth } from "../../host/inspect/stored-profile.ts";
import type { AuditRun } from "../../protocol/audit-line.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import { profileRun, profileRunHeap } from "../../replay/profile-run.ts";
import type { Project } from "../plugins/project.ts";
import { pastRun } from "../incident/past-run.ts";

export interface Blame extends Omit<CpuProfile, "file"> {
  readonly plugin: string;
  /** A `.cpuprofile` for DevTools. */
  readonly path: string;
}

export interface MemoryBlame extends StoredGrowth {
  readonly plugin: string;
}

/** Undefined: no call ran out of CPU time, or it cannot be made again. */
export async function blameOf(run: AuditRun, project: Project): Promise<Blame | undefined> {
  const plugin = failedBy(run, "ERR_CALL_CPU");
  if (plugin === undefined) return undefined;
  const path = profilePath(project.state.dir, run.runId, plugin);
  const known = await readProfile(path);
  if (known) return { plugin, path, ...known };
  const made = await again(run, project, (past, setup) => profileRun(past, plugin, setup));
  if (!made) return undefined;
  await writeProfile(path, made);
  const { file: _, ...shown } = made;
  return { plugin, path, ...shown };
}

/** Undefined: no call ran out of memory, or it cannot be made again. */
export async function memoryBlameOf(run: AuditRun, project: Project): Promise<MemoryBlame | undefined> {
  const plugin = failedBy(run, "ERR_CALL_MEMORY");
  if (plugin === undefined) return undefined;
  const path = growthPath(project.state.dir, run.runId, plugin);
  const known = await readGrowth(path);
  if (known) return { plugin, ...known };
  const made = await again(run, project, (past, setup) => profileRunHeap(past, plugin, setup));
  if (!made) return undefined;
  await writeGrowth(path, made);
  const { file: _, ...shown } = made;
  return { plugin, ...shown };
}

function failedBy({ calls }: AuditRun, code: ErrorCode): string | undefined {
  return calls.find(({ error }) => error?.code === code)?.plugin;
}

/** An explanation without lines is still one. */
async function again<T>(
  { runId }: AuditRun,
  { config, base, state }: Project,
  profile: (run: Parameters<typeof profileRun>[0], setup: Parameters<typeof profileRun>[2]) => Promise<T | undefined>,
): Promise<T | undefined> {
  try {
    return await profile(await pastRun(state.dir, runId), { config, base, stateDir: state.dir });
  } catch (error) {
    if (error instanceof CreelError) return undefined;
    throw error;
  }
}
