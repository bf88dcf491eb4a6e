/**
 * Untrusted side: reads the status records of the lanes, from a thread that runs no plugin code. It has a turn stopped when the
 * thread has used the turn's CPU time, and reports turns that last: whether V8 cannot stop one is for the host to judge (watchdog.ts).
 * It also tells the lanes how busy the machine is.
 */
import {
  endWait,
  growthOf,
  isInTurn,
  readLaneStatus,
  setCpuPressure,
  setSteady,
  setTight,
  stopTurn,
  untilActive,
} from "../../transport/lane-status.ts";
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
  isStopped: boolean;
}

/** Assumed where the kernel does not tell how busy the machine is. */
const UNKNOWN_CPU_PRESSURE = 2;

/** The kernel brings a thread's CPU clock up to date with every tick, so a reading may be off by one, in either direction. */
const TICK_MS = 4;

/** A single sample depends on which threads happen to be awake, so average over the last few. */
const smooth = (old: number, fresh: number): number => old + (fresh - old) / 8;
const clamp = (cpuPressure: number): number => Math.min(Math.max(cpuPressure, 1), LIMITS.call.maxCpuPressure);

export interface StallDetector {
  stop(): void;
  /** From now on the lanes measure memory by cell, and every look reports it. */
  tighten(): void;
}

export interface StallDetectorOptions {
  /** Has this thread nothing else to do? Then lanes may rely on it to stop a turn in time. */
  readonly isSteady?: boolean;
}

/** Looks at the lanes until it is stopped. Does not keep the process alive. */
export function startStallDetector(
  laneStatuses: readonly SharedArrayBuffer[],
  notify: (seen: StalledTurn | Grown) => void,
  { isSteady = false }: StallDetectorOptions = {},
): StallDetector {
  const { watchMs, watchActiveMs, watchIdleMs, watchQuietMs } = LIMITS.sandbox;
  const seen = new Map<number, Sighting>();
  const steady = new Set<number>();
  let turns = 0;
  let activeMs = performance.now();
  let isQuiet = false;
  let isOver = false;
  let cpuPressure = clamp(readCpuPressure() ?? UNKNOWN_CPU_PRESSURE);
  for (const laneStatus of laneStatuses) setCpuPressure(laneStatus, cpuPressure);
  let timer: NodeJS.Timeout | undefined;
  let isTight = false;
  /** The last growth that was reported, by lane: of the cell that took most, and of the others. */
  const reported: { readonly bytes: number; readonly others: number }[] = [];

  const look = (): void => {
    const before = turns;
    turns = 0;
    const pressure = readCpuPressure() ?? UNKNOWN_CPU_PRESSURE;
    // What was measured before a quiet time says nothing about now.
    cpuPressure = clamp(isQuiet ? pressure : smooth(cpuPressure, pressure));
    let nextMs: number = watchActiveMs;
    for (const [lane, laneStatus] of laneStatuses.entries()) {
      const at = readLaneStatus(laneStatus);
      // A machine that has just become busy is busy: a turn's wall clock must not end it before it had its CPU time.
      setCpuPressure(laneStatus, clamp(Math.max(cpuPressure, pressure)));
      if (isSteady && !steady.has(lane)) beSteady(lane, laneStatus, at.thread);
      turns += at.turn;
      if (at.isInside) nextMs = Math.min(nextMs, check(lane, laneStatus, at));
      else seen.delete(lane);
      if (isTight) notifyGrowth(lane, laneStatus);
    }
    const nowMs = performance.now();
    if (seen.size > 0 || turns !== before) activeMs = nowMs;
    isQuiet = nowMs - activeMs > watchQuietMs;
    timer = setTimeout(look, isQuiet ? watchIdleMs : nextMs).unref();
  };

  const beSteady = (lane: number, laneStatus: SharedArrayBuffer, thread: number): void => {
    if (!threadTime(thread)) return;
    steady.add(lane);
    setSteady(laneStatus);
  };

  /** A lane that begins a turn after a quiet time wakes this thread. */
  const awaitActivity = async (laneStatus: SharedArrayBuffer): Promise<void> => {
    for (;;) {
      await untilActive(laneStatus);
      if (isOver) return;
      if (!isQuiet) continue;
      clearTimeout(timer);
      look();
    }
  };

  /** Gives when to look again. */
  const check = (lane: number, laneStatus: SharedArrayBuffer, at: LaneSnapshot): number => {
    const { turn, cell, run, step, begun, limitMs, thread, budgetMs } = at;
    const nowMs = performance.now();
    const time = threadTime(thread);
    const last = seen.get(lane);
    const first = last?.turn === turn ? last : { turn, seenMs: nowMs, time, isStopped: false };
    seen.set(lane, first);
    const cpuMs = time && first.time ? Math.max(0, time.cpuMs - first.time.cpuMs) : undefined;
    // Both are less than the turn has used, or as much.
    const usedMs = time ? Math.max(cpuMs!, time.cpuMs - at.markCpuMs - at.markAgeMs) : 0;
    const leftMs = budgetMs + TICK_MS - usedMs;
    if (leftMs <= 0 && !first.isStopped && isInTurn(laneStatus, turn)) {
      first.isStopped = true;
      stopTurn(laneStatus, turn);
    }
    if (first === last) {
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
        ...(first.isStopped && { isStopped: true }),
        ...(cpuMs !== undefined && {
          cpuMs,
          isAsleep: time!.isAsleep,
          touchedBytes: Math.max(0, time!.touchedBytes - first.time!.touchedBytes),
        }),
      });
    }
    return first.isStopped ? watchMs : Math.min(watchMs, Math.max(1, leftMs));
  };

  const notifyGrowth = (lane: number, laneStatus: SharedArrayBuffer): void => {
    const growth = growthOf(laneStatus);
    const last = reported[lane];
    if (!growth || (growth.bytes === last?.bytes && growth.others === last.others)) return;
    reported[lane] = growth;
    notify({ kind: "grown", lane, ...growth });
  };

  timer = setTimeout(look, watchMs).unref();
  for (const laneStatus of laneStatuses) void awaitActivity(laneStatus);
  return {
    stop: () => {
      isOver = true;
      clearTimeout(timer);
      for (const laneStatus of laneStatuses) endWait(laneStatus);
    },
    tighten: () => {
      isTight = true;
      for (const laneStatus of laneStatuses) setTight(laneStatus);
    },
  };
}
