/**
 * What neighbours feel of an attack that is left in place when its calls have settled. Its time there ends early only when it is over: its cell is
 * gone and nothing in its source comes back by itself, or no process has used the CPU for half a second with the load held back.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "../../src/cli/bench/statistics.ts";
import { Driver, emptyDrives } from "./drives.ts";
import type { DriveName, DriveTally } from "./drives.ts";
import { emptyTally, LOST_MS } from "./load.ts";
import type { Tally } from "./load.ts";
import { cpuMs, ofFamily } from "./process-stats.ts";
import { idsOf } from "./stage.ts";
import type { Slot, Stage } from "./stage.ts";
import type { StallSummary } from "./stalls.ts";

/** The host may take this long to notice who takes its lane's time; latencies count from then on, everything else from the beginning. */
export const NOTICE_MS = 3_000;
/** In a brief trial even an attack that the host has dealt with stays for this time; one that must be harmless without the host's doing, for twice. */
const BRIEF_MS = 1_000;
const QUIET_CALLS = 600;
/** Quiet windows that are kept: the p99 of so many calls is not one bad moment. */
const QUIET_WINDOWS = 4;
/** An attack that acts only when it is called is called for so long: 15 times, five times in a brief trial. */
const DRIVE_MS = 3_000;
const BRIEF_DRIVE_MS = 1_000;
const LOOK_MS = 250;
/** A p99 of fewer calls is their maximum: an attack that was stopped so soon is judged by what was answered wrongly. */
const FEW_CALLS = 200;
const REST_MS = 500;
/** The kernel counts CPU time in steps of 10 ms: a tenth of this is two of them. */
const BRIEF_REST_MS = 200;
/** Of a core: lanes and watchdogs look around now and then. */
const REST_SHARE = 0.1;

/** One time in place. */
export interface Felt {
  readonly quietP99Ms: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** While the host had not noticed yet. */
  readonly noticeP99Ms: number;
  readonly stayedMs: number;
  /** The longest that a synchronous run kept the gateway waiting, while the host had not noticed yet and from then on. */
  readonly noticeSyncMs: number;
  readonly syncMs: number;
}

export interface Stay {
  /** Why it ended. */
  readonly end: string;
  readonly stayedMs: number;
  /** The host had the time to notice, or it was over by itself. */
  readonly isFull: boolean;
  /** Undefined: it was over before neighbours could feel anything of it, or stayed too short. */
  readonly felt: Felt | undefined;
}

interface Kept {
  windows: (readonly number[])[];
  atMs: number;
  isStale: boolean;
}

/** The p99 of quiet windows of this run: with no attack in place, and the same calls driven that are driven beside it. */
export class Quiet {
  readonly #of = new Map<string, Kept>();

