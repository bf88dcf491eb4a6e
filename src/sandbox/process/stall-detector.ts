/**
 * Untrusted side: reads the status records of the lanes, from a thread that runs no plugin code, and reports turns that
 * last. It also tells the lanes how busy the machine is. It decides nothing: the host judges a stalled turn
 * (watchdog.ts).
 */
import { readLaneStatus, growthOf, setCpuPressure, setTight } from "../../transport/lane-status.ts";
import type { LaneSnapshot } from "../../transport/lane-status.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Grown, StalledTurn } from "../../protocol/messages/host-lane.ts";
import { readCpuPressure, threadTime } from "./thread-clock.ts";
import type { ThreadTime } from "./thread-clock.ts";

/** A turn at the time it was first seen. */
interface Sighting {
  readonly turn: number;
  readonly seenMs: number;
  readonly time: ThreadTime | undefined;
}

/** Assumed where the kernel does not tell how busy the machine is. */
const UNKNOWN_CPU_PRESSURE = 2;

/** A single sample depends on which threads happen to be awake, so average over the last few. */
const smooth = (old: number, fresh: number): number => old + (fresh - old) / 8;
const clamp = (cpuPressure: number): number => Math.min(Math.max(cpuPressure, 1), LIMITS.call.maxCpuPressure);

export interface StallDetector {
  stop(): void;
  /** From now on the lanes measure memory by cell, and every look reports it. */
  tighten(): void;
}

/** Looks at the lanes until it is stopped. Does not keep the process alive. */
export function startStallDetector(laneStatuses: readonly SharedArrayBuffer[], notify: (seen: StalledTurn | Grown) => void): StallDetector {
  const seen = new Map<number, Sighting>();
  let turns = 0;
  let quietMs = 0;
  let cpuPressure = clamp(readCpuPressure() ?? UNKNOWN_CPU_PRESSURE);
  for (const laneStatus of laneStatuses) setCpuPressure(laneStatus, cpuPressure);
  let timer: NodeJS.Timeout | undefined;
  let isTight = false;
  /** The last growth that was reported, by lane. */
  const reported: number[] = [];

  const look = (): void => {
    const before = turns;
    turns = 0;
    cpuPressure = clamp(smooth(cpuPressure, readCpuPressure() ?? UNKNOWN_CPU_PRESSURE));
    let isBusy = false;
    for (const [lane, laneStatus] of laneStatuses.entries()) {
      const at = readLaneStatus(laneStatus);
      setCpuPressure(laneStatus, cpuPressure);
      turns += at.turn;
      isBusy ||= at.isInside;
      if (at.isInside) check(lane, at);
      else seen.delete(lane);
      if (isTight) notifyGrowth(lane, laneStatus);
    }
    const paceMs = quietMs > LIMITS.sandbox.watchQuietMs ? LIMITS.sandbox.watchIdleMs : LIMITS.sandbox.watchMs;
    quietMs = isBusy || turns !== before ? 0 : quietMs + paceMs;
    timer = setTimeout(look, paceMs).unref();
  };

  const check = (lane: number, { turn, cell, run, step, begun, limitMs, thread }: LaneSnapshot): void => {
    const nowMs = performance.now();
    const first = seen.get(lane);
    if (first?.turn !== turn) {
      seen.set(lane, { turn, seenMs: nowMs, time: threadTime(thread) });
      return;
    }
    const time = threadTime(thread);
    const cpuMs = time && first.time ? time.cpuMs - first.time.cpuMs : undefined;
    notify({
      kind: "stalled",
      lane,
      cell,
      turn,
      run,
      step,
      begun,
      limitMs,
      stalledMs: nowMs - first.seenMs,
      ...(cpuMs !== undefined && {
        cpuMs: Math.max(0, cpuMs),
        isAsleep: time!.isAsleep,
        touchedBytes: Math.max(0, time!.touchedBytes - first.time!.touchedBytes),
      }),
    });
  };

  const notifyGrowth = (lane: number, laneStatus: SharedArrayBuffer): void => {
    const growth = growthOf(laneStatus);
    if (!growth || growth.bytes === reported[lane]) return;
    reported[lane] = growth.bytes;
    notify({ kind: "grown", lane, ...growth });
  };

  timer = setTimeout(look, LIMITS.sandbox.watchMs).unref();
  return {
    stop: () => clearTimeout(timer),
    tighten: () => {
      isTight = true;
      for (const laneStatus of laneStatuses) setTight(laneStatus);
    },
  };
}
