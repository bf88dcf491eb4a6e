/**
 * What an operator may set per plugin, beside the times of its hooks: each limit with what holds if nothing is said,
 * and how far it may be set. Apart from their schema, which readers of the lock do not need.
 */
import { LIMITS } from "../limits.ts";

interface LimitRange {
  readonly means: string;
  readonly usual: number;
  readonly min: number;
  readonly max: number;
}

export const PLUGIN_LIMITS = {
  heapMb: { means: "Heap of its cell, in MB.", usual: LIMITS.call.heapMb, min: 8, max: 4_096 },
  bytesIn: {
    means: "An event with its context, as the cell gets it, in bytes of JSON.",
    usual: LIMITS.call.eventBytes,
    min: 1_024,
    max: LIMITS.call.eventBytes,
  },
  bytesOut: { means: "A result, in bytes of JSON.", usual: LIMITS.call.resultBytes, min: 1_024, max: LIMITS.call.eventBytes },
  hostCalls: { means: "Requests to the host per call.", usual: LIMITS.call.hostCalls, min: 0, max: 100_000 },
  logLines: { means: "Log lines per call.", usual: LIMITS.log.lines, min: 0, max: 10_000 },
  timers: { means: "Timers it may have pending.", usual: LIMITS.call.timers, min: 0, max: 100_000 },
  pendingCalls: { means: "Calls it may have pending.", usual: LIMITS.call.pendingCalls, min: 1, max: 100_000 },
  gatewayMs: {
    means:
      "Milliseconds of the gateway's own thread per second that its requests (fetch, kv, files, sessions) may take; past that they wait. 1000 is no limit.",
    usual: LIMITS.gateway.msPerSecond,
    min: 1,
    max: 1_000,
  },
  cpuShare: {
    means: "Share of one CPU that it may take over a minute, all its turns together; 1 is no limit, since a cell is in one thread.",
    usual: LIMITS.blame.cpuShare,
    min: 0.001,
    max: 1,
  },
} as const satisfies Record<string, LimitRange>;

export type PluginLimitName = keyof typeof PLUGIN_LIMITS;
export type PluginLimits = Record<PluginLimitName, number>;
