/**
 * Random attacks, killed processes and benign load for a long time, and whether memory, handles, threads and processes stay flat:
 * `node -C source scripts/soak.ts --minutes 30`. Samples are taken between two attacks, when every process
 * that was ended has a successor, and after a collection; the first part is warm-up.
 */
import { Session } from "node:inspector/promises";
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, styleText } from "node:util";
import { SHORT } from "../test/attacks/budgets.ts";
import { readCorpus } from "../test/attacks/corpus.ts";
import { commandLine, cpuMs, descriptors, ofFamily, openFiles, rssMb, threads } from "../test/attacks/process-stats.ts";
import { SENTINEL, SENTINEL_ENV, Stage } from "../test/attacks/stage.ts";
import type { Slot } from "../test/attacks/stage.ts";
import { sparkline, trend } from "../test/attacks/trend.ts";
import type { Sample } from "../test/attacks/trend.ts";
import { tryAttack } from "../test/attacks/trial.ts";
import { Quiet } from "../test/attacks/stay.ts";
import { emptyTally } from "../test/attacks/load.ts";
import type { Tally } from "../test/attacks/load.ts";
import { broken } from "../test/attacks/verdict.ts";
import { childrenOf, isAlive } from "../test/support/process.ts";

const { values: flags } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    seed: { type: "string", default: String(Date.now() % 100_000) },
    // Multiplies the bounds of time, as that of test/attacks/run.ts does.
    room: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
  },
});

/** Of so many acts one is a SIGKILL out of the blue instead of an attack. */
const KILL_EVERY = 20;
/** How long an attack that may still act is left in place; a short soak has no time for that. */
const STAY_MS = 3_000;
const SAMPLES = 120;
const WARM_UP = 0.25;
const WIDTH = 40;
const SETTLED_MS = 2_000;
/** A process that was ended has a successor by then: half a second here, and a busy machine is slower. */
const SUCCESSOR_MS = 10_000;
const LOOK_MS = 20;
/** At 200 calls a second and a few acts a second, the oldest of these have long been answered. */
const KEPT_ACTS = 200;
/** Below this a run is too short to tell filling caches and pools from a leak: memory is then only held to half as much again. */
const LONG_MINUTES = 5;

const minutes = Number(flags.minutes);
const isShort = minutes < LONG_MINUTES;
const memoryShare = isShort ? 0.5 : 0.1;
/** A second one comes when the machine is slow. */
const BUNDLERS = 2;
const BUNDLER_PIPES = 2;
/** isolated-vm starts the threads of its pool when they are first needed, and has no more of them. A thread per attack would be thirty in the shortest run. */
const POOL_THREADS = availableParallelism() + 1;

interface Series {
  readonly name: string;
  readonly unit: string;
  readonly read: (stage: Stage) => number;
  /** What it may grow by over the whole time, given its median. */
  readonly tolerance: (median: number) => number;
  /** It is filled in steps, up to a limit: as a slope a step looks up to twice as high as it is. */
  readonly isStepped?: boolean;
}

const memory = (median: number): number => median * memoryShare;
/** Of the sandbox that has most. Their sum tells who is young: one that was just started has not needed all of its threads yet, and under attack there is always one. */
const largest = (pids: readonly number[], read: (pid: number) => number): number => Math.max(0, ...pids.map((pid) => ofFamily(pid, read)));
const total = (pids: readonly number[], read: (pid: number) => number): number => pids.reduce((sum, pid) => sum + ofFamily(pid, read), 0);

const SERIES: readonly Series[] = [
  { name: "gateway memory", unit: "MB", read: () => rssMb("self"), tolerance: memory },
  { name: "gateway heap", unit: "MB", read: () => process.memoryUsage().heapUsed / 2 ** 20, tolerance: memory },
  {
    name: "gateway descriptors",
    unit: "",
    read: ({ stateDir }) => descriptors("self") - openFiles("self", stateDir).length - BUNDLER_PIPES * bundlers(),
    tolerance: () => 1,
  },
  { name: "gateway handles", unit: "", read: () => process.getActiveResourcesInfo().length, tolerance: () => 1 },
  { name: "gateway threads", unit: "", read: () => threads("self"), tolerance: () => 1 },
  {
    name: "child processes",
    unit: "",
    read: () => childrenOf(process.pid).length - Math.min(BUNDLERS, bundlers()),
    tolerance: () => 0.5,
  },
  { name: "sandbox memory", unit: "MB", read: ({ host }) => total(host.pids(), rssMb), tolerance: (median) => median * 0.5 },
  {
    name: "sandbox threads",
    unit: "",
    read: ({ host }) => largest(host.pids(), threads),
    tolerance: () => (isShort ? POOL_THREADS : 1),
    isStepped: isShort,
  },
  { name: "sandbox descriptors", unit: "", read: ({ host }) => total(host.pids(), descriptors), tolerance: () => 2 },
];

