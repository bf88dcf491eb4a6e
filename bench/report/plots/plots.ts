/** Which drawings a run gives, and what each is called. */
import type { CaseData, ReportData, SeriesData } from "../data.ts";
import { bars } from "./bars.ts";
import { lines } from "./lines.ts";
import { roleOf } from "./theme.ts";

export interface Plot {
  readonly file: string;
  readonly title: string;
  readonly svg: string;
}

/** So many other ways to do the same are a ladder. */
const LADDER = 4;

/** Curves only: what a case compares at one place is in its table. */
export function plotsOf(one: CaseData): Plot[] {
  return one.curves
    .filter((curve) => curve.lines.some(({ points }) => points.length > 0))
    .map((curve): Plot => ({ file: `${slug(curve.what)}.svg`, title: curve.what, svg: lines(curve) }));
}

function inTime({ curves, series }: CaseData): readonly SeriesData[] {
  return curves.length > 0 ? [] : series.filter(({ unit }) => unit === "µs");
}

function others(one: CaseData): number {
  return inTime(one).filter(({ name }) => roleOf(name) === "other").length;
}

/** All ways to call one handler, of the case that has the most of others' among them. */
export function ladder({ cases }: ReportData): Plot | undefined {
  const most = cases.toSorted((a, b) => others(b) - others(a))[0];
  if (!most || others(most) < LADDER) return undefined;
  const title = "Every way to run one handler: what a call takes";
  return { file: "ladder.svg", title, svg: bars(title, `case ${most.name}, median of a call`, inTime(most)) };
}

function slug(text: string): string {
  return text
    .toLowerCase()
    .replaceAll("µ", "u")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}
