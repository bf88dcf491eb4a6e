/** Lines of a curve, made of series: the same contestant at one place after the other. */
import type { Line, Point } from "./case.ts";
import type { Effort, Series } from "../src/cli/bench/measure.ts";
import { estimate } from "../src/cli/bench/statistics.ts";

export function line(name: string, xs: readonly number[], series: readonly Series[], growth?: Line["growth"]): Line {
  const points = xs.map((x, at): Point => ({ x, ...estimate(series[at]!.rounds) }));
  return { name, points, ...(growth && { growth }) };
}

/** A share of the effort: curves have many contestants, and their answer is a shape. */
export function lighter(effort: Effort, by: number): Effort {
  return { ...effort, rounds: Math.ceil(effort.rounds / by), warmUpCalls: Math.ceil(effort.warmUpCalls / by) };
}