/** An attack or a kill, and what it cost. Answers to calls of the last ones may still come. */
interface Act {
  readonly tally: () => Tally;
  readonly faults: () => readonly string[];
}

/** What the watchdog says of a process that grew too large over many attacks. It names and strikes no plugin, as it should. */
const UNEXPLAINED = "no single plugin explains it";
const counts = { unexplained: 0, attacks: 0, kills: 0, restarts: 0, sent: 0, right: 0, wrong: 0, blocked: 0, lost: 0, retried: 0 };
const faults: string[] = [];
const samples = new Map(SERIES.map(({ name }) => [name, [] as Sample[]]));
const random = generator(Number(flags.seed));
const quiet = new Quiet();
const inspector = new Session();
inspector.connect();

process.env[SENTINEL_ENV] = SENTINEL;
await main();

async function main(): Promise<void> {
  const slots: Slot[] = readCorpus().map((one) => ({
    id: one.name,
    attack: one,
    budget: SHORT,
    stayMs: isShort ? 0 : STAY_MS,
    isForced: false,
    clockRoom: Number(flags.room),
  }));
  const stage = await Stage.open({ isolation: "process", slots });
  stage.host.on("restart", () => (counts.restarts += 1));
  await attack(stage, { ...slots.find(({ id }) => id.startsWith("cpu-"))!, stayMs: 0 });
  const family = await everybodyIsThere();
  const startedMs = performance.now();
  const endMs = startedMs + minutes * 60_000;
  const everyMs = (endMs - startedMs) / SAMPLES;
  let sampleMs = startedMs;
  let sayMs = startedMs;
  const acts: Act[] = [plain(stage.load.tally)];
  stage.load.start();
  while (performance.now() < endMs) {
    acts.push(random() < 1 / KILL_EVERY ? await kill(stage) : await attack(stage, slots[Math.floor(random() * slots.length)]!));
    if (acts.length > KEPT_ACTS) acts.splice(0, KEPT_ACTS / 2).forEach(count);
    if (performance.now() >= sampleMs) {
      await sample(stage, family, performance.now() - startedMs);
      sampleMs += everyMs;
    }
    if (performance.now() >= sayMs) {
      sayMs += Math.max(5_000, everyMs);
      say(performance.now() - startedMs);
    }
  }
  await stage.load.stop();
  acts.forEach(count);
  await stage[Symbol.asyncDispose]();
  report();
}

/** A plugin that loops brings in the slow lane's process, and that one's spare: a process that starts in the middle of a short run looks like a leak. */
async function everybodyIsThere(): Promise<number> {
  let seen = -1;
  for (let alive = sandboxes(); alive !== seen; alive = sandboxes()) {
    seen = alive;
    await sleep(SETTLED_MS);
  }
  return seen;
}

/** A gateway that has just lost a process has that one's descriptors and handles less: such a sample tells when somebody was killed, not what is left behind. */
async function everybodyIsBack(family: number): Promise<void> {
  const endMs = performance.now() + SUCCESSOR_MS;
  while (sandboxes() < family) {
    if (performance.now() > endMs)
      return note(`${sandboxes()} sandboxes instead of ${family}: one that was ended has no successor after ${SUCCESSOR_MS} ms`);
    await sleep(LOOK_MS);
  }
}

/** Those in use and the spare. */
function sandboxes(): number {
  return childrenOf(process.pid).filter((pid) => isAlive(pid) && !isBundler(pid)).length;
}

/** They come and go as plugins are read: whether one is there says nothing. */
function bundlers(): number {
  return childrenOf(process.pid).filter(isBundler).length;
}

function isBundler(pid: number): boolean {
  return commandLine(pid).includes("bundler");
}

async function attack(stage: Stage, slot: Slot): Promise<Act> {
  // Out of quarantine: here the same plugin comes again and again.
  await stage.host.release(slot.id);
  const tried = await tryAttack(stage, slot, quiet);
  counts.attacks += 1;
  return { tally: tried.tally, faults: () => broken(tried.trial()).map((fault) => `${slot.id}: ${fault}`) };
}

/** A call is made twice at most: one that was made again after the last attack has its answer before the next process is killed. */
async function kill(stage: Stage): Promise<Act> {
  await stage.load.settled();
  const tally = emptyTally();
  stage.load.tally = tally;
  // The restart is ours, not the last attack's.
  stage.turnPage();
  const { noticed } = await stage.kill();
  counts.kills += 1;
  await noticed;
  await stage.load.probe();
  return plain(tally);
}

