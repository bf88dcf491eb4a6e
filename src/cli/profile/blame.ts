/**
 * Where the time of a past run went, for `creel explain`: from the profile that an earlier explanation has left, or by
 * making the run once more without consequences.
 */
import type { CpuProfile } from "../../host/inspect/cpu-profile.ts";
import type { AuditRun } from "../../protocol/audit-line.ts";
import { CreelError } from "../../protocol/errors.ts";
import { profileRun } from "../../replay/profile-run.ts";
import { profilePath, readProfile, writeProfile } from "../../host/inspect/stored-profile.ts";
import type { Project } from "../plugins/project.ts";
import { pastRun } from "../incident/past-run.ts";

export interface Blame extends Omit<CpuProfile, "file"> {
  readonly plugin: string;
  /** A `.cpuprofile` for DevTools. */
  readonly path: string;
}

/** Undefined: no call ran out of CPU time, or it cannot be made again. */
export async function blameOf(run: AuditRun, { config, base, state }: Project): Promise<Blame | undefined> {
  const plugin = run.calls.find(({ error }) => error?.code === "ERR_CALL_CPU")?.plugin;
  if (plugin === undefined) return undefined;
  const path = profilePath(state.dir, run.runId, plugin);
  const known = await readProfile(path);
  if (known) return { plugin, path, ...known };
  try {
    const made = await profileRun(await pastRun(state.dir, run.runId), plugin, { config, base, stateDir: state.dir });
    if (!made) return undefined;
    await writeProfile(path, made);
    const { file: _, ...shown } = made;
    return { plugin, path, ...shown };
  } catch (error) {
    // An explanation without lines is still one.
    if (error instanceof CreelError) return undefined;
    throw error;
  }
}
