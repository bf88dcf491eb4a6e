/**
 * The fuzzers of test/fuzz for longer than CI has time: `npm run fuzz -- --minutes 60`. One file after the other, so that each has the machine to itself;
 * `--only <file>` gives all of the time to one. The exit code is vitest's.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { SHARES } from "../test/fuzz/shares.ts";

const HELP = `npm run fuzz -- [options]

  --minutes <n>    all fuzzers together; default 60
  --only <name>    one of ${Object.keys(SHARES).join(", ")}
  --seed <n>       the seed that a run printed, to go the same way again
  --help

example: npm run fuzz -- --minutes 10 --only serve`;

const { values: flags } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    only: { type: "string" },
    seed: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

/** Two fuzzers that live in the file of another. */
const FILES: Readonly<Record<string, string>> = { framing: "lane" };

if (flags.help) console.log(HELP);
else process.exitCode = await run();

async function run(): Promise<number> {
  const { only } = flags;
  if (only !== undefined && !Object.hasOwn(SHARES, only)) {
    console.error(`there is no fuzzer "${only}": ${Object.keys(SHARES).join(", ")}`);
    return 2;
  }
  const share = only === undefined ? 1 : SHARES[only as keyof typeof SHARES];
  const ms = Math.round((Number(flags.minutes) * 60_000) / share);
  const folder = fileURLToPath(new URL("../test/fuzz/", import.meta.url));
  const path = only === undefined ? folder : `${folder}${FILES[only] ?? only}.test.ts`;
  const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
  const child = spawn(process.execPath, [vitest, "run", path, "--maxWorkers=1"], {
    stdio: "inherit",
    env: {
      ...process.env,
      CREEL_FUZZ_MS: String(ms),
      ...(only !== undefined && { CREEL_FUZZ_ONLY: only }),
      ...(flags.seed !== undefined && { CREEL_FUZZ_SEED: flags.seed }),
    },
  });
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}
