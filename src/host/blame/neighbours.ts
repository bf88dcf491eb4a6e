/**
 * Trusted side: finds the plugin that its neighbours in a lane wait for. A plugin may run one turn after another, each within its budget, and
 * still keep the lane from the others. What counts is time in long turns, and in turns that no call waits for, as the lane reports it. Many
 * quick calls do not count: the gateway made them.
 */
import { LIMITS } from "../../protocol/limits.ts";
import type { Plugin } from "../plugins/plugin.ts";

export interface Hog {
  readonly plugin: Plugin;
  readonly why: string;
}

/** `lane`: the plugins that live in one lane. Undefined: none of them takes too much. */
export function findHog(lane: readonly Plugin[]): Hog | undefined {
  // A plugin alone in its lane keeps no other waiting.
  if (lane.length < 2) return undefined;
  const shares = lane.map((plugin) => ({ plugin, share: plugin.laneShare.charge(0) })).toSorted((a, b) => b.share - a.share);
  const { plugin, share } = shares[0]!;
  if (share > LIMITS.lane.share) return { plugin, why: `it took ${percent(share)} of its lane over ${SECONDS} s` };
  const together = shares.reduce((sum, other) => sum + other.share, 0);
  if (together <= LIMITS.lane.sharesTogether) return undefined;
  return {
    plugin,
    why: `it took ${percent(share)} of its lane over ${SECONDS} s, the most of plugins that took ${percent(together)} together`,
  };
}

const SECONDS = LIMITS.lane.shareMs / 1000;

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
