/**
 * Trusted side: where the CPU time or the memory of a past run went. The run is made once more, without consequences, with V8's
 * profilers in the cell of the plugin that ran out of it; nothing is measured while a gateway serves.
 */
import { profileCpu } from "../host/inspect/cpu-profile.ts";
import type { CpuProfile } from "../host/inspect/cpu-profile.ts";
import { profileHeap } from "../host/inspect/heap-profile.ts";
import type { HeapProfile } from "../host/inspect/heap-profile.ts";
import { InspectSession } from "../host/inspect/session.ts";
import { LIMITS } from "../protocol/limits.ts";
import { ReplayHost } from "./replay-host.ts";
import type { ReplayedRun, ReplaySetup } from "./replay-host.ts";

/** Undefined: the host of the setup does not have the plugin, or it does not load. */
export function profileRun(run: ReplayedRun, plugin: string, setup: ReplaySetup): Promise<CpuProfile | undefined> {
  return inspected(plugin, setup, {}, (session, host) => profileCpu(session, plugin, () => host.run(run)));
}

/** The run is stopped when the heap has grown enough to see of what. Undefined: as above. */
export function profileRunHeap(run: ReplayedRun, plugin: string, setup: ReplaySetup): Promise<HeapProfile | undefined> {
  const limit = LIMITS.inspect.grownMb * 2 ** 20;
  return inspected(plugin, setup, { heapMb: LIMITS.inspect.grownMb * 3 }, (session, host) =>
    profileHeap(session, () => host.run(run), limit),
  );
}

async function inspected<T>(
  plugin: string,
  setup: ReplaySetup,
  more: { readonly heapMb?: number },
  measure: (session: InspectSession, host: ReplayHost) => Promise<T>,
): Promise<T | undefined> {
  const session = new InspectSession();
  await using host = await ReplayHost.open({ ...setup, inspect: { plugin, session, ...more } });
  if (!host.ids().includes(plugin) || host.failures().some((one) => one.plugin === plugin)) return undefined;
  return await measure(session, host);
}