  p99Ms(drives: readonly DriveName[]): number {
    const { windows } = this.#kept(drives);
    const known = windows.length > 0 ? windows : [...this.#of.values()].flatMap((kept) => kept.windows);
    return known.length > 0 ? quantile(known.flat(), 0.99) : Infinity;
  }

  /** Listens, unless the last window is fresh. The tallies are the caller's, for calls must be right in quiet, too. */
  async listen(stage: Stage, drives: readonly DriveName[], maxAgeMs: number): Promise<Tally[]> {
    const kept = this.#kept(drives);
    if (performance.now() - kept.atMs < maxAgeMs) return [];
    if (kept.isStale) Object.assign(kept, { windows: [], isStale: false });
    const tallies: Tally[] = [];
    // `own` calls an attack, and there is none.
    const driven = drives.filter((name) => name !== "own");
    await using _driver = new Driver(stage, "", driven, emptyDrives());
    do {
      const tally = await stage.load.window(QUIET_CALLS);
      tallies.push(tally);
      kept.windows = [...kept.windows, tally.latenciesMs].slice(-QUIET_WINDOWS);
    } while (kept.windows.length < 2);
    kept.atMs = performance.now();
    return tallies;
  }

  /** An attack broke a rule: what it has left behind is no quiet, so the next windows replace these. */
  forget(): void {
    for (const kept of this.#of.values()) Object.assign(kept, { atMs: -Infinity, isStale: true });
  }

  #kept(drives: readonly DriveName[]): Kept {
    const key = drives.toSorted().join();
    const kept = this.#of.get(key) ?? { windows: [], atMs: -Infinity, isStale: false };
    this.#of.set(key, kept);
    return kept;
  }
}

/** What is driven while an attack stays: what its file says, and synchronous runs. */
export const drivesOf = ({ attack }: Slot): DriveName[] => [...new Set([...attack.drives, "sync" as const])];

/** A machine is not much busier than it was half a minute ago; if it is, the attack is tried again, with a window of its own. */
const QUIET_AGE_MS = 30_000;

/** How old its quiet window may be; undefined: it has none. Brief trials share the host's first: what seems slow by that is tried again, with a window of its own. */
export function quietAgeMs(slot: Slot, attempt: number): number | undefined {
  if (slot.stayMs === 0 || !(slot.attack.isLate || slot.isForced)) return undefined;
  if (attempt > 0) return 0;
  return isBriefly(slot) ? undefined : QUIET_AGE_MS;
}

export interface StayOptions {
  readonly stage: Stage;
  readonly slot: Slot;
  readonly quiet: Quiet;
  readonly drives: DriveTally;
  /** Gets the tallies of the time in place. */
  readonly tallies: Tally[];
  /** Has the host done what is expected of it? */
  readonly isDone: () => boolean;
}

export async function leaveInPlace(options: StayOptions): Promise<Stay> {
  const { stage, slot, drives, tallies } = options;
  const { isLate, drives: names } = slot.attack;
  const startedMs = performance.now();
  const isShort = slot.stayMs < 2 * NOTICE_MS;
  if (slot.stayMs === 0 || (isShort && !isLate && names.length === 0)) return TAKEN_OUT;
  if (isLate || slot.isForced) return staying(options);
  if (names.length > 0) {
    await using _driver = new Driver(stage, slot.id, names, drives);
    await sleep(Math.min(isBriefly(slot) ? BRIEF_DRIVE_MS : DRIVE_MS, slot.stayMs));
  }
  if (isShort) return TAKEN_OUT;
  const over = await isOver(stage, slot, tallies);
  if (over === undefined) return staying(options);
  return { end: over, stayedMs: performance.now() - startedMs, isFull: true, felt: undefined };
}

async function staying({ stage, slot, quiet, drives, tallies, isDone }: StayOptions): Promise<Stay> {
  const startedMs = performance.now();
  const [noticing, noticed] = [emptyTally(), emptyTally()];
  tallies.push(noticing, noticed);
  await using _driver = new Driver(stage, slot.id, drivesOf(slot), drives);
  const noticeMs = Math.min(NOTICE_MS, slot.stayMs / 2);
  const briefMs = slot.attack.expect.some((what) => what !== "harmless") ? BRIEF_MS : 2 * BRIEF_MS;
  const isEarly = (): boolean => isBriefly(slot) && performance.now() - startedMs >= briefMs && isDone();
  const until = async (ms: number, isEnough: () => boolean): Promise<void> => {
    while (performance.now() < startedMs + ms && !isEnough())
      await sleep(Math.min(LOOK_MS, Math.max(1, startedMs + ms - performance.now())));
  };
  stage.load.tally = noticing;
  await until(noticeMs, isEarly);
  const noticeSyncMs = drives.longestSyncMs;
  drives.longestSyncMs = 0;
  stage.load.tally = noticed;
  await until(slot.stayMs, () => (!slot.isForced && isUnloaded(stage, slot)) || isEarly());
  stage.load.tally = emptyTally();
  tallies.push(stage.load.tally);
  await answered([noticing, noticed]);
  const stayedMs = performance.now() - startedMs;
  const isFull = slot.stayMs >= 2 * NOTICE_MS || isUnloaded(stage, slot);
  const felt: Felt = {
    noticeSyncMs,
    syncMs: drives.longestSyncMs,
    quietP99Ms: quiet.p99Ms(drivesOf(slot)),
    p50Ms: at(noticed, 0.5),
    p99Ms: at(noticed, 0.99),
    noticeP99Ms: at(noticing, 0.99),
    stayedMs,
  };
  const end = isUnloaded(stage, slot) ? `stopped after ${(stayedMs / 1_000).toFixed(0)} s` : `${(stayedMs / 1_000).toFixed(0)} s`;
  return { end, stayedMs, isFull, felt: !isFull || noticed.latenciesMs.length < FEW_CALLS ? undefined : felt };
}

const isBriefly = ({ clockRoom = 1 }: Slot): boolean => clockRoom > 1;

const at = ({ latenciesMs }: Tally, q: number): number => (latenciesMs.length === 0 ? LOST_MS : quantile(latenciesMs, q));

export const TAKEN_OUT: Stay = { end: "taken out at once", stayedMs: 0, isFull: false, felt: undefined };

const GONE: ReadonlySet<string> = new Set(["failed", "quarantined"]);

/** It has no cell any more, and gets none until the operator says so. */
const isUnloaded = ({ host }: Stage, slot: Slot): boolean => idsOf(slot).every((id) => GONE.has(host.inspect(id).status));

/** Why nothing can come of it any more; undefined: something may. */
async function isOver(stage: Stage, slot: Slot, tallies: Tally[]): Promise<string | undefined> {
  if (idsOf(slot).every((id) => isGone(stage, id))) return "its cell is gone";
  await stage.load.pause();
  const restMs = isBriefly(slot) ? BRIEF_REST_MS : REST_MS;
  const share = await busiestShare(stage, restMs);
  stage.load.tally = emptyTally();
  tallies.push(stage.load.tally);
  stage.load.start();
  return share <= REST_SHARE ? `at rest for ${restMs / 1_000} s` : undefined;
}

function isGone({ host, heard }: Stage, id: string): boolean {
  return heard.disposed.has(id) || heard.restarts.some(({ culprit }) => culprit === id) || GONE.has(host.inspect(id).status);
}

/** The largest share of a core that any sandbox took in that time. */
async function busiestShare({ host }: Stage, restMs: number): Promise<number> {
  const read = (): Map<number, number> => new Map(host.pids().map((pid) => [pid, ofFamily(pid, cpuMs)]));
  const before = read();
  await sleep(restMs);
  // One that was started meanwhile was starting, and has nothing of the attack in it.
  return Math.max(0, ...[...read()].map(([pid, ms]) => (before.has(pid) ? (ms - before.get(pid)!) / restMs : 0)));
}

async function answered(tallies: readonly Tally[]): Promise<void> {
  const endMs = performance.now() + LOST_MS;
  while (performance.now() < endMs && tallies.some(({ sent, right, wrong, lost }) => right + wrong + lost < sent)) await sleep(10);
}

/** Those of the gateway and of the control process since the last time. */
export async function stallsOf({ stalls, control }: Stage): Promise<{ readonly stalls: StallSummary; readonly machine: StallSummary }> {
  return { stalls: stalls.take(), machine: await control.take() };
}
