/**
 * What the gate holds Creel to: ratios to floors, never times. Many calls at once keep all threads busy, so their ratios are those of the work: they hardly move from run to run, their bounds are about two times what a
 * quiet machine gives, and a doubling is found. One call after the other is mostly threads waking each other: on a virtual machine the same code gave 0.7, 1.5 and 3.7 within minutes, each with a narrow interval, so a gate can
 * say nothing about it. The wider bounds are for a load of 4 to 15 on two cores. Whoever makes Creel faster lowers them.
 */
import { openHost } from "creel";
import { creel } from "../creel.ts";
import { emptyFloor } from "../floors/empty.ts";
import { processFloor } from "../floors/process.ts";
import { threadFloor } from "../floors/thread.ts";
import { asPlugins, EXCLAIM, PASSING_GATE, POLICY_GATE } from "../handlers.ts";
import { contestant } from "../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../src/cli/bench/contestant.ts";
import { latency, over, throughput } from "../../src/cli/bench/measure.ts";
import type { Effort } from "../../src/cli/bench/measure.ts";
import type { Bounds } from "./decide.ts";

export interface Check {
  readonly name: string;
  readonly bounds: Bounds;
  /** Creel, then its floor. */
  readonly open: readonly [() => Promise<Contestant>, () => Contestant | Promise<Contestant>];
  /** Per round: times as slow as the floor. */
  readonly measure: (contestants: readonly [Contestant, Contestant], effort: Effort) => Promise<number[]>;
}

/** The quicker calls of a block: those that nobody else's work came between. */
const PICK = 0.25;

async function thousands(contestants: readonly [Contestant, Contestant], effort: Effort): Promise<number[]> {
  const [subject, floor] = await latency(contestants, effort, { samples: 8, callsPerSample: 1_000, pick: PICK });
  return over(subject, floor);
}

async function manyAtOnce(contestants: readonly [Contestant, Contestant], effort: Effort): Promise<number[]> {
  const [subject, floor] = await throughput(contestants, effort, 64);
  return over(floor, subject);
}

async function unheard(): Promise<Contestant> {
  const host = await openHost({ isolation: "thread", lanes: 1, plugins: asPlugins(EXCLAIM, 1) });
  const event = { toolName: "exec", params: { command: "ls" } };
  return contestant(
    "creel, nobody listens",
    () => host.run("before_tool_call", event),
    () => host.close(),
  );
}

export const CHECKS: readonly Check[] = [
  {
    name: "nobody listens",
    bounds: { calm: 3, crowded: 3.2 },
    open: [unheard, emptyFloor],
    measure: thousands,
  },
  {
    name: "64 in flight, thread",
    bounds: { calm: 1.5, crowded: 2.2 },
    open: [() => creel(POLICY_GATE, { isolation: "thread" }), () => threadFloor(POLICY_GATE, { batched: false })],
    measure: manyAtOnce,
  },
  {
    name: "64 in flight, process",
    bounds: { calm: 2.1, crowded: 3 },
    open: [() => creel(POLICY_GATE, { isolation: "process" }), () => processFloor(POLICY_GATE)],
    measure: manyAtOnce,
  },
  {
    name: "64 chains of ten in flight",
    bounds: { calm: 2.3, crowded: 3 },
    open: [() => creel(PASSING_GATE, { isolation: "thread", handlers: 10 }), () => threadFloor(PASSING_GATE, { handlers: 10 })],
    measure: manyAtOnce,
  },
];
