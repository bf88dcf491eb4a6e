/** The report for a terminal: ratios first, each beside its target; then where they come from. */
import { isMet } from "../case.ts";
import type { Ratio } from "../case.ts";
import { sparklines } from "../../src/cli/bench/histogram.ts";
import { machineLine } from "../../src/cli/bench/machine.ts";
import { METHOD } from "../../src/cli/bench/measure.ts";
import type { Terminal } from "../../src/cli/ui/terminal.ts";
import { doubts, verdict } from "./data.ts";
import type { CaseData, ReportData } from "./data.ts";
import { fitOf } from "./fit.ts";
import { amount, quantity, short } from "./numbers.ts";
import { targetText } from "./page.ts";

export function print(data: ReportData, terminal: Terminal): void {
  const { line, paint } = terminal;
  for (const one of data.cases) printCase(one, terminal);
  const absent = new Map(data.cases.flatMap((one) => one.absent.map(({ name, why }) => [name, why])));
  for (const [name, why] of absent) line(paint("yellow", `absent: ${name}: ${why}`));
  const failed = data.cases.filter(({ error }) => error !== undefined);
  for (const { name, error } of failed) line(paint("red", `not measured: ${name}: ${error}`));
  const { held, missed } = verdict(data, isMet);
  line(paint(missed + failed.length > 0 ? "yellow" : "green", `${held - missed} of ${held} targets met`));
  for (const text of METHOD) line(paint("dim", text));
  line(paint("dim", `${machineLine(data.machine)}, ${data.loadAtEnd} at the end`));
  for (const doubt of doubts(data)) line(paint("yellow", `! ${doubt}`));
}

function printCase({ name, question, ratios, series, curves, error }: CaseData, { line, paint }: Terminal): void {
  line(paint("bold", name));
  line(paint("dim", `  ${question}`));
  if (error !== undefined) line(paint("red", `  ✗ not measured: ${error}`));
  for (const ratio of ratios) line(`  ${ratioLine(ratio, paint)}`);
  for (const { what, x, unit, lines } of curves) {
    line(`  ${what}`);
    for (const one of lines) {
      const fit = fitOf(one, unit, x.unit ?? x.name);
      const points = one.points.map((point) => `${short(point.x)}: ${short(point.value)}`).join("  ");
      line(paint("dim", `      ${one.name}  ${points} ${unit}`));
      if (fit) line(`        ${fit.isExpected ? paint("green", "✓") : paint("red", "✗")} ${fit.words}`);
    }
  }
  const width = Math.max(0, ...series.map((one) => one.name.length));
  const sparks = sparklines(series.map(({ bins }) => bins));
  for (const [at, one] of series.entries())
    line(
      paint(
        "dim",
        `      ${sparks[at]}  ${one.name.padEnd(width)}  median ${quantity(one.median, one.unit)}, 10 % ${quantity(one.p10, one.unit)}, 90 % ${quantity(one.p90, one.unit)}${one.cpuUs ? `, CPU ${quantity(one.cpuUs.median, "µs")}` : ""}`,
      ),
    );
  line();
}

function ratioLine(ratio: Ratio, paint: Terminal["paint"]): string {
  const { what, value, low, high, target, unit } = ratio;
  const mark = !target ? paint("dim", "·     ") : isMet(ratio) ? paint("green", "✓ pass") : paint("red", "✗ miss");
  const number = amount(value, unit).padStart(8);
  const interval = `[${short(low)} … ${short(high)}]`.padEnd(15);
  return `${mark} ${target ? paint("bold", number) : number} ${interval} ${targetText(ratio).padEnd(15)} ${what}`;
}
