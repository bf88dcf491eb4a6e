/**
 * Trusted side: where the CPU time of a past run went. The run is made once more, without consequences, with V8's
 * profiler in the cell of the plugin that ran out of time; nothing is measured while a gateway serves.
 */
import { profileCpu } from "../host/inspect/cpu-profile.ts";
import type { CpuProfile } from "../host/inspect/cpu-profile.ts";
import { InspectSession } from "../host/inspect/session.ts";
import type { RecordedRun } from "../protocol/recording.ts";
import { ReplayHost } from "./replay-host.ts";
import type { ReplaySetup } from "./replay-host.ts";

/** Undefined: the host of the setup does not have the plugin, or it does not load. */
export async function profileRun(run: RecordedRun, plugin: string, setup: ReplaySetup): Promise<CpuProfile | undefined> {
  const session = new InspectSession();
  await using host = await ReplayHost.open({ ...setup, inspect: { plugin, session } });
  if (!host.ids().includes(plugin) || host.failures().some((one) => one.plugin === plugin)) return undefined;
  return await profileCpu(session, plugin, () => host.run(run));
}
