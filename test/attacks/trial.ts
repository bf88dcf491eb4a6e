/**
 * One attack, under load: it is let in, called, called again if it seems harmless, left in place (stay.ts), put out; then every innocent plugin is probed.
 * What is written down here is judged in verdict.ts. If only a clock was against it, it is tried twice more, and the median counts.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Outcome } from "creel";
import { LIMITS } from "../../src/protocol/limits.ts";
import { quantile } from "../../src/cli/bench/statistics.ts";
import type { Expectation } from "./corpus.ts";
import { emptyDrives } from "./drives.ts";
import type { DriveTally } from "./drives.ts";
import { emptyTally, LOST_MS, merged } from "./load.ts";
import type { Tally } from "./load.ts";
import { rssMb } from "./process-stats.ts";
import { idsOf } from "./stage.ts";
import type { Heard, Slot, Stage } from "./stage.ts";
import type { StallSummary } from "./stalls.ts";
import { drivesOf, leaveInPlace, quietAgeMs, stallsOf } from "./stay.ts";
import type { Quiet, Stay } from "./stay.ts";
import { broken, isAsExpected, isOnlyLate } from "./verdict.ts";

export interface Settled {
  /** Loading is a call, too: code at the top of a file runs there, and has a budget. */
  readonly phase: "load" | "call";
  /** The attack, or one of its copies. */
  readonly plugin: string;
  /** Of the call, or of the plugin; `hung` when nothing came. */
  readonly status: string;
  readonly code: string | undefined;
  readonly tookMs: number;
  readonly budgetMs: number;
  /** Whom the host holds responsible: the outcome's `by`, and every plugin whose call has an error. */
  readonly named: readonly string[];
  readonly decision: string | undefined;
}

/** One time that it was let in. */
export interface Attempt {
  readonly stay: Stay;
  readonly stalls: StallSummary;
  /** Of the control process, in the same time. */
  readonly machine: StallSummary;
  /** How long stalls were looked for. */
  readonly lookedMs: number;
}

export interface Trial {
  readonly id: string;
  readonly attack: string;
  readonly expect: readonly Expectation[];
  readonly calls: readonly Settled[];
  readonly restarts: Heard["restarts"];
  readonly innocents: readonly string[];
  /** What the host said about the attacker: `replaced: evil`. */
  readonly named: readonly string[];
  /** At the end of its time: it lives in the slow lane; its breaker is not closed, or it is not loaded any more. */
  readonly isMoved: boolean;
  readonly isStopped: boolean;
  readonly attempts: readonly Attempt[];
  /** Bounds of time are multiplied by it. */
  readonly clockRoom: number;
  readonly drives: DriveTally;
  readonly loot: readonly string[];
  readonly leaks: readonly string[];
  readonly benign: Omit<Tally, "latenciesMs"> & { readonly p50Ms: number; readonly p99Ms: number };
  readonly gatewayRssMb: number;
  readonly sandboxRssMb: number;
  readonly tookMs: number;
}

/** A call that comes back this soon may have left something behind: it is called again. */
const SOON_MS = 50;
/** Its second call is what it is about. */
const TWICE = /^cpu-07-|^hst-05-/;
const ATTEMPTS = 3;

/** `tally` may still change: calls that were sent during the attack may be answered later, or lost. */
export interface Tried {
  readonly tally: () => Tally;
  readonly trial: () => Trial;
}

export async function tryAttack(stage: Stage, slot: Slot, quiet: Quiet): Promise<Tried> {
  const startedMs = performance.now();
  const tallies: Tally[] = [];
  const drives = emptyDrives();
  const calls: Settled[] = [];
  const attempts: Attempt[] = [];
  stage.turnPage();
  const { heard } = stage;
  let state = { isMoved: false, isStopped: false, remarks: [] as string[] };
  const made = (): Trial => {
    const tally = merged(tallies);
    return {
      id: slot.id,
      attack: slot.attack.name,
      expect: slot.attack.expect,
      calls,
      restarts: heard.restarts,
      innocents: [...heard.innocents],
      named: [...heard.named, ...state.remarks],
      isMoved: state.isMoved,
      isStopped: state.isStopped,
      attempts,
      clockRoom: slot.clockRoom ?? 1,
      drives,
      loot: heard.loot,
      leaks: heard.leaks,
      benign: summary(tally),
      gatewayRssMb: rssMb("self"),
      sandboxRssMb: heard.sandboxRssMb,
      tookMs: performance.now() - startedMs,
    };
  };
  do {
    if (attempts.length > 0) for (const id of idsOf(slot)) await stage.host.release(id);
    const ageMs = quietAgeMs(slot, attempts.length);
    if (ageMs !== undefined) tallies.push(...(await quiet.listen(stage, drivesOf(slot), ageMs)));
    const tally = emptyTally();
    tallies.push(tally);
    stage.load.tally = tally;
    await stallsOf(stage);
    const lookedFromMs = performance.now();
    calls.push(...(await act(stage, slot)));
    const isDone = (): boolean => {
      state = stateOf(stage, slot);
      return isAsExpected(made());
    };
    const stay = await leaveInPlace({ stage, slot, quiet, drives, tallies, isDone });
    state = stateOf(stage, slot);
    for (const id of idsOf(slot)) stage.host.disable(id);
    await stage.pardon();
    await stage.load.probe();
    attempts.push({ stay, ...(await stallsOf(stage)), lookedMs: performance.now() - lookedFromMs });
  } while (attempts.length < ATTEMPTS && isOnlyLate(made()));
  const trial = made();
  if (broken(trial).length > 0) quiet.forget();
  return {
    tally: () => merged(tallies),
    trial: () => ({ ...trial, benign: summary(merged(tallies)) }),
  };
}

