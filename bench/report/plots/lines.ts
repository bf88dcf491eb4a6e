/** A line per contestant, its name at its end, its 95 % interval as a band, and where one is expected the fit as a dashed line. */
import type { Curve, Line } from "../../case.ts";
import { fitOf } from "../fit.ts";
import type { Fit } from "../fit.ts";
import { grid, tickText } from "./bars.ts";
import { scale, spread } from "./scale.ts";
import type { Scale, ScaleKind } from "./scale.ts";
import { element, label, path, widthOf } from "./svg.ts";
import { colours, drawing, roleOf, TOP, WIDTH } from "./theme.ts";

const HEIGHT = 330;
const BOTTOM = TOP + HEIGHT;
const LEFT = 74;
const NAME = 240;
/** A verdict has to fit below a short name. */
const MIN_NAME = 150;
const LABEL_GAP = 15;
const FIT_GAP = 29;
const FIT_STEPS = 24;
/** A larger range of values needs a logarithmic axis, and then both are: what is straight stays nearly straight. */
const WIDE = 30;

export function lines({ what, x: axis, unit, lines: all }: Curve): string {
  const drawn = all.filter(({ points }) => points.length > 0);
  const right = WIDTH - Math.min(NAME, Math.max(MIN_NAME, ...drawn.map(({ name }) => widthOf(name)))) - 34;
  const xs = drawn.flatMap(({ points }) => points.map(({ x }) => x));
  const ys = drawn.flatMap(({ points }) => points.map(({ value }) => value));
  const isWide = Math.max(...ys) / Math.min(...ys) > WIDE;
  const xKind = isWide ? "log" : axis.scale;
  const x = scale(xKind, xs, LEFT + 8, right - 8, true);
  const y = scale(isWide ? "log" : "linear", ys, BOTTOM, TOP + 8);
  const palette = colours(drawn.map(({ name }) => name));
  const fits = drawn.map((line) => fitOf(line, unit, axis.name));
  const ends = spread(
    drawn.map(({ points }) => y.at(points.at(-1)!.value)),
    fits.some(Boolean) ? FIT_GAP : LABEL_GAP,
    TOP + 8,
    BOTTOM - 16,
  );
  const parts = drawn.flatMap((line, at) => [
    ...(fits[at]?.kind === "linear" ? [fitted(fits[at], line, x, y, xKind, palette[at]!)] : []),
    ...lineParts(line, x, y, palette[at]!),
    ...nameParts(line, fits[at], x, y, palette[at]!, right, ends[at]!),
  ]);
  const notes = [
    "median with 95 % interval",
    ...(fits.some((fit) => fit?.kind === "linear") ? ["dashed: the straight line that fits"] : []),
    ...(isWide ? ["logarithmic axes"] : xKind === "log" ? ["logarithmic x axis"] : []),
  ];
  const xTitle = `${axis.name}${axis.unit === undefined ? "" : `, ${axis.unit}`}`;
  return drawing(what, notes.join("; "), BOTTOM + 52, [
    ...y.ticks.flatMap((tick) => [
      element("path", { class: "rule", d: `M${LEFT} ${y.at(tick).toFixed(1)}H${right.toFixed(1)}` }),
      label(tickText(tick), LEFT - 8, y.at(tick) + 4, { class: "faint small", "text-anchor": "end" }),
    ]),
    ...grid(apart(xs, x.at), x.at, "", TOP, BOTTOM),
    element("path", { class: "axis", d: `M${LEFT} ${BOTTOM}H${right.toFixed(1)}` }),
    label(xTitle, (LEFT + right) / 2, BOTTOM + 36, { class: "faint", "text-anchor": "middle" }),
    label(unit, LEFT - 8, TOP - 6, { class: "faint small", "text-anchor": "end" }),
    ...parts,
  ]);
}

function lineParts({ name, points }: Line, x: Scale, y: Scale, colour: number): string[] {
  const high = points.map((point): [number, number] => [x.at(point.x), inside(y.at(point.high))]);
  const low = points.map((point): [number, number] => [x.at(point.x), inside(y.at(point.low))]);
  const middle = points.map((point): [number, number] => [x.at(point.x), y.at(point.value)]);
  return [
    path([...high, ...low.toReversed()], { class: `f${colour} band` }),
    path(middle, { class: `s${colour} line`, "stroke-dasharray": roleOf(name) === "floor" ? "2 3" : undefined }),
    ...middle.map(([cx, cy]) => element("circle", { class: `f${colour} halo`, cx, cy, r: 3.4 })),
  ];
}

/** The name, and a thin lead to it where it had to be moved. */
function nameParts(
  { name, points }: Line,
  fit: Fit | undefined,
  x: Scale,
  y: Scale,
  colour: number,
  right: number,
  place: number,
): string[] {
  const end = points.at(-1)!;
  const lead: [number, number][] = [
    [x.at(end.x) + 5, y.at(end.value)],
    [right + 6, place],
  ];
  return [
    path(lead, { class: `s${colour}`, "stroke-width": 0.8, fill: "none", opacity: 0.6 }),
    label(name, right + 10, place + 4, { class: `f${colour}`, room: NAME }),
    ...(fit ? [label(fit.brief, right + 10, place + 17, { class: "faint small" })] : []),
  ];
}

/** Straight on linear axes, bent on logarithmic ones: in small steps. */
function fitted({ base, perX }: Fit, { points }: Line, x: Scale, y: Scale, kind: ScaleKind, colour: number): string {
  const xs = points.map((point) => point.x);
  const [from, to] = [Math.min(...xs), Math.max(...xs)];
  const way = Array.from({ length: FIT_STEPS + 1 }, (_, step): [number, number] => {
    const share = step / FIT_STEPS;
    const at = kind === "log" && from > 0 ? from * (to / from) ** share : from + (to - from) * share;
    return [x.at(at), inside(y.at(Math.max(base + perX * at, Number.MIN_VALUE)))];
  });
  return path(way, { class: `s${colour} fit` });
}

function inside(place: number): number {
  return Math.min(BOTTOM, Math.max(TOP, place));
}

/** The places that were measured, but for those whose numbers would touch. */
function apart(xs: readonly number[], at: (value: number) => number): number[] {
  const kept: number[] = [];
  for (const place of [...new Set(xs)].toSorted((a, b) => a - b))
    if (kept.length === 0 || at(place) - at(kept.at(-1)!) > 34) kept.push(place);
  return kept;
}
