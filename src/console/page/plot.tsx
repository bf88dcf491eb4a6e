/** The page: a plot over time. uPlot draws on a canvas and sets its labels as text. */
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { bytes, clock } from "./text.ts";

export interface Series {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

/** Told apart in light and dark, and by people who see few colours. */
const COLORS = ["#3b7dd8", "#d9822b", "#2a9d74", "#b5548f", "#8a7a3d", "#6f6fd0"];
const HEIGHT = 170;
/** Between the marks of an axis of bytes, whose units are no thousands. */
const POWERS_OF_TWO = Array.from({ length: 44 }, (_, power) => 2 ** power);

export function Plot({
  times,
  series,
  unit,
}: {
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly unit: (value: number) => string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const data = [times.map((at) => at / 1_000), ...series.map(({ values }) => [...values])] as uPlot.AlignedData;
  const names = series.map(({ label }) => label).join("\n");
  useEffect(() => {
    const element = box.current!;
    const style = getComputedStyle(element);
    const ink = style.getPropertyValue("--quiet");
    const grid = { stroke: style.getPropertyValue("--line"), width: 1 };
    const axis = { stroke: ink, grid, ticks: { show: false }, font: "11px system-ui" };
    const shown = (self: uPlot, at: number | null | undefined): string =>
      at ? clock(at * 1_000) : self.data[0].length > 0 ? "latest" : "";
    plot.current = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { live: true },
        cursor: { y: false, points: { size: 5 } },
        scales: { y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.1 : 1] } },
        axes: [
          { ...axis, size: 30, space: 80, values: (_, ticks) => ticks.map((at) => clock(at * 1_000)) },
          { ...axis, size: 64, values: (_, ticks) => ticks.map(unit), ...(unit === bytes && { incrs: POWERS_OF_TWO }) },
        ],
        series: [
          { label: "at", value: shown },
          ...series.map(({ label }, at) => ({
            label,
            stroke: COLORS[at % COLORS.length]!,
            width: 1.5,
            // One or two moments are no line.
            points: { show: (self: uPlot, line: number) => told(self, line).length < 3 },
            // Nothing was called for a while: the line goes on to the next point.
            spanGaps: true,
            // While nobody points at the plot: the latest.
            value: (self: uPlot, value: number | null, line: number, index: number | null) => {
              const one = index === null ? told(self, line).at(-1) : value;
              return one === null || one === undefined ? "–" : unit(one);
            },
          })),
        ],
      },
      data,
      element,
    );
    const observer = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
    };
    // A plot is made anew when its lines change, not when they grow.
  }, [names]);
  useEffect(() => plot.current?.setData(data), [times.at(-1), names]);
  return <div class="plot" ref={box} />;
}

/** The values of a line, without the moments that have none. */
function told(plot: uPlot, line: number): number[] {
  return (plot.data[line] as Series["values"]).filter((one) => one !== null);
}

/** A line without axes, for a tile. */
export function Spark({ values }: { readonly values: readonly number[] }) {
  const shown = values.slice(-60);
  const most = Math.max(...shown, 1e-9);
  const points = shown.map(
    (value, at) => `${((100 * at) / Math.max(1, shown.length - 1)).toFixed(1)},${(23 - (22 * value) / most).toFixed(1)}`,
  );
  return (
    <svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      {shown.length > 1 && <polyline points={points.join(" ")} />}
    </svg>
  );
}
