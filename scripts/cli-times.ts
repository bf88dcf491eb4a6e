/**
 * What commands of the packed package cost against an empty Node, in a fresh folder with one installed plugin:
 * `node -C source scripts/cli-times.ts [tarball]`. Fails if one misses its bound, by CPU time, which other processes on the machine hardly change, or
 * by the clock, for which the machine has to be quiet.
 */
import { commandCosts, wallMs } from "./command-costs.ts";
import { countsAll } from "./cpu-time.ts";
import { installedPackage, PLUGIN_ID } from "./installed-package.ts";

using installed = installedPackage(process.argv[2]);
if (!countsAll) console.log("without a PID namespace: processes that are killed are not counted");
const rounds = Number(process.env.ROUNDS ?? 15);
for (const [kind, options] of [
  ["CPU", { rounds }],
  ["clock", { rounds, clock: wallMs }],
] as const)
  for (const { name, ms, ratio, most } of commandCosts(installed.bin, PLUGIN_ID, installed.home, options)) {
    const isMissed = ratio > most;
    const bound = `at most ${most} x${isMissed ? ", MISSED" : ""}`;
    console.log(`${kind.padEnd(6)}creel ${name.padEnd(10)}${ms.toFixed(0).padStart(5)} ms  ${ratio.toFixed(2)} x, ${bound}`);
    if (isMissed) process.exitCode = 1;
  }
