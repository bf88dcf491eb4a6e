/** Profiles one call of a plugin, in a throw-away host: alone by its path, or as it is installed, on a copy of the state. */
import { profileCpu } from "../../host/inspect/cpu-profile.ts";
import type { CpuProfile } from "../../host/inspect/cpu-profile.ts";
import { profileHeap } from "../../host/inspect/heap-profile.ts";
import type { HeapProfile } from "../../host/inspect/heap-profile.ts";
import { InspectSession } from "../../host/inspect/session.ts";
import { profileRun, profileRunHeap } from "../../replay/profile-run.ts";
import { findInstalled } from "../plugins/installed-plugin.ts";
import type { Project } from "../plugins/project.ts";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { Caller } from "../call/caller.ts";
import type { CallerOptions } from "../call/caller.ts";
import type { CallInput } from "../call/input.ts";

export type ProfileOptions = Pick<CallerOptions, "config" | "stateDir" | "approval" | "permissions"> & { readonly path: string };

export function profileCallCpu(options: ProfileOptions, input: CallInput): Promise<CpuProfile> {
  return profiled(options, {}, (session, id, caller) => profileCpu(session, id, () => caller.call(input)));
}

/** `limitMb`: the call is stopped when the heap has grown to this. */
export function profileCallHeap(options: ProfileOptions, input: CallInput, limitMb: number = LIMITS.call.heapMb): Promise<HeapProfile> {
  const { heapMb } = LIMITS.inspect;
  const limit = limitMb * 2 ** 20;
  return profiled(options, { heapMb }, (session, _, caller) => profileHeap(session, () => caller.call(input), limit));
}

async function profiled<T>(
  { path, ...options }: ProfileOptions,
  more: { readonly heapMb?: number },
  measure: (session: InspectSession, id: string, caller: Caller) => Promise<T>,
): Promise<T> {
  const session = new InspectSession();
  await using caller = await Caller.open({
    ...options,
    ...more,
    plugins: [path],
    // A call that never ends takes its process along.
    isolation: "process",
    inspect: { session },
    log: () => {},
  });
  const failed = caller.failures().find(({ isNamed }) => isNamed)?.report;
  if (failed?.error) throw new CreelError("ERR_PLUGIN_LOAD", { detail: failed.error.message });
  return await measure(session, caller.named[0]!, caller);
}

/** The first hook that the plugin listens to; undefined: none. */
export async function firstHook({ path, ...options }: ProfileOptions): Promise<string | undefined> {
  await using caller = await Caller.open({ ...options, plugins: [path], isolation: "thread", log: () => {} });
  return caller.report().hooks[0]?.hook;
}

/** By its id, among the plugins of the project. Rejects with a CreelError. */
export async function profileInstalled(
  { config, base, state }: Project,
  id: string,
  { hook, event, ctx }: CallInput,
  isHeap: boolean,
): Promise<CpuProfile | HeapProfile> {
  const setup = { config, base, stateDir: state.dir };
  const run = { hook, event, context: ctx };
  const made = isHeap ? await profileRunHeap(run, id, setup) : await profileRun(run, id, setup);
  if (!made) throw new CreelError("ERR_PLUGIN_LOAD", { detail: `there is no plugin "${id}" here that loads` });
  return made;
}

/** Rejects with a CreelError if it is not installed. */
export async function installedHook(project: Project, id: string): Promise<string | undefined> {
  return (await findInstalled(project, id)).hooks[0]?.hook;
}
