/**
 * Where the time or the memory of a past run went, for `creel explain` and the console: from what an earlier explanation has left, or by
 * making the run once more without consequences.
 */
import type { CpuProfile } from "../../host/inspect/cpu-profile.ts";
import { growthPath, profilePath, readGrowth, readProfile, writeGrowth, writeProfile } from "../../host/inspect/stored-profile.ts";
import type { StoredGrowth } from "../../host/inspect/stored-profile.ts";
import type { AuditShown } from "../../protocol/audit-line.ts";
import { CreelError } from "../../protocol/errors.ts";
import { ranOutOfCpu } from "../../protocol/outcome.ts";
import { profileRun, profileRunHeap } from "../../replay/profile-run.ts";
import type { ReplayedRun, ReplaySetup } from "../../replay/replay-host.ts";
import { Recordings } from "../../state/recordings.ts";
import { wholeOf } from "../incident/past-run.ts";
import type { Project } from "../plugins/project.ts";

export interface Blame extends Omit<CpuProfile, "file"> {
  readonly plugin: string;
  /** A `.cpuprofile` for DevTools. */
  readonly path: string;
}

export interface MemoryBlame extends StoredGrowth {
  readonly plugin: string;
}

/** A line of the audit log, or a run that a host remembers. */
export interface BlamedRun {
  readonly runId: string;
  readonly hook: string;
  readonly event?: AuditShown | undefined;
  readonly context?: AuditShown | undefined;
  readonly calls: readonly { readonly plugin: string; readonly error?: { readonly code: string } | undefined }[];
}

export interface Blames {
  /** Of a call that ran out of CPU time. */
  readonly profile?: Blame;
  /** Of a call that ran out of memory. */
  readonly memory?: MemoryBlame;
  /** A sentence: why a call that ran out of one has no lines. */
  readonly unknown?: string;
}

/** Without any field: no call ran out of CPU time or memory. `plugins`: those that the gateway names beside the configuration. */
export async function blamesOf(run: BlamedRun, project: Project, plugins?: ReplaySetup["plugins"]): Promise<Blames> {
  const setup = setupOf(project, plugins);
  const cpu = run.calls.find(ranOutOfCpu)?.plugin;
  const full = run.calls.find(({ error }) => error?.code === "ERR_CALL_MEMORY")?.plugin;
  const profile = cpu === undefined ? undefined : await unlessUnknown(() => cpuBlame(run, cpu, project, setup));
  const memory = full === undefined ? undefined : await unlessUnknown(() => memoryBlame(run, full, project, setup));
  const unknown = [profile, memory].find((one) => typeof one === "string");
  return {
    ...(typeof profile === "object" && { profile }),
    ...(typeof memory === "object" && { memory }),
    ...(unknown !== undefined && { unknown }),
  };
}

async function cpuBlame(run: BlamedRun, plugin: string, project: Project, setup: ReplaySetup): Promise<Blame | string> {
  const path = profilePath(project.state.dir, run.runId, plugin);
  const known = await readProfile(path);
  if (known) return { plugin, path, ...known };
  const made = await profileRun(await eventOf(run, project), plugin, setup);
  if (!made) return absent(plugin);
  await writeProfile(path, made);
  const { file: _, ...shown } = made;
  return { plugin, path, ...shown };
}

async function memoryBlame(run: BlamedRun, plugin: string, project: Project, setup: ReplaySetup): Promise<MemoryBlame | string> {
  const path = growthPath(project.state.dir, run.runId, plugin);
  const known = await readGrowth(path);
  if (known) return { plugin, ...known };
  const made = await profileRunHeap(await eventOf(run, project), plugin, setup);
  if (!made) return absent(plugin);
  await writeGrowth(path, made);
  const { file: _, ...shown } = made;
  return { plugin, ...shown };
}

/** A call that never ends takes its process along, so the isolation is the default: a process. */
function setupOf({ config, base, state }: Project, plugins: ReplaySetup["plugins"]): ReplaySetup {
  return { config, base, stateDir: state.dir, ...(plugins && { plugins }) };
}

/** The recordings have it whole. */
async function eventOf({ runId, hook, event, context }: BlamedRun, { state }: Project): Promise<ReplayedRun> {
  const recorded = await new Recordings(state.dir).find(runId);
  if (recorded) return recorded;
  const whole = wholeOf(event);
  if (!whole) throw new CreelError("ERR_REPLAY_EVENT", { runId });
  return { hook, event: whole, context: wholeOf(context) ?? {} };
}

function absent(plugin: string): string {
  return `the project here has no plugin "${plugin}" that loads`;
}

/** An explanation without lines is still one. */
async function unlessUnknown<T>(make: () => Promise<T | string>): Promise<T | string> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof CreelError) return `${error.message}: ${error.fix}`;
    throw error;
  }
}
