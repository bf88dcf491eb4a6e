/**
 * Untrusted side: looks at the lanes' gauges, from a thread that runs no plugin code, and tells of turns that last. It decides
 * nothing: what such a turn means, and what is to be done, is the host's business.
 */
import { glance, setCrowd } from "../protocol/gauge.ts";
import type { Glance } from "../protocol/gauge.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { HeldTurn } from "../protocol/messages.ts";
import { crowdNow, threadTime } from "./thread-clock.ts";
import type { ThreadTime } from "./thread-clock.ts";

/** A turn as it was first seen. */
interface Sighting {
  readonly turn: number;
  readonly seenMs: number;
  readonly time: ThreadTime | undefined;
}

/** Where the kernel does not say how busy the machine is, it is taken for rather busy. */
const UNKNOWN_CROWD = 2;

/** One look sees a moment in which everybody happens to be awake, or asleep: the last few count. */
const smooth = (old: number, fresh: number): number => old + (fresh - old) / 8;
const clamp = (crowd: number): number => Math.min(Math.max(crowd, 1), LIMITS.maxCrowd);

/** Watches until it is told to stop. Never keeps a process alive. */
export function watchGauges(gauges: readonly SharedArrayBuffer[], tell: (held: HeldTurn) => void): () => void {
  const seen = new Map<number, Sighting>();
  let turns = 0;
  let quietMs = 0;
  let crowd = clamp(crowdNow() ?? UNKNOWN_CROWD);
  for (const gauge of gauges) setCrowd(gauge, crowd);
  let timer: NodeJS.Timeout | undefined;

  const look = (): void => {
    const before = turns;
    turns = 0;
    crowd = clamp(smooth(crowd, crowdNow() ?? UNKNOWN_CROWD));
    let isBusy = false;
    for (const [lane, gauge] of gauges.entries()) {
      const at = glance(gauge);
      setCrowd(gauge, crowd);
      turns += at.turn;
      isBusy ||= at.isInside;
      if (at.isInside) regard(lane, at);
      else seen.delete(lane);
    }
    const paceMs = quietMs > LIMITS.watchQuietMs ? LIMITS.watchIdleMs : LIMITS.watchMs;
    quietMs = isBusy || turns !== before ? 0 : quietMs + paceMs;
    timer = setTimeout(look, paceMs).unref();
  };

  const regard = (lane: number, { turn, cell, run, step, begun, limitMs, thread }: Glance): void => {
    const nowMs = performance.now();
    const first = seen.get(lane);
    if (first?.turn !== turn) {
      seen.set(lane, { turn, seenMs: nowMs, time: threadTime(thread) });
      return;
    }
    const time = threadTime(thread);
    const cpuMs = time && first.time ? time.cpuMs - first.time.cpuMs : undefined;
    tell({
      kind: "held",
      lane,
      cell,
      run,
      step,
      begun,
      limitMs,
      heldMs: nowMs - first.seenMs,
      ...(cpuMs !== undefined && { cpuMs: Math.max(0, cpuMs), isAsleep: time!.isAsleep }),
    });
  };

  timer = setTimeout(look, LIMITS.watchMs).unref();
  return () => clearTimeout(timer);
}
