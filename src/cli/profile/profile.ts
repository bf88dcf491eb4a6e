/** Profiles one call of a plugin, in a throw-away host of its own. */
import { profileCpu } from "../../host/inspect/cpu-profile.ts";
import type { CpuProfile } from "../../host/inspect/cpu-profile.ts";
import { profileHeap } from "../../host/inspect/heap-profile.ts";
import type { HeapProfile } from "../../host/inspect/heap-profile.ts";
import { InspectSession } from "../../host/inspect/session.ts";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { Caller } from "../call/caller.ts";
import type { CallerOptions } from "../call/caller.ts";
import type { CallInput } from "../call/input.ts";

export type ProfileOptions = Pick<CallerOptions, "config" | "stateDir" | "approval"> & { readonly path: string };

export function profileCallCpu(options: ProfileOptions, input: CallInput): Promise<CpuProfile> {
  return profiled(options, {}, (session, id, caller) => profileCpu(session, id, () => caller.call(input)));
}

export function profileCallHeap(options: ProfileOptions, input: CallInput): Promise<HeapProfile> {
  const { heapMb } = LIMITS.inspect;
  const limit = LIMITS.call.heapMb * 2 ** 20;
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
