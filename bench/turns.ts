/**
 * For what is not a call: starting, stopping, being replaced. Every contestant measures itself, once per round, in turns, in a new order each round. The
 * first round only warms up: modules are loaded, texts bundled, walls tried.
 */
import type { Effort, Series } from "../src/cli/bench/measure.ts";
import { shuffle } from "../src/cli/bench/statistics.ts";

export interface Turn<K extends string> {
  /** The unit is the case's: `takeTurns` is told. */
  readonly names: readonly K[];
  /** One number for each name. What need not be measured, such as closing, it does after it has taken the time. */
  once(round: number): Promise<Readonly<Record<K, number>>>;
}

export async function turns(
  contestants: readonly Turn<string>[],
  effort: Effort,
  { unit, rounds }: { unit: Series["unit"]; rounds: number },
): Promise<Series[]> {
  const found = new Map<string, Series>();
  for (const { names } of contestants) for (const name of names) found.set(name, { name, unit, samples: [], rounds: [] });
  for (let round = 0; round <= rounds; round++) {
    effort.tell?.({ phase: round === 0 ? "warm-up" : "round", at: Math.max(0, round - 1), of: rounds });
    for (const contestant of shuffle([...contestants])) {
      const values = await contestant.once(round);
      if (round === 0) continue;
      for (const [name, value] of Object.entries(values)) {
        const series = found.get(name)!;
        series.samples.push(value);
        series.rounds.push(value);
      }
    }
  }
  return [...found.values()];
}

/** A contestant with one number. */
export function turn(name: string, once: (round: number) => Promise<number>): Turn<string> {
  return { names: [name], once: async (round) => ({ [name]: await once(round) }) };
}

export async function elapsed(what: () => unknown): Promise<number> {
  const started = performance.now();
  await what();
  return performance.now() - started;
}
