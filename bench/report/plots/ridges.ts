/** The distribution of all samples, a ridge per contestant on one logarithmic axis, with its median. Two humps: the machine was in two states. */
import type { Histogram } from "../../../src/cli/bench/histogram.ts";
import type { SeriesData } from "../data.ts";
import { quantity } from "../numbers.ts";
import { grid } from "./bars.ts";
import { scale } from "./scale.ts";
import { element, label, path, widthOf } from "./svg.ts";
import { drawing, roleColour, TOP, WIDTH } from "./theme.ts";

const ROW = 38;
const PEAK = 34;
const NAME = 325;

export function ridges(title: string, subtitle: string, series: readonly SeriesData[]): string {
  const unit = series[0]!.unit;
  const left = Math.min(NAME, Math.max(...series.map(({ name }) => widthOf(name)))) + 32;
  const right = WIDTH - 96;
  const bottom = TOP + series.length * ROW + 8;
  const x = scale(
    "log",
    series.flatMap(({ bins, median }) => [bins.from, bins.to, median]).filter((value) => value > 0),
    left,
    right,
  );
  const rows = series.flatMap(({ name, bins, median }, at) => {
    const base = TOP + (at + 1) * ROW;
    const colour = roleColour(name);
    const middle = x.at(Math.max(median, bins.from)).toFixed(1);
    return [
      label(name, left - 10, base - 8, { "text-anchor": "end", room: NAME }),
      element("path", { class: "rule", d: `M${left} ${base}H${right}` }),
      path(outline(bins, x.at, base), { class: `f${colour} ridge` }),
      element("path", { class: `s${colour}`, "stroke-width": 2, d: `M${middle} ${base}V${base - PEAK + 6}` }),
      label(quantity(median, unit), right + 8, base - 8, { class: "small" }),
    ];
  });
  return drawing(title, `${subtitle} (${unit}, logarithmic axis; the line is the median)`, bottom + 34, [
    ...grid(x.ticks, x.at, unit, TOP - 4, bottom),
    ...rows,
  ]);
}

function outline({ from, to, counts }: Histogram, at: (value: number) => number, base: number): [number, number][] {
  const most = Math.max(...counts, 1);
  const step = Math.log(to / from) / counts.length;
  const points = counts.map((count, bin): [number, number] => [at(from * Math.exp((bin + 0.5) * step)), base - (count / most) * PEAK]);
  // A single value is a spike, and has to be seen, too.
  const [first, last] = [at(from) - 1.5, at(to) + 1.5];
  return [[first, base], ...points, [last, base]];
}
