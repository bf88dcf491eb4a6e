/**
 * Trusted side: reads what a signed list names. A host reads from any server that has a copy, and that one may be behind the one to which the
 * operator wrote: what is missing there arrives a moment later.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { LIMITS } from "../../protocol/limits.ts";
import type { Bucket, BucketEntry } from "../bus.ts";

/** Undefined: it is still missing after `LIMITS.fleet.behindMs`. */
export async function arrived(bucket: Bucket, key: string): Promise<BucketEntry | undefined> {
  const lastMs = performance.now() + LIMITS.fleet.behindMs;
  for (;;) {
    const found = await bucket.get(key);
    if (found || performance.now() > lastMs) return found;
    await sleep(LIMITS.fleet.behindEveryMs);
  }
}
