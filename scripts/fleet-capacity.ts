/**
 * How many hosts a fleet needs for 1 M sessions and 50,000 runs a second, by simulation: sessions go to hosts by the hash that gateways use,
 * runs come at random, each session with its share, and each host has one thread that works them off in order. What a run takes of that thread is
 * the one number that is measured (scripts/fleet-cost.ts prints it). Prints the table of docs/guides/fleet.md.
 * `node -C source scripts/fleet-capacity.ts 21`
 */
import { rankOf } from "../src/fleet/gateway/hosts.ts";

const SESSIONS = 1_000_000;
const RUNS_PER_S = 50_000;
const SECONDS = 10;
/** Of a run, on the thread of the host that judges it. */
const SERVICE_US = Number(process.argv[2] ?? 21);
/** How much more often the most frequent session has a run than others: 0 for all alike. */
const SKEWS = [0, 0.6, 0.9];
const HOSTS = [2, 3, 4, 8, 16];

/** Of the same seed always the same. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The host of each session, if these are there. */
function placed(hosts: number): Uint8Array {
  const at = new Uint8Array(SESSIONS);
  const names = Array.from({ length: hosts }, (_, n) => `web-${n + 1}`);
  for (let session = 0; session < SESSIONS; session++) {
    let best = "";
    for (const [host, name] of names.entries()) {
      const rank = rankOf(name, `s${session}`);
      if (best === "" || rank < best) [best, at[session]] = [rank, host];
    }
  }
  return at;
}

/** By how much of all runs each session has: the sum up to it. */
function shares(skew: number): Float64Array {
  const sums = new Float64Array(SESSIONS);
  let sum = 0;
  for (let session = 0; session < SESSIONS; session++) sums[session] = sum += (session + 1) ** -skew;
  for (let session = 0; session < SESSIONS; session++) sums[session]! /= sum;
  return sums;
}

/** The first whose sum is not below. */
function pick(sums: Float64Array, value: number): number {
  let [low, high] = [0, sums.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sums[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Runs arrive at random; each host works them off one after the other. */
function simulate(
  hosts: number,
  at: Uint8Array,
  sums: Float64Array,
): { fullest: number; moreThanMean: number; p50Us: number; p99Us: number } {
  const next = random(7);
  const freeUs = new Float64Array(hosts);
  const counts = new Uint32Array(hosts);
  const waits = new Float64Array(RUNS_PER_S * SECONDS);
  let nowUs = 0;
  for (let run = 0; run < waits.length; run++) {
    nowUs += (-Math.log(1 - next()) * 1e6) / RUNS_PER_S;
    const host = at[pick(sums, next())]!;
    counts[host]! += 1;
    const beginsUs = Math.max(nowUs, freeUs[host]!);
    freeUs[host] = beginsUs + SERVICE_US;
    waits[run] = freeUs[host] - nowUs;
  }
  waits.sort();
  const most = Math.max(...counts);
  return {
    fullest: (most * SERVICE_US) / (SECONDS * 1e6),
    moreThanMean: (most * hosts) / waits.length,
    p50Us: waits[waits.length >> 1]!,
    p99Us: waits[Math.floor(waits.length * 0.99)]!,
  };
}

const us = (value: number): string =>
  value >= 1e6 ? `${(value / 1e6).toFixed(1)} s` : value >= 10_000 ? `${(value / 1_000).toFixed(0)} ms` : `${value.toFixed(0)} µs`;
console.log(`${SESSIONS} sessions, ${RUNS_PER_S} runs a second, ${SERVICE_US} µs of a host's thread each\n`);
console.log("| hosts | sessions | the fullest host works | has, of the mean | p50 in the host | p99 |");
console.log("|---|---|---|---|---|---|");
for (const hosts of HOSTS) {
  const at = placed(hosts);
  for (const skew of SKEWS) {
    const { fullest, moreThanMean, p50Us, p99Us } = simulate(hosts, at, shares(skew));
    const what = skew === 0 ? "all alike" : `Zipf ${skew}`;
    const load = fullest >= 1 ? `**${(fullest * 100).toFixed(0)} %: too much**` : `${(fullest * 100).toFixed(0)} %`;
    console.log(
      `| ${hosts} | ${what} | ${load} | ${moreThanMean.toFixed(2)} × | ${fullest >= 1 ? "–" : us(p50Us)} | ${fullest >= 1 ? "–" : us(p99Us)} |`,
    );
  }
}
