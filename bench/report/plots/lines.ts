/** A line per contestant, its name at its end, its 95 % interval as a band, and where one is expected the fit as a dashed line. */
import type { Curve } from "../../case.ts";
import { fitOf } from "../fit.ts";
import { grid, tickText } from "./bars.ts";
import { scale, spread } from "./scale.ts";
import { element, label, path, widthOf } from "./svg.ts";
import { colours, drawing, roleOf, TOP, WIDTH } from "./theme.ts";

const HEIGHT = 330;
const LEFT = 74;
const NAME = 240;
const LABEL_GAP = 15;
const FIT_STEPS = 24;

export function lines({ what, x: axis, unit, lines: all }: Curve): string {
  const drawn = all.filter(({ points }) => points.length > 0);
  const right = WIDTH - Math.min(NAME, Math.max(...drawn.map(({ name }) => widthOf(name)))) - 34;
  const bottom = TOP + HEIGHT;
  const xs = drawn.flatMap(({ points }) => points.map(({ x }) => x));
  const ys = drawn.flatMap(({ points }) => points.map(({ value }) => value));
  const x = scale(axis.scale, xs, LEFT + 8, right - 8);
  const isWide = axis.scale === "log" || Math.max(...ys) / Math.min(...ys) > 30;
  const y = scale(isWide ? "log" : "linear", ys, bottom, TOP + 8);
  const clamp = (value: number): number => Math.min(bottom, Math.max(TOP, y.at(value)));
  const palette = colours(drawn.map(({ name }) => name));
  const ends = spread(
    drawn.map(({ points }) => y.at(points.at(-1)!.value)),
    LABEL_GAP,
    TOP + 8,
    bottom - 2,
  );
  const parts = drawn.flatMap((line, at) => {
    const colour = palette[at]!;
    const { name, points } = line;
    const top = points.map((point): [number, number] => [x.at(point.x), clamp(point.high)]);
    const under = points.map((point): [number, number] => [x.at(point.x), clamp(point.low)]).toReversed();
    const fit = fitOf(line, unit, axis.unit ?? axis.name);
    const end = points.at(-1)!;
    return [
      path([...top, ...under], { class: `f${colour} band` }),
      ...(fit?.kind === "linear"
        ? [
            path(
              alongFit(
                fit.base,
                fit.perX,
                points.map((point) => point.x),
                axis.scale,
              ).map(([at_, value]) => [x.at(at_), clamp(value)]),
              { class: `s${colour} fit` },
            ),
          ]
        : []),
      path(
        points.map((point): [number, number] => [x.at(point.x), y.at(point.value)]),
        { class: `s${colour} line`, "stroke-dasharray": roleOf(name) === "floor" ? "2 3" : undefined },
      ),
      ...points.map((point) => element("circle", { class: `f${colour} halo`, cx: x.at(point.x), cy: y.at(point.value), r: 3.4 })),
      path(
        [
          [x.at(end.x) + 5, y.at(end.value)],
          [right + 6, ends[at]!],
        ],
        { class: `s${colour}`, "stroke-width": 0.8, fill: "none", opacity: 0.6 },
      ),
      label(name, right + 10, ends[at]! + 4, { class: `f${colour}`, room: NAME }),
    ];
  });
  const across = y.ticks.flatMap((tick) => [
    element("path", { class: "rule", d: `M${LEFT} ${y.at(tick).toFixed(1)}H${right}` }),
    label(tickText(tick), LEFT - 8, y.at(tick) + 4, { class: "faint small", "text-anchor": "end" }),
  ]);
  const places = [...new Set(xs)].toSorted((a, b) => a - b);
  const upright = apart(places, x.at);
  const xTitle = `${axis.name}${axis.unit === undefined ? "" : `, ${axis.unit}`}`;
  const ends_ = [
    element("path", { class: "axis", d: `M${LEFT} ${bottom}H${right}` }),
    label(xTitle, (LEFT + right) / 2, bottom + 36, { class: "faint", "text-anchor": "middle" }),
    label(unit, LEFT - 8, TOP - 4, { class: "faint small", "text-anchor": "end" }),
  ];
  const hasFit = drawn.some((line) => fitOf(line, unit, "")?.kind === "linear");
  const subtitle = `median with 95 % interval${hasFit ? "; dashed: the straight line that fits" : ""}${isWide ? "; logarithmic axes" : ""}`;
  return drawing(what, subtitle, bottom + 52, [...across, ...grid(upright, x.at, "", TOP, bottom), ...ends_, ...parts]);
}

/** The places that were measured, but for those whose numbers would touch. */
function apart(places: readonly number[], at: (value: number) => number): number[] {
  const kept: number[] = [];
  for (const place of places) if (kept.length === 0 || at(place) - at(kept.at(-1)!) > 34) kept.push(place);
  return kept;
}

/** Straight on linear axes, bent on logarithmic ones: in small steps. */
function alongFit(base: number, perX: number, xs: readonly number[], kind: "linear" | "log"): [x: number, y: number][] {
  const [from, to] = [Math.min(...xs), Math.max(...xs)];
  return Array.from({ length: FIT_STEPS + 1 }, (_, at): [number, number] => {
    const share = at / FIT_STEPS;
    const x = kind === "log" && from > 0 ? from * (to / from) ** share : from + (to - from) * share;
    return [x, Math.max(base + perX * x, Number.MIN_VALUE)];
  });
}
