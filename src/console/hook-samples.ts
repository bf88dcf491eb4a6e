/**
 * Trusted side: what each hook cost in one interval, and which plugin took the longest in it: the answer to "which plugin and which hook
 * made it slow". The console's samples and `creel top` show it.
 */
import type { HostStats, PluginStats } from "../protocol/live-report.ts";
import { difference, quantiles } from "./interval.ts";
import type { Quantiles } from "./interval.ts";

/** Of one hook; the quantiles are those of whole runs. */
export interface HookSample extends Quantiles {
  /** Runs per second. */
  readonly runs: number;
  /** Of them: how many did not pass. */
  readonly stopped: number;
  /** The plugin whose handlers took the longest per call; `meanMs` is their mean. */
  readonly slowest?: { readonly plugin: string; readonly meanMs: number };
}

/** By hook, of those that were run. `before` undefined: since the host opened. */
export function hookSamples(before: HostStats | undefined, now: HostStats, seconds: number): Record<string, HookSample> {
  const old = new Map(before?.hooks.map((hook) => [hook.hook, hook]));
  const slowest = slowestPlugins(before, now);
  const samples: Record<string, HookSample> = {};
  for (const { hook, runs: ended, duration } of now.hooks) {
    const earlier = old.get(hook);
    let runs = 0;
    let passed = 0;
    for (const [decision, count] of Object.entries(ended)) {
      const more = count - (earlier?.runs[decision as "pass"] ?? 0);
      runs += more;
      if (decision === "pass") passed += more;
    }
    if (runs <= 0) continue;
    const found = slowest.get(hook);
    samples[hook] = {
      runs: runs / seconds,
      stopped: (runs - passed) / seconds,
      ...quantiles(difference(earlier?.duration, duration)),
      ...(found && { slowest: found }),
    };
  }
  return samples;
}

function slowestPlugins(before: HostStats | undefined, now: HostStats): Map<string, NonNullable<HookSample["slowest"]>> {
  const old = new Map(before?.plugins.map(({ plugin, hooks }) => [plugin, new Map(hooks.map((one) => [one.hook, one]))]));
  const slowest = new Map<string, NonNullable<HookSample["slowest"]>>();
  for (const { plugin, hooks } of now.plugins)
    for (const one of hooks) {
      const meanMs = meanOf(one, old.get(plugin)?.get(one.hook));
      if (meanMs > (slowest.get(one.hook)?.meanMs ?? 0)) slowest.set(one.hook, { plugin, meanMs });
    }
  return slowest;
}

type Spent = PluginStats["hooks"][number];

/** 0: it was not called. */
function meanOf(now: Spent, before: Spent | undefined): number {
  const calls = now.calls - (before?.calls ?? 0);
  return calls > 0 ? ((now.seconds - (before?.seconds ?? 0)) / calls) * 1_000 : 0;
}
