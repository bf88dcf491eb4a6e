/** Trusted side: asks a host for its numbers, once or again and again. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Host } from "../../host/host-api.ts";
import type { HostStats } from "../../protocol/live-report.ts";
import { topView } from "./view.ts";
import type { TopView } from "./view.ts";

/** Rates cover this many pictures: over one alone they would jump. */
const COVERED = 5;

export type TopHost = Pick<Host, "stats" | "runs" | "pendingApprovals">;

/** Ends when aborted, or after one. Throws when the host does not answer. */
export async function* pictures(host: TopHost, everyMs: number, signal: AbortSignal, isOnce: boolean): AsyncGenerator<TopView> {
  const earlier: HostStats[] = [];
  while (!signal.aborted) {
    const [stats, runs, approvals] = await Promise.all([host.stats(), host.runs(), host.pendingApprovals()]);
    yield topView({ stats, before: earlier[0], runs, approvals });
    if (isOnce) return;
    earlier.push(stats);
    if (earlier.length > COVERED) earlier.shift();
    await sleep(everyMs, undefined, { signal }).catch(() => {});
  }
}
