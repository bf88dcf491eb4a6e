/** Trusted side: how many lanes a host has unless its gateway says otherwise: one core is the gateway's. */
import { availableParallelism } from "node:os";

export function defaultLanes(): number {
  return Math.max(1, availableParallelism() - 1);
}
