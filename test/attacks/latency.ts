/**
 * What the innocent feel of it: their p99 while a lane beside theirs is under a CPU attack, against their p99 in peace, in turns
 * in the same run; and how soon they are answered again when the sandbox process was killed. No best of several: the
 * median of the ratios counts, and the worst of the recoveries.
 */
import { parseArgs, styleText } from "node:util";
import { machine, machineLine } from "../../src/cli/bench/machine.ts";
import { median, quantile } from "../../src/cli/bench/statistics.ts";
import { until } from "../support/until.ts";
import { INNOCENT } from "./benign.ts";
import { SHORT } from "./budgets.ts";
import { readCorpus } from "./corpus.ts";
import { Stage } from "./stage.ts";
import type { Slot } from "./stage.ts";

const { values: flags } = parseArgs({ options: { json: { type: "boolean", default: false }, rounds: { type: "string", default: "7" } } });

/** Each loops in a way of its own, and V8 can stop them all. */
const CPU_ATTACKS = ["cpu-01-sync-loop", "cpu-04-loop-in-then", "cpu-08-async-generator", "cpu-10-regex-backtrack"];
const MAX_RATIO = 3;
const MAX_RECOVERY_MS = 500;
/** 3 s at 200 a second; the p99 is then the sixth worst. */
const WINDOW_CALLS = 600;
/** An attack takes at least its CPU budget, so this many are enough for a window. */
const ATTACKS_PER_WINDOW = (WINDOW_CALLS / 200) * (1_000 / SHORT.cpuMs);
const KILLS = 7;
/** Calls between two kills: 2 s. */
const CALM_CALLS = 400;

interface Round {
  readonly quietMs: number;
  readonly attackedMs: number;
  readonly attacks: number;
  /** Wrong answers, with examples. */
  readonly wrong: number;
  readonly examples: readonly string[];
  readonly restarts: readonly string[];
}

const where = machineLine(machine());
const rounds = Number(flags.rounds);
const corpus = new Map(readCorpus().map((attack) => [attack.name, attack]));
const slots: Slot[] = Array.from({ length: rounds * ATTACKS_PER_WINDOW }, (_, at) => ({
  id: `attack-${at}`,
  attack: corpus.get(CPU_ATTACKS[at % CPU_ATTACKS.length]!)!,
  budget: SHORT,
  stayMs: 0,
  isForced: false,
}));

const measured = await besideAttacks();
const recoveriesMs = await afterKills();
report();

async function besideAttacks(): Promise<Round[]> {
  await using stage = await Stage.open({ isolation: "process", slots, apart: true });
  const innocentLanes = new Set(INNOCENT.map(({ id }) => stage.host.inspect(id!).lane));
  if (slots.some(({ id }) => innocentLanes.has(stage.host.inspect(id).lane))) throw new Error("attacks and innocent plugins share a lane");
  stage.load.start();
  await stage.load.window(WINDOW_CALLS / 2);
  const supply = [...slots];
  const all: Round[] = [];
  for (let round = 0; round < rounds; round++) all.push(await oneRound(stage, round, supply));
  await stage.load.stop();
  return all;
}

async function afterKills(): Promise<number[]> {
  await using stage = await Stage.open({ isolation: "process", slots: [] });
  stage.load.start();
  const all: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) all.push(await recovery(stage));
  await stage.load.stop();
  return all;
}

/** Both windows, the quiet one first or last in turns. */
async function oneRound(stage: Stage, round: number, supply: Slot[]): Promise<Round> {
  const isQuietFirst = round % 2 === 0;
  stage.turnPage();
  const first = isQuietFirst ? await stage.load.window(WINDOW_CALLS) : undefined;
  const before = supply.length;
  const attacked = stage.load.window(WINDOW_CALLS);
  await until(attacked, () => attackOnce(stage, supply));
  const tally = await attacked;
  const quiet = first ?? (await stage.load.window(WINDOW_CALLS));
  return {
    quietMs: quantile(quiet.latenciesMs, 0.99),
    attackedMs: quantile(tally.latenciesMs, 0.99),
    attacks: before - supply.length,
    wrong: quiet.wrong + tally.wrong,
    examples: [...quiet.examples, ...tally.examples],
    restarts: stage.heard.restarts.map(({ why, culprit }) => `restart, ${culprit}: ${why}`),
  };
}

async function attackOnce({ host }: Stage, supply: Slot[]): Promise<void> {
  const slot = supply.pop();
  if (!slot) throw new Error("there are too few attacks for a window: they end before they have used their budget");
  await host.reload(slot.id);
  const { calls } = await host.run("before_tool_call", { toolName: slot.id, params: {} });
  const status = calls.find(({ plugin }) => plugin === slot.id)?.status;
  if (status === undefined || status === "ok" || status === "failed")
    throw new Error(`${slot.attack.name} came to ${status}: that was no CPU attack`);
  host.disable(slot.id);
}

/** From the kill until a call that was sent to no living process is answered. */
async function recovery(stage: Stage): Promise<number> {
  await stage.load.window(CALM_CALLS);
  const { killedMs, deadMs } = await stage.kill();
  const { answeredMs } = await stage.load.answer(({ sentMs, isRight }) => sentMs >= deadMs && isRight);
  return answeredMs - killedMs;
}

function report(): void {
  const ratios = measured.map(({ quietMs, attackedMs }) => attackedMs / quietMs);
  const [ratio, worstMs] = [median(ratios), Math.max(...recoveriesMs)];
  const wrong = measured.reduce((sum, round) => sum + round.wrong, 0);
  const isRatioHeld = ratio <= MAX_RATIO && wrong === 0;
  const isRecoveryHeld = worstMs <= MAX_RECOVERY_MS;
  if (!isRatioHeld || !isRecoveryHeld) process.exitCode = 1;
  if (flags.json) {
    console.log(JSON.stringify({ machine: where, rounds: measured, ratio, wrong, recoveriesMs, worstMs }, undefined, 2));
    return;
  }
  console.log(
    [
      `benign p99 in peace        ${list(
        measured.map(({ quietMs }) => quietMs),
        1,
      )} ms`,
      `with a lane under attack   ${list(
        measured.map(({ attackedMs }) => attackedMs),
        1,
      )} ms  (${measured.map(({ attacks }) => attacks).join(" ")} attacks)`,
      `${mark(isRatioHeld)} ratio                    ${list(ratios, 2)}; median ${ratio.toFixed(2)}, at most ${MAX_RATIO}${wrong > 0 ? `; ${wrong} wrong answers` : ""}`,
      `${mark(isRecoveryHeld)} answered after a kill    ${list(recoveriesMs, 0)} ms; median ${median(recoveriesMs).toFixed(0)}, worst ${worstMs.toFixed(0)}, at most ${MAX_RECOVERY_MS}`,
      ...measured.flatMap(({ examples, restarts }, round) =>
        [...restarts, ...examples].map((text) => `  in round ${round + 1}: ${text.slice(0, 300)}`),
      ),
      where,
    ].join("\n"),
  );
}

function mark(isHeld: boolean): string {
  return styleText(isHeld ? "green" : "red", isHeld ? "✓" : "✗", { stream: process.stdout });
}

function list(values: readonly number[], digits: number): string {
  return values.map((value) => value.toFixed(digits)).join("  ");
}
