/**
 * Does a cell that uses none of the modules start as fast and as small as it did before they were there? On a quiet machine:
 * `node -C source scripts/cell-start.ts [commit]` (0a11354). Checks that commit out into a folder of its own, installs it,
 * and measures cells of both versions in processes that take turns. Fails beyond the bounds. `ROUNDS=…`: 20.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { estimate, median, shuffle } from "../src/cli/bench/statistics.ts";

const ROUNDS = Number(process.env["ROUNDS"] ?? 20);
const BEFORE = process.argv[2] ?? "0a11354";
/** What two builds of the same commit may differ by. */
const MOST = { startMs: 1.05, cellKb: 1.05 } as const;
type Sample = Readonly<Record<keyof typeof MOST, number>>;

const ROOT = join(import.meta.dirname, "..");
const before = mkdtempSync(join(tmpdir(), "creel-before-"));

/** The names of the same parts in both versions. */
const NOW = {
  budget: "host/plugins/budget",
  guest: "bundler/guest-code",
  cell: "sandbox/lane/cell/cell",
  status: ["transport/lane-status", "LaneStatus", "LANE_STATUS_BYTES"],
  wall: "LIMITS.call.loadWallMs",
} as const;
const THEN = {
  budget: "host/budget",
  guest: "host/guest-code",
  cell: "sandbox/cell",
  status: ["protocol/gauge", "Gauge", "GAUGE_BYTES"],
  wall: "LIMITS.loadWallMs",
} as const;

function probe(root: string, { budget, guest, cell, status, wall }: typeof NOW | typeof THEN): string {
  const source = (path: string): string => JSON.stringify(join(root, "src", `${path}.ts`));
  return `
import { limitsOf, pluginBudget } from ${source(budget)};
import { guestCode } from ${source(guest)};
import { Cell, GuestCode } from ${source(cell)};
import { ${status[1]} as Status, ${status[2]} as BYTES } from ${source(status[0])};
import { LIMITS } from ${source("protocol/limits")};
const [starts, warm, held] = [300, 100, 60];
const guest = new GuestCode(await guestCode());
const limits = limitsOf(pluginBudget(undefined, undefined));
const status = new Status(new SharedArrayBuffer(BYTES), 0);
const world = { env: {}, platform: "linux", arch: "x64", clock: "coarse", wasm: false };
const facts = JSON.stringify({ api: { id: "bench", name: "bench", pluginConfig: {} }, world });
const code = "module.exports = (api) => { api.on('message_sending', () => {}); };";
const make = () => {
  const cell = new Cell(guest, { cell: 1, plugin: "bench", limits, code, facts, hasFineClock: false }, status);
  const end = cell.load(${wall});
  if (end.end !== "result") throw new Error(JSON.stringify(end));
  return cell;
};
const times = [];
for (let at = 0; at < warm + starts; at++) {
  const begun = performance.now();
  const cell = make();
  if (at >= warm) times.push(performance.now() - begun);
  cell.dispose();
}
const rss = process.memoryUsage.rss();
const cells = Array.from({ length: held }, make);
const cellKb = (process.memoryUsage.rss() - rss) / held / 1024;
for (const cell of cells) cell.dispose();
console.log(JSON.stringify({ startMs: times.sort((a, b) => a - b)[starts / 2], cellKb }));`;
}

function sample(root: string, file: string): Sample {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["-C", "source", file], { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`${file} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as Sample;
}

try {
  execFileSync("git", ["worktree", "add", "--detach", "--force", before, BEFORE], { cwd: ROOT, stdio: "ignore" });
  execFileSync(process.execPath, ["scripts/setup.mjs"], { cwd: before, stdio: "inherit" });
  const versions = [
    { root: ROOT, file: join(ROOT, "node_modules/.cache/cell-start.mjs"), names: NOW },
    { root: before, file: join(before, "node_modules/.cache/cell-start.mjs"), names: THEN },
  ];
  for (const { root, file, names } of versions) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, probe(root, names));
  }
  const samples: Sample[][] = [[], []];
  // The first round builds the guest and fills the file system's cache.
  for (let round = 0; round <= ROUNDS; round++)
    for (const at of shuffle([0, 1])) {
      const { root, file } = versions[at]!;
      const one = sample(root, file);
      if (round > 0) samples[at]!.push(one);
    }
  const [now, then] = samples as [Sample[], Sample[]];
  for (const [name, most] of Object.entries(MOST) as [keyof Sample, number][]) {
    const { value, low, high } = estimate(now.map((one, round) => one[name] / then[round]![name]));
    const isMissed = value > most;
    const both = `now ${median(now.map((one) => one[name])).toFixed(2)}, ${BEFORE} ${median(then.map((one) => one[name])).toFixed(2)}`;
    console.log(
      `${name.padEnd(10)}${value.toFixed(3)} x [${low.toFixed(3)} … ${high.toFixed(3)}]  at most ${most} x${isMissed ? ", MISSED" : ""}  (${both})`,
    );
    if (isMissed) process.exitCode = 1;
  }
} finally {
  spawnSync("git", ["worktree", "remove", "--force", before], { cwd: ROOT });
  rmSync(before, { recursive: true, force: true });
}
