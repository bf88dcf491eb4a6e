/** The report on stdout, for people: ratios first, each beside its target; then where they come from. */
import { styleText } from "node:util";
import type { CaseResult, Ratio, Target } from "./case.ts";
import { isMet } from "./case.ts";
import { machineLine } from "../src/cli/bench/machine.ts";
import type { Machine } from "../src/cli/bench/machine.ts";
import { METHOD } from "../src/cli/bench/measure.ts";
import type { Series } from "../src/cli/bench/measure.ts";
import { quantile } from "../src/cli/bench/statistics.ts";

export interface Report {
  readonly machine: Machine;
  readonly cases: readonly (CaseResult & { readonly name: string; readonly question: string })[];
}

const BLOCKS = "▁▂▃▄▅▆▇█";
const BINS = 24;

type Style = Parameters<typeof styleText>[0];
// Looks at NO_COLOR and at whether stdout is a terminal.
const paint = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout });

export function render({ machine, cases }: Report): string {
  const lines: string[] = [];
  for (const { name, question, ratios, series } of cases) {
    lines.push(paint("bold", name), paint("dim", `  ${question}`));
    for (const ratio of ratios) lines.push(`  ${ratioLine(ratio)}`);
    const width = Math.max(...series.map((one) => one.name.length));
    for (const one of series) lines.push(paint("dim", `      ${seriesLine(one, series, width)}`));
    lines.push("");
  }
  const held = cases.flatMap(({ ratios }) => ratios.filter(({ target }) => target));
  const missed = held.filter((ratio) => !isMet(ratio)).length;
  lines.push(paint(missed ? "yellow" : "green", `${held.length - missed} of ${held.length} targets met`));
  lines.push(...[...METHOD, machineLine(machine)].map((line) => paint("dim", line)));
  return lines.join("\n");
}

function ratioLine(ratio: Ratio): string {
  const { what, value, low, high, target } = ratio;
  const mark = !target ? paint("dim", "·     ") : isMet(ratio) ? paint("green", "✓ pass") : paint("red", "✗ miss");
  const number = `${value.toFixed(2)} ×`.padStart(8);
  const interval = `[${low.toFixed(2)} … ${high.toFixed(2)}]`.padEnd(15);
  return `${mark} ${target ? paint("bold", number) : number} ${interval} ${targetText(target).padEnd(15)} ${what}`;
}

export function targetText(target: Target | undefined): string {
  if (target?.atMost !== undefined) return `at most ${target.atMost} ×`;
  return target?.atLeast !== undefined ? `at least ${target.atLeast} ×` : "";
}

function seriesLine(series: Series, all: readonly Series[], width: number): string {
  const [p10, p50, p90] = [0.1, 0.5, 0.9].map((q) => quantile(series.samples, q).toPrecision(3)) as [string, string, string];
  return `${sparkline(series, all)}  ${series.name.padEnd(width)}  median ${p50} ${series.unit}, 10 % ${p10}, 90 % ${p90}`;
}

/** The distribution of the samples on a logarithmic axis that all contestants of the case share, so that shifts can be seen. */
function sparkline({ samples }: Series, all: readonly Series[]): string {
  const from = Math.log(Math.min(...all.map((one) => quantile(one.samples, 0.01))));
  const to = Math.log(Math.max(...all.map((one) => quantile(one.samples, 0.97))));
  const counts = Array.from({ length: BINS }, () => 0);
  for (const sample of samples) {
    const bin = Math.floor(((Math.log(sample) - from) / (to - from || 1)) * BINS);
    if (bin >= 0 && bin < BINS) counts[bin]! += 1;
  }
  const most = Math.max(...counts, 1);
  return counts.map((count) => (count === 0 ? " " : BLOCKS[Math.ceil((count / most) * BLOCKS.length) - 1])).join("");
}
