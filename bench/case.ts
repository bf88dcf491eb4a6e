/** What a case is and what it reports. A case asks one question; its answers are ratios, each with the target it is held to. */
import type { Contestant } from "../src/cli/bench/contestant.ts";
import type { Effort, Series, SeriesOf } from "../src/cli/bench/measure.ts";
import { estimate, quantile, shuffle } from "../src/cli/bench/statistics.ts";
import type { Estimate } from "../src/cli/bench/statistics.ts";

export interface Case {
  readonly question: string;
  run(effort: Effort): Promise<CaseResult>;
}

export interface CaseResult {
  readonly ratios: readonly Ratio[];
  readonly series: readonly Series[];
  readonly curves?: readonly Curve[];
  /** Contestants that are not on this machine, and why: never guessed, never left out in silence. */
  readonly absent?: readonly Absent[];
}

export interface Absent {
  readonly name: string;
  readonly why: string;
}

/** How a number grows with another one: a line for each contestant. */
export interface Curve {
  /** For its headline and its file, such as "latency against chain length". */
  readonly what: string;
  readonly x: { readonly name: string; readonly unit?: string; readonly scale: "linear" | "log" };
  readonly unit: Series["unit"];
  readonly lines: readonly Line[];
}

export interface Line {
  readonly name: string;
  /** How it is expected to grow; the report fits that and shows how well it fits. Unset: only drawn. */
  readonly growth?: "flat" | "linear";
  readonly points: readonly Point[];
}

/** The median at this place, with its interval. */
export interface Point extends Estimate {
  readonly x: number;
}

export interface Target {
  readonly atMost?: number;
  readonly atLeast?: number;
}

export interface Ratio extends Estimate {
  readonly what: string;
  /** Without one the line is there to be read, not to be met. */
  readonly target: Target | undefined;
  /** It is no ratio but a number of these, such as MB. */
  readonly unit?: RatioUnit;
  /** The 10th and 90th percentile of the rounds; nothing if there was one number and no rounds. */
  readonly spread?: readonly [number, number];
}

/** Seconds are for the processor time of a million calls; the nouns are counts. */
export type RatioUnit = Series["unit"] | "s" | "calls" | "turns" | "loops" | "processes";

export function ratio(what: string, perRound: readonly number[], target?: Target, unit?: RatioUnit): Ratio {
  const spread: Pick<Ratio, "spread"> = perRound.length > 1 ? { spread: [quantile(perRound, 0.1), quantile(perRound, 0.9)] } : {};
  return { what, target, ...(unit && { unit }), ...spread, ...estimate(perRound) };
}

export function isMet({ value, target }: Ratio): boolean {
  return value <= (target?.atMost ?? Infinity) && value >= (target?.atLeast ?? -Infinity);
}

/** Opens all contestants, lets them be used, and closes them whatever happens. */
export async function among<const T extends readonly Opening[], R>(openings: T, use: (contestants: Opened<T>) => Promise<R>): Promise<R> {
  await using stack = new AsyncDisposableStack();
  const contestants: Contestant[] = [];
  // Nobody is to have the same place on the cores every time.
  for (const index of shuffle(openings.map((_, at) => at))) contestants[index] = stack.use(await openings[index]!());
  return await use(contestants as Opened<T>);
}

/** How threads are placed on the cores is settled when they start, more or less: so everybody starts as often as this. */
const STARTS = 6;

/** As `among`, for what is mostly waking up: opens and measures all of them several times, and gives their rounds in one row. */
export async function reopened<const T extends readonly Opening[]>(
  openings: T,
  effort: Effort,
  measure: (contestants: Opened<T>, effort: Effort) => Promise<SeriesOf<Opened<T>>>,
): Promise<SeriesOf<Opened<T>>> {
  const joined = await startedOften(effort, STARTS, (share) => among(openings, (contestants) => measure(contestants, share)));
  return joined as SeriesOf<Opened<T>>;
}

/** Measures as often as it says, each time with its share of the effort, and gives the rounds of all of them in one row. */
export async function startedOften(
  effort: Effort,
  times: number,
  measure: (share: Effort) => Promise<readonly Series[]>,
): Promise<Series[]> {
  const share = {
    ...effort,
    rounds: Math.ceil(effort.rounds / times),
    warmUpMs: effort.warmUpMs / 2,
    roundsMs: effort.roundsMs / times,
  };
  const starts: (readonly Series[])[] = [];
  for (let start = 0; start < times; start++) starts.push(await measure(share));
  return starts[0]!.map((first, index) => ({
    ...first,
    samples: starts.flatMap((series) => series[index]!.samples),
    rounds: starts.flatMap((series) => series[index]!.rounds),
    ...(first.cpuUs && { cpuUs: starts.flatMap((series) => series[index]!.cpuUs ?? []) }),
  }));
}

type Opening = () => Contestant | Promise<Contestant>;
type Opened<T extends readonly Opening[]> = { -readonly [K in keyof T]: Contestant };
