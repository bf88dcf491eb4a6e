/**
 * One attack, under load: it is let in, called, called again if it seems harmless, put out; then every innocent plugin is probed. No
 * waiting anywhere but for what is to happen. What is written down here is judged in verdict.ts.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Outcome } from "creel";
import { LIMITS } from "../../src/protocol/limits.ts";
import { quantile } from "../../src/cli/bench/statistics.ts";
import { emptyTally, LOST_MS } from "./load.ts";
import type { Tally } from "./load.ts";
import { rssMb } from "./process-stats.ts";
import type { Heard, Slot, Stage } from "./stage.ts";

export interface Settled {
  /** Loading is a call, too: code at the top of a file runs there, and has a budget. */
  readonly phase: "load" | "call";
  /** Of the call, or of the plugin; `hung` when nothing came. */
  readonly status: string;
  readonly code: string | undefined;
  readonly tookMs: number;
  readonly budgetMs: number;
  /** Whom the host holds responsible: the outcome's `by`, and every plugin whose call has an error. */
  readonly named: readonly string[];
  readonly decision: string | undefined;
}

export interface Trial {
  readonly id: string;
  readonly attack: string;
  readonly calls: readonly Settled[];
  readonly restarts: Heard["restarts"];
  readonly innocents: readonly string[];
  readonly loot: readonly string[];
  readonly leaks: readonly string[];
  readonly benign: Omit<Tally, "latenciesMs"> & { readonly p50Ms: number; readonly p99Ms: number };
  /** The longest time the gateway's event loop did not turn. */
  readonly gapMs: number;
  readonly gatewayRssMb: number;
  readonly sandboxRssMb: number;
  readonly tookMs: number;
}

/** A call that comes back this soon may have left something behind: it is called again. */
const SOON_MS = 50;
/** Its second call is what it is about. */
const TWICE = /^cpu-07-|^hst-05-/;
const GAP_RESOLUTION_MS = 5;

/** `tally` may still change: calls that were sent during the attack may be answered later, or lost. */
export interface Tried {
  readonly tally: Tally;
  readonly trial: () => Trial;
}

export async function tryAttack(stage: Stage, slot: Slot): Promise<Tried> {
  const startedMs = performance.now();
  const tally = emptyTally();
  stage.load.tally = tally;
  stage.turnPage();
  const gaps = monitorEventLoopDelay({ resolution: GAP_RESOLUTION_MS });
  gaps.enable();
  const calls = await act(stage, slot);
  stage.host.disable(slot.id);
  await stage.load.probe();
  gaps.disable();
  const { heard } = stage;
  const gapMs = Math.max(0, gaps.max / 1e6 - GAP_RESOLUTION_MS);
  const [tookMs, gatewayRssMb] = [performance.now() - startedMs, rssMb("self")];
  return {
    tally,
    trial: () => ({
      id: slot.id,
      attack: slot.attack.name,
      calls,
      restarts: heard.restarts,
      innocents: [...heard.innocents],
      loot: heard.loot,
      leaks: heard.leaks,
      benign: summary(tally),
      gapMs,
      gatewayRssMb,
      sandboxRssMb: heard.sandboxRssMb,
      tookMs,
    }),
  };
}

async function act(stage: Stage, slot: Slot): Promise<Settled[]> {
  const loaded = await letIn(stage, slot);
  if (loaded.status !== "ready") return [loaded];
  const first = await call(stage, slot);
  const isTwice = first.status !== "hung" && (first.tookMs < SOON_MS || TWICE.test(slot.attack.name));
  return isTwice ? [first, await call(stage, slot)] : [first];
}

async function letIn({ host }: Stage, { id }: Slot): Promise<Settled> {
  const startedMs = performance.now();
  const report = await withPatience(host.reload(id));
  return {
    phase: "load",
    status: report === LATE ? "hung" : report.status,
    code: report === LATE ? undefined : report.error?.code,
    tookMs: performance.now() - startedMs,
    budgetMs: LIMITS.loadWallMs,
    named: report !== LATE && (report.error || report.status === "quarantined") ? [id] : [],
    decision: undefined,
  };
}

async function call(stage: Stage, { id, budget }: Slot): Promise<Settled> {
  const startedMs = performance.now();
  const outcome = await withPatience(stage.host.run("before_tool_call", { toolName: id, params: { target: id }, n: 1 }));
  const tookMs = performance.now() - startedMs;
  const facts = { phase: "call", tookMs, budgetMs: budget.timeoutMs } as const;
  if (outcome === LATE) return { ...facts, status: "hung", code: undefined, named: [], decision: undefined };
  stage.search("an outcome", outcome);
  const own = outcome.calls.find(({ plugin }) => plugin === id);
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
