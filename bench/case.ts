/** What a case is and what it reports. A case asks one question; its answers are ratios, each with the target it is held to. */
import type { Contestant } from "./contestant.ts";
import type { Effort, Series } from "./measure.ts";
import { estimate } from "./statistics.ts";
import type { Estimate } from "./statistics.ts";

export interface Case {
  readonly question: string;
  run(effort: Effort): Promise<CaseResult>;
}

export interface CaseResult {
  readonly ratios: readonly Ratio[];
  readonly series: readonly Series[];
}

export interface Target {
  readonly atMost?: number;
  readonly atLeast?: number;
}

export interface Ratio extends Estimate {
  readonly what: string;
  /** Without one the line is there to be read, not to be met. */
  readonly target: Target | undefined;
}

export function ratio(what: string, perRound: readonly number[], target?: Target): Ratio {
  return { what, target, ...estimate(perRound) };
}

export function isMet({ value, target }: Ratio): boolean {
  return value <= (target?.atMost ?? Infinity) && value >= (target?.atLeast ?? -Infinity);
}

/** Opens all contestants, lets them be used, and closes them whatever happens. */
export async function among<const T extends readonly Opening[], R>(openings: T, use: (contestants: Opened<T>) => Promise<R>): Promise<R> {
  await using stack = new AsyncDisposableStack();
  const contestants: Contestant[] = [];
  for (const open of openings) contestants.push(stack.use(await open()));
  return await use(contestants as Opened<T>);
}

type Opening = () => Contestant | Promise<Contestant>;
type Opened<T extends readonly Opening[]> = { -readonly [K in keyof T]: Contestant };
