/** Trusted side: bounds the series of /metrics: past a number of plugins the rest is one, named `other`. */
import type { Histogram, PluginStats } from "../protocol/live-report.ts";

export function cappedPlugins(plugins: readonly PluginStats[], most: number): readonly PluginStats[] {
  // An id of a plugin's own may be `other`, too: then the sums are told apart by no label, and it joins them.
  const named = plugins.filter(({ plugin }, at) => at < most && plugin !== "other");
  const rest = plugins.filter(({ plugin }, at) => at >= most || plugin === "other");
  return rest.length === 0 ? named : [...named, rest.reduce(added, { ...EMPTY, duration: emptied(rest[0]!.duration) })];
}

const EMPTY: Omit<PluginStats, "duration"> = {
  plugin: "other",
  status: "",
  calls: [],
  hooks: [],
  cpuSeconds: 0,
  cpuRatio: 0,
  heapBytes: 0,
  heapLimitBytes: 0,
  circuit: "",
  replacements: {},
  approvals: {},
  fetches: {},
  refusals: {},
  permissionUses: {},
  permissions: [],
  droppedLogLines: 0,
  deliveries: {},
};

function added(sum: PluginStats, one: PluginStats): PluginStats {
  return {
    ...sum,
    calls: addedCalls(sum.calls, one.calls),
    duration: addedHistograms(sum.duration, one.duration),
    cpuSeconds: sum.cpuSeconds + one.cpuSeconds,
    cpuRatio: Math.min(1, sum.cpuRatio + one.cpuRatio),
    heapBytes: (sum.heapBytes ?? 0) + (one.heapBytes ?? 0),
    heapLimitBytes: (sum.heapLimitBytes ?? 0) + (one.heapLimitBytes ?? 0),
    replacements: addedCounts(sum.replacements, one.replacements),
    approvals: addedCounts(sum.approvals, one.approvals),
    fetches: addedCounts(sum.fetches, one.fetches),
    refusals: addedCounts(sum.refusals, one.refusals),
    permissionUses: addedCounts(sum.permissionUses, one.permissionUses),
    droppedLogLines: sum.droppedLogLines + one.droppedLogLines,
    deliveries: addedCounts(sum.deliveries, one.deliveries),
  };
}

type Counts = Readonly<Record<string, number>>;

function addedCounts(sum: Counts, one: Counts): Counts {
  const counts: Record<string, number> = { ...sum };
  for (const [key, count] of Object.entries(one)) counts[key] = (counts[key] ?? 0) + count;
  return counts;
}

function addedCalls(sum: PluginStats["calls"], one: PluginStats["calls"]): PluginStats["calls"] {
  const grouped = Map.groupBy([...sum, ...one], ({ hook, status }) => `${hook} ${status}`);
  return Array.from(grouped.values(), (same) => ({ ...same[0]!, count: same.reduce((total, { count }) => total + count, 0) }));
}

function addedHistograms(sum: Histogram, one: Histogram): Histogram {
  return {
    bounds: sum.bounds,
    counts: sum.counts.map((count, at) => count + (one.counts[at] ?? 0)),
    sum: sum.sum + one.sum,
    count: sum.count + one.count,
    exemplars: sum.counts.map((_, at) => one.exemplars?.[at] ?? sum.exemplars?.[at]),
  };
}

function emptied({ bounds, counts }: Histogram): Histogram {
  return { bounds, counts: counts.map(() => 0), sum: 0, count: 0 };
}
