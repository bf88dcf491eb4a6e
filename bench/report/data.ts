/** What a run leaves behind, in bounded size: quantiles and bins instead of samples. Everything that is printed or drawn is made of this, and of nothing else. */
import { readFile } from "node:fs/promises";
import type { Absent, CaseResult, Curve, Ratio } from "../case.ts";
import { histogram } from "../../src/cli/bench/histogram.ts";
import type { Histogram } from "../../src/cli/bench/histogram.ts";
import type { Machine } from "../../src/cli/bench/machine.ts";
import type { Series } from "../../src/cli/bench/measure.ts";
import { quantile } from "../../src/cli/bench/statistics.ts";

/** Another one: data of before cannot be read any more. */
export const VERSION = 1;

export interface ReportData {
  readonly version: typeof VERSION;
  /** When it began. */
  readonly date: string;
  readonly effort: "full" | "quick";
  readonly seconds: number;
  readonly machine: Machine;
  /** One-minute load when it ended, the bench's own included. */
  readonly loadAtEnd: number;
  readonly cases: readonly CaseData[];
}

export interface CaseData {
  readonly name: string;
  /** When it began: a case may have been measured again. */
  readonly date: string;
  readonly question: string;
  readonly seconds: number;
  /** One-minute load when it ended, the bench's own included. */
  readonly load: number;
  readonly ratios: readonly Ratio[];
  readonly series: readonly SeriesData[];
  readonly curves: readonly Curve[];
  readonly absent: readonly Absent[];
  /** It could not be run to its end, and there is nothing else. */
  readonly error?: string;
}

export interface SeriesData extends Record<"p1" | "p10" | "p25" | "median" | "p75" | "p90" | "p99", number> {
  readonly name: string;
  readonly unit: Series["unit"];
  readonly samples: number;
  readonly rounds: number;
  readonly bins: Histogram;
  /** Processor time per call in µs, median and 10th and 90th percentile of the rounds. */
  readonly cpuUs?: { readonly median: number; readonly p10: number; readonly p90: number };
}

export function summarized({
  ratios,
  series,
  curves = [],
  absent = [],
}: CaseResult): Pick<CaseData, "ratios" | "series" | "curves" | "absent"> {
  return rounded({ ratios, series: series.map(ofSeries), curves, absent });
}

function ofSeries({ name, unit, samples, rounds, cpuUs }: Series): SeriesData {
  const at = (q: number): number => quantile(samples, q);
  return {
    name,
    unit,
    samples: samples.length,
    rounds: rounds.length,
    p1: at(0.01),
    p10: at(0.1),
    p25: at(0.25),
    median: at(0.5),
    p75: at(0.75),
    p90: at(0.9),
    p99: at(0.99),
    bins: histogram(samples),
    ...(cpuUs && { cpuUs: { median: quantile(cpuUs, 0.5), p10: quantile(cpuUs, 0.1), p90: quantile(cpuUs, 0.9) } }),
  };
}

/** Four digits: more than any of these numbers has, and they are read in diffs. */
function rounded<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (_, field: unknown) =>
      typeof field === "number" && !Number.isInteger(field) ? Number(field.toPrecision(4)) : field,
    ),
  ) as T;
}

export async function readData(path: string | URL): Promise<ReportData> {
  const data = JSON.parse(await readFile(path, "utf8")) as ReportData;
  const version: number = data.version;
  if (version !== VERSION)
    throw new Error(`${path.toString()} is data of version ${version}, and this reads ${VERSION}: run the bench again`);
  return data;
}

/** A line per series and per point: what a person looks for in a diff. */
export function written(data: ReportData): string {
  const text = JSON.stringify(data, undefined, 1);
  // Lists of numbers, and objects of nothing but plain values, on one line.
  return `${text.replaceAll(/[[{]\n[^[\]{}]*\n\s*[\]}]/g, (block) => block.replaceAll(/\n\s*/g, " "))}\n`;
}

/** Of all that is held to something. */
export function verdict(data: ReportData, isMet: (ratio: Ratio) => boolean): { readonly held: number; readonly missed: number } {
  const held = data.cases.flatMap(({ ratios }) => ratios.filter(({ target }) => target));
  return { held: held.length, missed: held.filter((ratio) => !isMet(ratio)).length };
}

/** What makes the numbers doubtful. The bench keeps up to two threads and a child busy by itself. */
export function doubts({ machine, loadAtEnd, effort, cases }: ReportData): string[] {
  const { cores, load } = machine;
  const crowded = cases.filter((one) => one.load > cores + 2).map(({ name }) => name);
  return [
    ...(load > cores ? [`load ${load} on ${cores} cores at the start: somebody else was at work`] : []),
    ...(loadAtEnd > cores + 2 ? [`load ${loadAtEnd} on ${cores} cores at the end: somebody else was at work`] : []),
    ...(crowded.length > 0
      ? [`load far above the cores during ${crowded.length === cases.length ? "all cases" : crowded.join(", ")}`]
      : []),
    ...(effort === "quick" ? ["a quick run: fewer rounds, wider intervals"] : []),
  ];
}