function plain(tally: Tally): Act {
  return {
    tally: () => tally,
    faults: () => (tally.wrong + tally.lost > 0 ? [`a kill: ${tally.wrong} wrong, ${tally.lost} lost: ${tally.examples[0]}`] : []),
  };
}

function count({ tally, faults: found }: Act): void {
  const { sent, right, wrong, blocked, lost, retried } = tally();
  counts.sent += sent;
  counts.right += right;
  counts.wrong += wrong;
  counts.blocked += blocked;
  counts.lost += lost;
  counts.retried += retried;
  for (const fault of found()) {
    if (fault.includes(UNEXPLAINED)) counts.unexplained += 1;
    else note(fault);
  }
}

function note(text: string): void {
  faults.push(text);
  process.stderr.write(`✗ ${text.slice(0, 400)}\n`);
}

async function sample(stage: Stage, family: number, atMs: number): Promise<void> {
  // Garbage is not a leak. By way of the inspector, since V8's flags are not to be changed in a running process.
  await inspector.post("HeapProfiler.collectGarbage");
  await everybodyIsBack(family);
  for (const { name, read } of SERIES) samples.get(name)!.push({ atMs, value: read(stage) });
  const twice = moreThanOnce(openFiles("self", stage.stateDir).filter((file) => file.includes(".sqlite")));
  if (twice !== undefined) note(`${twice} is open twice`);
}

/**
 * A plugin's database is opened on its first use and stays open, so the number of them rises by three files a plugin until each
 * plugin had its turn. A leak is a file that is open twice.
 */
function moreThanOnce(files: readonly string[]): string | undefined {
  return files.find((file, at) => files.indexOf(file) !== at);
}

function now(name: string): string {
  return String(Math.round(samples.get(name)!.at(-1)?.value ?? 0));
}

function say(atMs: number): void {
  process.stderr.write(
    `${(atMs / 60_000).toFixed(1)} min: ${counts.attacks} attacks, ${counts.kills} kills, ${counts.restarts} restarts, ${faults.length} faults; ` +
      `gateway ${now("gateway memory")} MB, ${now("gateway descriptors")} descriptors, ${now("gateway threads")} threads; sandbox ${now("sandbox memory")} MB\n`,
  );
}

function report(): void {
  const series = SERIES.map(({ name, unit, tolerance, isStepped }) => {
    const all = samples.get(name)!;
    const warm = all.slice(Math.floor(all.length * WARM_UP));
    const found = trend(warm);
    const growth = isStepped ? found.rise : found.growth;
    return {
      name,
      unit,
      ...found,
      growth,
      tolerance: tolerance(found.median),
      isFlat: growth <= tolerance(found.median),
      line: sparkline(all, WIDTH),
    };
  });
  const isWell = faults.length === 0 && series.every(({ isFlat }) => isFlat);
  if (!isWell) process.exitCode = 1;
  if (flags.json) {
    console.log(JSON.stringify({ minutes, seed: flags.seed, counts, series, faults }, undefined, 2));
    return;
  }
  console.log(`\n${minutes} minutes, seed ${flags.seed}; the first quarter is warm-up, growth is by the median slope of the rest`);
  for (const { name, unit, first, last, median, growth, tolerance, isFlat, line } of series)
    console.log(
      `${paint(isFlat, isFlat ? "✓ flat " : "✗ rises")} ${name.padEnd(20)} ${line.padEnd(WIDTH)} ` +
        `${first.toFixed(0)} … ${last.toFixed(0)} ${unit}, median ${median.toFixed(0)}, growth ${growth.toFixed(1)}, at most ${tolerance.toFixed(1)}`,
    );
  console.log(
    `${counts.attacks} attacks, ${counts.kills} kills, ${counts.restarts} restarts (${counts.unexplained} for memory that no single plugin explains); ${counts.sent} benign calls: ${counts.right} right, ` +
      `${counts.wrong} wrong (${counts.blocked} blocked), ${counts.lost} lost; ${counts.retried} handlers called again; ` +
      `${(cpuMs("self") / 1_000).toFixed(0)} s of processor time in the gateway`,
  );
  for (const found of faults.slice(0, 20)) console.log(paint(false, `✗ ${found.slice(0, 300)}`));
  console.log(paint(isWell, isWell ? "flat, and every rule held" : `${faults.length} faults`));
}

function paint(isHeld: boolean, text: string): string {
  return styleText(isHeld ? "green" : "red", text, { stream: process.stdout });
}

/** A small generator of random numbers (mulberry32): the same seed, the same attacks in the same order. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
