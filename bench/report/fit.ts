/**
 * How a line grows, and whether that is as expected. Least squares on the medians, by relative error: otherwise the largest of a
 * thousandfold range alone would say what the line is like.
 */
import type { Line, Point } from "../case.ts";
import { short } from "./numbers.ts";

export interface Fit {
  readonly kind: "linear" | "flat";
  /** y = base + perX · x */
  readonly base: number;
  readonly perX: number;
  readonly r2: number;
  /** Slope on two logarithmic axes: 1 is proportional, 0 is flat, 2 is quadratic. */
  readonly exponent: number;
  /** From the first point to the last, as a share of the first. */
  readonly change: number;
  readonly isExpected: boolean;
  readonly words: string;
  /** For the margin of a drawing. */
  readonly brief: string;
}

/** How far a median may lie beside the line. Caches that run full bend it by so much; a quadratic is off by several times that. */
const BEND = 0.3;
/** And how much a flat line may rise, beyond what the intervals explain. */
const RISE = 0.1;

export function fitOf({ growth, points }: Line, unit: string, xName: string): Fit | undefined {
  if (growth === undefined || points.length < 3) return undefined;
  const line = leastSquares(
    points,
    ({ x }) => x,
    ({ value }) => value,
    ({ value }) => value ** -2,
  );
  const logs = leastSquares(
    points.filter(({ x, value }) => x > 0 && value > 0),
    ({ x }) => Math.log(x),
    ({ value }) => Math.log(value),
  );
  const [first, last] = [points[0]!, points.at(-1)!];
  const common = { base: line.base, perX: line.slope, r2: line.r2, exponent: logs.slope, change: last.value / first.value - 1 };
  if (growth === "flat") {
    const isFlat = isWithin(points);
    const words = `${isFlat ? "flat" : "not flat"}: ${percent(common.change)} from ${short(first.x)} to ${short(last.x)} ${xName}`;
    const brief = `${isFlat ? "flat" : "not flat"}, ${percent(common.change)}`;
    return { kind: "flat", ...common, isExpected: isFlat, words, brief };
  }
  const off = points.map(({ x, value, low, high }) => beside(line.base + line.slope * x, value, low, high));
  const isStraight = off.every((share) => share <= BEND);
  const bends = !isStraight && steeper(points);
  // Beside the last point nothing.
  const base = Math.abs(line.base) < last.value / 1e6 ? 0 : line.base;
  const how = isStraight ? "linear" : bends ? "faster than linear" : "slower than linear";
  const words = `${how}: ${short(base)} ${unit} ${line.slope < 0 ? "−" : "+"} ${short(Math.abs(line.slope))} ${unit} × ${xName}, R² ${line.r2.toFixed(3)}, log-log slope ${common.exponent.toFixed(2)}`;
  return { kind: "linear", ...common, isExpected: !bends, words, brief: `${how}, R² ${line.r2.toFixed(3)}` };
}

/** No point lies above another by more than their intervals and the rise that is allowed. */
function isWithin(points: readonly Point[]): boolean {
  const ceiling = Math.min(...points.map(({ high }) => high)) * (1 + RISE);
  return points.every(({ low }) => low <= ceiling);
}

/** How far the line is from the interval, as a share of the median. */
function beside(fitted: number, value: number, low: number, high: number): number {
  return Math.max(0, low - fitted, fitted - high) / value;
}

/** Is the last stretch steeper than the way to it? */
function steeper(points: readonly Point[]): boolean {
  const [first, before, last] = [points[0]!, points.at(-2)!, points.at(-1)!];
  return (last.value - before.value) / (last.x - before.x) > (before.value - first.value) / (before.x - first.x);
}

interface Straight {
  readonly base: number;
  readonly slope: number;
  readonly r2: number;
}

function leastSquares(
  points: readonly Point[],
  xOf: (point: Point) => number,
  yOf: (point: Point) => number,
  weightOf: (point: Point) => number = () => 1,
): Straight {
  const sum = (of: (point: Point) => number): number => points.reduce((total, point) => total + weightOf(point) * of(point), 0);
  const all = sum(() => 1);
  const [x, y] = [sum(xOf) / all, sum(yOf) / all];
  const spread = sum((point) => (xOf(point) - x) ** 2);
  const slope = spread === 0 ? 0 : sum((point) => (xOf(point) - x) * (yOf(point) - y)) / spread;
  const base = y - slope * x;
  const rest = sum((point) => (yOf(point) - base - slope * xOf(point)) ** 2);
  const total = sum((point) => (yOf(point) - y) ** 2);
  return { base, slope, r2: total === 0 ? 1 : 1 - rest / total };
}

function percent(share: number): string {
  return `${share < 0 ? "−" : "+"}${Math.abs(share * 100).toFixed(0)} %`;
}
