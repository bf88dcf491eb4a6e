/**
 * Loops and innocent turns beside eight busy processes. Four lanes each have a plugin that loops and one that computes for up to its budget, called
 * at the same time; a fifth lane has an innocent plugin alone. Every lane thread then gets about a seventh of a core.
 */
import { spawn } from "node:child_process";
import { openHost } from "creel";
import type { Host, Outcome, PluginSpec } from "creel";
import { ratio } from "../../case.ts";
import type { CaseResult, Ratio } from "../../case.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import type { Effort } from "../../../src/cli/bench/measure.ts";
import { silentLogger } from "../../../src/host/report/silent-logger.ts";

export const RUNAWAY = `export default (api) => { api.on("before_tool_call", (event) => { if (event.params.command === "loop") for (;;); }) }`;

const NEIGHBOURS = 8;
const LOOPS = 200;
const LOOPING_LANES = 4;
const BUDGET_MS = LIMITS.call.cpuMs;
/** The case must end within its three minutes. What was not tried by then is missing from the count. */
const MOST_MS = 120_000;
/** Nobody is ended by the wall clock: with eight neighbours a turn takes several times its processor time. */
const WALL_MS = 30_000;
/** From a twentieth of the budget to nearly all of it. The rounds of the loop are calibrated alone, and a busy neighbour makes them up to a tenth slower. */
const SHARES = [0.05, 0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9] as const;

/** A clock would need a grant, so the plugin counts rounds of a loop that were timed when nobody else ran. */
const INNOCENT = `export default (api) => { api.on("message_sending", (event) => {
  const spin = (rounds) => { let x = 1; for (let i = 0; i < rounds; i++) x = (x * 16807) % 2147483647; return x; };
  return { content: String(spin(Number(event.content))) };
}) }`;

interface Found {
  /** Wall and processor time of each stopped loop. */
  readonly loops: { readonly wallMs: number; readonly cpuMs: number }[];
  wedged: number;
  turns: number;
  /** Ended although Creel's own count of the turn is within the budget. */
  ended: number;
  /** Ended, and past the budget by that count: the neighbours made the calibrated loop slower than a tenth. */
  over: number;
  replaced: number;
}

export async function crowd(effort: Effort): Promise<Pick<CaseResult, "ratios" | "series">> {
  const loops = Math.ceil(LOOPS * Math.min(1, effort.rounds / 40));
  const found = await measured(loops, effort);
  const beside = `beside ${NEIGHBOURS} busy processes`;
  const cpu = found.loops.map(({ cpuMs }) => cpuMs - BUDGET_MS);
  // The wall time after the moment when the budget was used up, at the speed that this loop had.
  const wall = found.loops.map(({ wallMs, cpuMs }) => Math.max(0, wallMs * (1 - BUDGET_MS / cpuMs)));
  const count = (what: string, value: number, target?: Ratio["target"], unit: Ratio["unit"] = "turns"): Ratio =>
    ratio(`${what} ${beside}`, [value], target, unit);
  return {
    ratios: [
      count("loops that were stopped", found.loops.length, { atLeast: loops }, "loops"),
      ratio(`creel, process, processor time of a loop beyond its budget, ${beside}`, cpu, { atMost: 100 }, "ms"),
      ratio(`creel, process, wall time of a loop after its budget was used up, ${beside}`, wall, { atMost: 100 }, "ms"),
      ratio(
        `creel, process, wall time of a loop, ${beside}`,
        found.loops.map(({ wallMs }) => wallMs),
        undefined,
        "ms",
      ),
      count(`of ${found.turns} innocent turns of up to ${SHARES.at(-1)! * 100} % of their budget, those that were ended`, found.ended, {
        atMost: 0,
      }),
      count("innocent turns that the crowd made longer than their budget, and that were ended", found.over),
      count(`of ${found.loops.length} loops, those that were called wedged`, found.wedged, { atMost: 0 }, "loops"),
      count("sandbox processes that were replaced", found.replaced, { atMost: 0 }, "processes"),
    ],
    series: [
      { name: `creel, process, processor time beyond the budget, ${beside}`, unit: "ms", samples: cpu, rounds: cpu },
      { name: `creel, process, wall time after the budget was used up, ${beside}`, unit: "ms", samples: wall, rounds: wall },
    ],
  };
}

async function measured(loops: number, effort: Effort): Promise<Found> {
  const lanes = Array.from({ length: LOOPING_LANES }, (_, lane) => lane);
  const looping = lanes.map((lane) => `runaway-${lane}`);
  const computing = [...lanes, LOOPING_LANES].map((lane) => `innocent-${lane}`);
  const plugins: PluginSpec[] = [...looping.map((id) => ({ id, source: RUNAWAY })), ...computing.map((id) => ({ id, source: INNOCENT }))];
  const entries = Object.fromEntries(
    [...looping, ...computing].map((id) => [id, { lane: Number(id.at(-1)), hooks: { timeoutMs: WALL_MS } }]),
  );
  await using host = await openHost({
    isolation: "process",
    lanes: LOOPING_LANES + 1,
    plugins,
    config: { plugins: { entries } },
    logger: silentLogger,
  });
  const found: Found = { loops: [], wedged: 0, turns: 0, ended: 0, over: 0, replaced: 0 };
  const rounds = await roundsOfBudget(host, computing.at(-1)!);
  const neighbours = Array.from({ length: NEIGHBOURS }, () => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }));
  const innocent = async (plugin: string): Promise<void> => {
    const share = SHARES[found.turns++ % SHARES.length]!;
    const call = await compute(host, plugin, rounds * share);
    if (call.status === "ok") return;
    if (call.cpuMs <= BUDGET_MS) found.ended += 1;
    else found.over += 1;
  };
  const loop = async (plugin: string): Promise<void> => {
    const { calls } = await host.run(
      "before_tool_call",
      { toolName: "exec", params: { command: "loop" } },
      { toolName: "exec" },
      { plugin },
    );
    const { status, wallMs, cpuMs, error } = calls[0]!;
    if (error?.code === "ERR_CALL_WEDGED") found.wedged += 1;
    if (status === "cpu" || status === "timeout") found.loops.push({ wallMs, cpuMs });
  };
  const untilMs = performance.now() + MOST_MS;
  let pids = host.pids();
  try {
    for (let tried = 0; tried < loops && performance.now() < untilMs; tried += LOOPING_LANES) {
      effort.tell?.({ phase: "round", at: tried, of: loops });
      await Promise.all([...looping.map(loop), ...computing.map(innocent)]);
      const now = host.pids();
      found.replaced += pids.filter((pid) => !now.includes(pid)).length;
      pids = now;
      // Back to their lanes and with a closed breaker: every loop is a plugin's first one.
      const moved = computing.filter((id) => host.inspect(id).isSlow);
      await Promise.all([...looping, ...moved].map((id) => host.release(id).then(() => host.reload(id))));
    }
  } finally {
    for (const neighbour of neighbours) neighbour.kill("SIGKILL");
  }
  return found;
}

async function compute(host: Host, plugin: string, rounds: number): Promise<Outcome["calls"][number]> {
  const event = { to: "x", content: String(Math.floor(rounds)) };
  const { calls } = await host.run("message_sending", event, { channelId: "chat" }, { plugin });
  return calls[0]!;
}

/** How many rounds of its loop take the whole budget, when nobody else runs. */
async function roundsOfBudget(host: Host, plugin: string): Promise<number> {
  const rounds = 2_000_000;
  await compute(host, plugin, rounds);
  const { cpuMs } = await compute(host, plugin, rounds);
  return (rounds * BUDGET_MS) / cpuMs;
}
