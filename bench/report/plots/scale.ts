/** From numbers to places, with ticks where people expect them. */
export interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

export type ScaleKind = "linear" | "log";

/** `isTight`: it ends where the values end, not at the next tick. */
export function scale(kind: ScaleKind, values: readonly number[], from: number, to: number, isTight = false): Scale {
  return kind === "log" && values.every((value) => value > 0) ? logarithmic(values, from, to) : linear(values, from, to, isTight);
}

/** From zero, or a small difference looks like a large one. */
function linear(values: readonly number[], from: number, to: number, isTight: boolean): Scale {
  const most = Math.max(...values, 0) || 1;
  const step = niceStep(most / 5);
  const last = Math.ceil((most / step) * 0.999) * step;
  const end = isTight ? most : last;
  return {
    at: (value) => from + (value / end) * (to - from),
    ticks: Array.from({ length: Math.round(last / step) + 1 }, (_, at) => at * step),
  };
}

function niceStep(rough: number): number {
  const ten = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5].find((nice) => nice * ten >= rough) ?? 10) * ten;
}

function logarithmic(values: readonly number[], from: number, to: number): Scale {
  const [low, high] = [Math.min(...values) / 1.15, Math.max(...values) * 1.15];
  const [start, end] = [Math.log(low), Math.log(high)];
  const decades = (end - start) / Math.LN10;
  const nice = decades > 2.5 ? [1] : decades > 1.2 ? [1, 3] : [1, 2, 3, 5, 7];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
    for (const digit of nice) {
      const tick = Number((digit * 10 ** power).toPrecision(3));
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  return { at: (value) => from + ((Math.log(value) - start) / (end - start || 1)) * (to - from), ticks };
}

/** Moves places apart that are nearer to each other than `gap`, in their order, and keeps them between the ends. */
export function spread(places: readonly number[], gap: number, from: number, to: number): number[] {
  const order = places.map((place, index) => ({ place, index })).toSorted((a, b) => a.place - b.place);
  let last = -Infinity;
  for (const one of order) last = one.place = Math.max(one.place, last + gap, from);
  let next = to + gap;
  for (const one of order.toReversed()) next = one.place = Math.min(one.place, next - gap);
  const spreadOut = [...places];
  for (const { place, index } of order) spreadOut[index] = place;
  return spreadOut;
}
