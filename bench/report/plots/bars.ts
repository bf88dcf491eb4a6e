/** One bar per contestant, the least first: "what would I pay with something else?" Half of all samples lie in the thin part. */
import type { SeriesData } from "../data.ts";
import { quantity, short } from "../numbers.ts";
import { scale } from "./scale.ts";
import { element, label, widthOf } from "./svg.ts";
import { drawing, roleColour, TOP, WIDTH } from "./theme.ts";

const ROW = 26;
const NAME = 325;

export function bars(title: string, subtitle: string, series: readonly SeriesData[]): string {
  const sorted = series.toSorted((a, b) => a.median - b.median);
  const unit = sorted[0]!.unit;
  const least = sorted[0]!.median;
  const values = sorted.flatMap(({ p25, p75 }) => [p25, p75]);
  const kind = least > 0 && Math.max(...values) / least > 20 ? "log" : "linear";
  const left = Math.min(NAME, Math.max(...sorted.map(({ name }) => widthOf(name)))) + 32;
  const right = WIDTH - 120;
  const bottom = TOP + sorted.length * ROW + 6;
  const x = scale(kind, kind === "log" ? values.map((value) => value * 0.8).concat(values) : values, left, right);
  const start = kind === "log" ? left : x.at(0);
  const rows = sorted.flatMap(({ name, median, p25, p75 }, at) => {
    const y = TOP + at * ROW;
    const [from, to] = [x.at(Math.max(p25, Number.MIN_VALUE)), x.at(p75)];
    const colour = roleColour(name);
    return [
      label(name, left - 10, y + 16, { "text-anchor": "end", room: NAME }),
      element("rect", { class: `f${colour}`, x: start, y: y + 4, width: Math.max(1.5, x.at(median) - start), height: 17, rx: 2 }),
      element("rect", {
        class: `f${colour} band`,
        x: Math.max(start, from),
        y: y + 10,
        width: Math.max(0, to - Math.max(start, from)),
        height: 5,
      }),
      label(quantity(median, unit), Math.max(x.at(median), to) + 7, y + 17, { class: "small" }),
    ];
  });
  return drawing(title, `${subtitle} (${unit}${kind === "log" ? ", logarithmic axis" : ""})`, bottom + 34, [
    ...grid(x.ticks, x.at, unit, TOP - 4, bottom),
    ...rows,
  ]);
}

/** Upright rules with their numbers below. */
export function grid(ticks: readonly number[], at: (value: number) => number, unit: string, top: number, bottom: number): string[] {
  return ticks.flatMap((tick, index) => [
    element("path", { class: "rule", d: `M${at(tick).toFixed(1)} ${top}V${bottom}` }),
    label(`${tickText(tick)}${index === ticks.length - 1 ? ` ${unit}` : ""}`, at(tick), bottom + 16, {
      class: "faint small",
      "text-anchor": "middle",
    }),
  ]);
}

export function tickText(value: number): string {
  if (value >= 1_000_000) return `${Number((value / 1_000_000).toPrecision(3))} M`;
  if (value >= 10_000) return `${Number((value / 1_000).toPrecision(3))} k`;
  return value >= 1000 ? short(value) : Number(value.toPrecision(3)).toString();
}
