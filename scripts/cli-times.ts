/**
 * How long commands of the packed package take against an empty Node, in one run with interleaved rounds, in a fresh folder with one installed
 * plugin: `node -C source scripts/cli-times.ts [tarball]`. Fails if a command fails, or misses its bound. Believe it on
 * a quiet machine: with many processes per core the ratios of wall times differ by a factor of two from run to run.
 */
import { spawnSync } from "node:child_process";
import { estimate, median, shuffle } from "../src/cli/bench/statistics.ts";
import { installedPackage, PLUGIN_ID } from "./installed-package.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 15);
using installed = installedPackage(process.argv[2]);
const { home: cwd, bin } = installed;

/** What each may take at most, as a multiple of an empty Node. */
const COMMANDS = [
  { name: "node -e 0", args: ["-e", "0"], most: Infinity },
  { name: "creel --help", args: [bin, "--help"], most: 2 },
  { name: "creel list", args: [bin, "list"], most: 3 },
  { name: "creel inspect", args: [bin, "inspect", PLUGIN_ID], most: 5 },
  { name: "creel doctor", args: [bin, "doctor"], most: 15 },
] as const;

const times = new Map<string, number[]>(COMMANDS.map(({ name }) => [name, []]));
for (let round = 0; round <= ROUNDS; round++)
  for (const { name, args } of shuffle([...COMMANDS])) {
    const begun = performance.now();
    const { status, stderr } = spawnSync(process.execPath, args, { cwd, stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" });
    const took = performance.now() - begun;
    if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
    // The first round fills the file system's cache.
    if (round > 0) times.get(name)!.push(took);
  }

const node = times.get("node -e 0")!;
const cell = (text: string | number): string => String(text).padStart(8);
const missed = COMMANDS.filter(({ name, most }) => {
  const { value, low, high } = estimate(times.get(name)!.map((ms, round) => ms / node[round]!));
  const isMissed = value > most;
  const bound = most === Infinity ? "" : `at most ${most} x${isMissed ? ", MISSED" : ""}`;
  const ratio = `${value.toFixed(2)} x [${low.toFixed(2)} … ${high.toFixed(2)}]`;
  console.log(`${name.padEnd(14)}${cell(median(times.get(name)!).toFixed(0))} ms  ${ratio.padEnd(24)}${bound}`);
  return isMissed;
});
if (missed.length > 0) process.exitCode = 1;
