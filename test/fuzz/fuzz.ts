/**
 * How long the fuzzers go on, and from which seed. In CI all files of test/fuzz together take a minute; `npm run fuzz -- --minutes 60` gives them an
 * hour. The seed is printed: `CREEL_FUZZ_SEED=<seed>` goes the same way again, and a failure names the case itself.
 */
import { setTimeout as sleep } from "node:timers/promises";
import * as fc from "fast-check";
import { SHARES } from "./shares.ts";
import type { FuzzerName } from "./shares.ts";

/** Of all fuzzers together, by default. */
const CI_MS = 60_000;
const TOTAL_MS = Number(process.env.CREEL_FUZZ_MS ?? CI_MS);
const SEED = Number(process.env.CREEL_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** Starting, shrinking what was found. */
const PATIENCE_MS = 60_000;
/** Processor time of one case: on any machine far more than a case needs, far less than a hang. */
const CASE_CPU_MS = 5_000;
const CASE_MS = 30_000;

const ONLY = process.env.CREEL_FUZZ_ONLY;

const msOf = (name: FuzzerName): number => TOTAL_MS * SHARES[name];

/** The options of a fuzzer's test. */
export const fuzzing = (name: FuzzerName): { timeout: number; skip: boolean } => ({
  timeout: msOf(name) + PATIENCE_MS,
  skip: ONLY !== undefined && ONLY !== name,
});

/** A part of a rule that holds only for some cases. */
export function demand(isHeld: boolean, what: string): asserts isHeld {
  if (!isHeld) throw new Error(`it does not hold that ${what}`);
}

/** Checks every case that can be made until the fuzzer's time is over, and gives their number. A case that does not end is a failure, also the last one. */
export async function fuzz<T>(name: FuzzerName, cases: fc.Arbitrary<T>, check: (one: T) => Promise<void> | void): Promise<number> {
  let runs = 0;
  let last: Promise<void> = Promise.resolve();
  const property = fc.asyncProperty(cases, (one) => (last = bounded(one, check, ++runs)));
  try {
    await fc.assert(property, { seed: SEED, numRuns: 2 ** 30, interruptAfterTimeLimit: msOf(name), markInterruptAsFailure: false });
    await last;
  } finally {
    process.stdout.write(`  fuzz ${name}: ${runs} cases, CREEL_FUZZ_SEED=${SEED}\n`);
  }
  return runs;
}

async function bounded<T>(one: T, check: (one: T) => Promise<void> | void, run: number): Promise<void> {
  const before = process.cpuUsage();
  const patience = new AbortController();
  const late = sleep(CASE_MS, true, { signal: patience.signal }).catch(() => false);
  const isLate = await Promise.race([Promise.resolve(check(one)).then(() => false), late]).finally(() => patience.abort());
  if (isLate) throw new Error(`case ${run} did not end within ${CASE_MS} ms: ${JSON.stringify(one)?.slice(0, 2_000)}`);
  const { user, system } = process.cpuUsage(before);
  if ((user + system) / 1_000 > CASE_CPU_MS) throw new Error(`case ${run} took ${(user + system) / 1_000} ms of the processor`);
}
