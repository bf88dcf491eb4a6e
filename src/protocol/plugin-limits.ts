/** What an operator may set per plugin, beside the times of its hooks: each limit with what holds if nothing is said, and how far it may be set. */
import * as z from "zod";
import { LIMITS } from "./limits.ts";

interface LimitRange {
  readonly usual: number;
  readonly min: number;
  readonly max: number;
}

export const PLUGIN_LIMITS = {
  /** Heap of its cell, in MB. */
  heapMb: { usual: LIMITS.heapMb, min: 8, max: 4_096 },
  /** An event with its context, as the cell gets it, in characters of JSON. */
  bytesIn: { usual: LIMITS.eventBytes, min: 1_024, max: LIMITS.eventBytes },
  /** A result, in characters of JSON. */
  bytesOut: { usual: LIMITS.resultBytes, min: 1_024, max: LIMITS.eventBytes },
  /** Questions to the host per call. */
  hostCalls: { usual: LIMITS.hostCalls, min: 0, max: 100_000 },
  /** Log lines per call. */
  logLines: { usual: LIMITS.logLines, min: 0, max: 10_000 },
  /** Timers it may have pending. */
  timers: { usual: LIMITS.timers, min: 0, max: 100_000 },
  /** Calls it may have pending. */
  pendingCalls: { usual: LIMITS.pendingCalls, min: 1, max: 100_000 },
  /** Share of one CPU that it may take over a minute, all its turns together; 1 is no limit, since a cell is in one thread. */
  cpuShare: { usual: LIMITS.cpuShare, min: 0.001, max: 1 },
} as const satisfies Record<string, LimitRange>;

export type PluginLimitName = keyof typeof PLUGIN_LIMITS;
export type PluginLimits = Record<PluginLimitName, number>;

/** Strict: a misspelt limit would be none. */
export const pluginLimitsConfig = z.strictObject(
  Object.fromEntries(
    Object.entries(PLUGIN_LIMITS).map(([name, { min, max }]) => [name, z.number().min(min).max(max).optional()]),
  ) as Record<PluginLimitName, z.ZodOptional<z.ZodNumber>>,
);
export type PluginLimitsConfig = z.infer<typeof pluginLimitsConfig>;
