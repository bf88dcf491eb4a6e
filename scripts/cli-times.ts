/**
 * What commands of the packed package cost against an empty Node, in a fresh folder with one installed plugin:
 * `node -C source scripts/cli-times.ts [tarball]`. Fails if one misses its bound. CPU time, which other processes on the machine hardly change.
 */
import { commandCosts } from "./command-costs.ts";
import { countsAll } from "./cpu-time.ts";
import { installedPackage, PLUGIN_ID } from "./installed-package.ts";

using installed = installedPackage(process.argv[2]);
if (!countsAll) console.log("without a PID namespace: processes that are killed are not counted");
for (const { name, ms, ratio, most } of commandCosts(installed.bin, PLUGIN_ID, installed.home, Number(process.env.ROUNDS ?? 15))) {
  const isMissed = ratio > most;
  console.log(
    `creel ${name.padEnd(10)}${ms.toFixed(0).padStart(5)} ms  ${ratio.toFixed(2)} x, at most ${most} x${isMissed ? ", MISSED" : ""}`,
  );
  if (isMissed) process.exitCode = 1;
}