/** Where it is, and what is known about it, when its time is over. */
function stateOf({ host }: Stage, slot: Slot): { isMoved: boolean; isStopped: boolean; remarks: string[] } {
  const reports = idsOf(slot).map((id) => host.inspect(id));
  const isStopped = reports.every(({ status, circuit }) => status !== "ready" || circuit.state !== "closed");
  const isMoved = reports.every(({ isSlow, status, circuit }) => isSlow || status !== "ready" || circuit.state !== "closed");
  const remarks = reports.flatMap(({ id, isSlow, diagnostics }) => [
    ...(isSlow ? [`slow lane: ${id}`] : []),
    ...(diagnostics.length > 0 ? [`remark: ${id}`] : []),
  ]);
  return { isMoved, isStopped, remarks };
}

async function act(stage: Stage, slot: Slot): Promise<Settled[]> {
  const settled: Settled[] = [];
  for (const id of idsOf(slot)) {
    const loaded = await letIn(stage, id);
    if (loaded.status !== "ready") {
      settled.push(loaded);
      continue;
    }
    const first = await call(stage, id, slot);
    const isTwice = first.status !== "hung" && (first.tookMs < SOON_MS || TWICE.test(slot.attack.name));
    settled.push(first, ...(isTwice ? [await call(stage, id, slot)] : []));
  }
  return settled;
}

async function letIn({ host }: Stage, id: string): Promise<Settled> {
  const startedMs = performance.now();
  const report = await withPatience(host.reload(id));
  return {
    phase: "load",
    plugin: id,
    status: report === LATE ? "hung" : report.status,
    code: report === LATE ? undefined : report.error?.code,
    tookMs: performance.now() - startedMs,
    budgetMs: LIMITS.call.loadWallMs,
    named: report !== LATE && (report.error || report.status === "quarantined") ? [id] : [],
    decision: undefined,
  };
}

async function call(stage: Stage, id: string, { budget }: Slot): Promise<Settled> {
  const startedMs = performance.now();
  const outcome = await withPatience(stage.host.run("before_tool_call", { toolName: id, params: { target: id }, n: 1 }));
  const tookMs = performance.now() - startedMs;
  const facts = { phase: "call", plugin: id, tookMs, budgetMs: budget.timeoutMs } as const;
  if (outcome === LATE) return { ...facts, status: "hung", code: undefined, named: [], decision: undefined };
  stage.search("an outcome", outcome);
  const lines = outcome.calls.filter(({ plugin }) => plugin === id);
  // One that has handlers on other tools, too, is skipped there.
  const own = lines.find(({ status }) => status !== "skipped") ?? lines[0];
  return { ...facts, status: own?.status ?? "gone", code: own?.error?.code, named: blamed(outcome), decision: outcome.decision };
}

function blamed({ by, calls }: Outcome): string[] {
  return [...new Set([...(by === undefined ? [] : [by]), ...calls.filter(({ error }) => error).map(({ plugin }) => plugin)])];
}

const LATE = Symbol("late");

async function withPatience<T>(promise: Promise<T>): Promise<T | typeof LATE> {
  const patience = new AbortController();
  const late = sleep(LOST_MS, LATE, { signal: patience.signal }).catch(() => LATE);
  try {
    return await Promise.race([promise, late as Promise<typeof LATE>]);
  } finally {
    patience.abort();
  }
}

export function summary({ latenciesMs, ...counts }: Tally): Trial["benign"] {
  const [p50Ms, p99Ms] = latenciesMs.length === 0 ? [0, 0] : [quantile(latenciesMs, 0.5), quantile(latenciesMs, 0.99)];
  return { ...counts, p50Ms, p99Ms };
}
