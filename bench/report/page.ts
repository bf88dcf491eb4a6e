/** docs/benchmarks.md, made of the data of one run: ratios first, then how it grows, then each case, then how it was measured and where. */
import { isMet } from "../case.ts";
import type { Ratio } from "../case.ts";
import { machineLine } from "../../src/cli/bench/machine.ts";
import { METHOD } from "../../src/cli/bench/measure.ts";
import { doubts, verdict } from "./data.ts";
import type { CaseData, ReportData, SeriesData } from "./data.ts";
import { fitOf } from "./fit.ts";
import { amount, short } from "./numbers.ts";
import { ladder, plotsOf } from "./plots/plots.ts";
import type { Plot } from "./plots/plots.ts";

const MADE = "<!-- Made by npm run bench -- --report, of benchmarks/data.json. Do not edit. -->";

export function page(data: ReportData): string {
  const { held, missed } = verdict(data, isMet);
  const top = ladder(data);
  const curved = data.cases.filter(({ curves }) => curves.length > 0);
  const flat = data.cases.filter(({ curves }) => curves.length === 0);
  return `${[
    MADE,
    "# Benchmarks",
    "What a hook costs through Creel: over the least that a sandboxed call can cost on the same machine, beside every other way to run a handler, and as chains, payloads and plugins grow.",
    `**${held - missed} of ${held} targets met** in the run of ${data.date.slice(0, 10)} (${Math.round(data.seconds / 60)} minutes, Node ${data.machine.node}, ${cell(data.machine.cpu)}, ${data.machine.cores} cores). Ratios are the result; times are for orientation and belong to that machine. \`npm run bench\` measures it on yours, \`creel bench ./my-plugin\` measures a plugin of your own.`,
    ...unmeasured(data.cases),
    ...doubts(data).map((doubt) => `> **Doubt:** ${doubt}.`),
    "## Ratios",
    "The median over rounds with its 95 % interval and the 10th and 90th percentile of the rounds, each against its target. Targets were set before the work; more ratios, to be read and not to be met, stand with their cases.",
    targetTable(data.cases),
    ...(top ? ["## Every way to run a handler", image(top)] : []),
    ...(curved.length > 0 ? ["## How it grows", growthTable(curved), ...curved.map((one) => caseSection(one, data))] : []),
    "## The cases",
    ...flat.map((one) => caseSection(one, data)),
    ...absentSection(data.cases),
    "## Method",
    METHOD.map((line) => `- ${line}`).join("\n"),
    "Each case runs in a process of its own. Every contestant is warmed up first; all samples of the rounds count, none is thrown away. More, and what the floors are: [bench/README.md](../bench/README.md). The data of this page, as quantiles and bins, is [benchmarks/data.json](benchmarks/data.json).",
    "## Machine",
    `${cell(machineLine(data.machine))}, ${data.loadAtEnd} at the end. ${data.date}, ${data.effort} effort.`,
  ].join("\n\n")}\n`;
}

function unmeasured(cases: readonly CaseData[]): string[] {
  const names = cases.filter(({ error }) => error !== undefined).map(({ name }) => `[${name}](#${name})`);
  return names.length === 0 ? [] : [`> **Not measured:** ${names.join(", ")}.`];
}

function targetTable(cases: readonly CaseData[]): string {
  const rows = cases.flatMap(({ name, ratios }) =>
    ratios
      .filter(({ target }) => target)
      .map((ratio) => [...numbers(ratio), spreadText(ratio), targetText(ratio), mark(ratio), `${ratio.what} ([${name}](#${name}))`]),
  );
  return table(["ratio", "95 % interval", "10 % … 90 %", "target", "", "what"], rows);
}

function readTable(ratios: readonly Ratio[]): string[] {
  const rows = ratios.filter(({ target }) => !target).map((ratio) => [...numbers(ratio), spreadText(ratio), ratio.what]);
  return rows.length === 0 ? [] : [table(["ratio", "95 % interval", "10 % … 90 %", "what"], rows)];
}

function numbers({ value, low, high, unit }: Ratio): [string, string] {
  return [`**${amount(value, unit)}**`, `${short(low)} … ${short(high)}`];
}

/** How far the rounds lie apart: a count, and a quantile of all rounds together, have none. */
function spreadText({ spread }: Ratio): string {
  return spread ? `${short(spread[0])} … ${short(spread[1])}` : "";
}

function mark(ratio: Ratio): string {
  return isMet(ratio) ? "met" : "**missed**";
}

export function targetText({ target, unit: own }: Ratio): string {
  const unit = own ?? "×";
  if (target?.atMost !== undefined) return `at most ${target.atMost} ${unit}`;
  return target?.atLeast !== undefined ? `at least ${target.atLeast} ${unit}` : "";
}

function growthTable(cases: readonly CaseData[]): string {
  const rows = cases.flatMap(({ curves }) =>
    curves.flatMap(({ what, x, unit, lines }) =>
      lines.flatMap((line) => {
        const fit = fitOf(line, unit, x.unit ?? x.name);
        return fit ? [[what, line.name, fit.kind, fit.words, fit.isExpected ? "ok" : "**FAIL**"]] : [];
      }),
    ),
  );
  const words =
    "Each line is fitted by least squares on its medians, by relative error. Linear: a straight line lies within 30 % of every interval, or the line bends downwards. Flat: no point lies above another by more than their intervals and 10 %.";
  return rows.length === 0 ? words : `${words}\n\n${table(["", "line", "expected", "found", ""], rows)}`;
}

function caseSection(one: CaseData, data: ReportData): string {
  const parts = [`### ${one.name}`, cell(`${one.question[0]!.toUpperCase()}${one.question.slice(1)}`)];
  if (Date.parse(one.date) > Date.parse(data.date) + data.seconds * 1000) parts.push(`Measured again later, ${one.date}.`);
  if (one.error !== undefined) parts.push(`**Not measured:** ${cell(one.error)}`);
  parts.push(...plotsOf(one).map(image), ...readTable(one.ratios));
  if (one.series.length > 0) parts.push(seriesTable(one.series));
  return parts.join("\n\n");
}

function seriesTable(series: readonly SeriesData[]): string {
  const hasCpu = series.some(({ cpuUs }) => cpuUs);
  return table(
    ["", "median", "10 %", "90 %", "99 %", "unit", "samples", ...(hasCpu ? ["CPU per call (10 % … 90 %)"] : [])],
    series.map(({ name, unit, median, p10, p90, p99, samples, cpuUs }) => [
      name,
      `**${short(median)}**`,
      short(p10),
      short(p90),
      short(p99),
      unit,
      samples.toLocaleString("en-US"),
      ...(hasCpu ? [cpuUs ? `${short(cpuUs.median)} µs (${short(cpuUs.p10)} … ${short(cpuUs.p90)})` : ""] : []),
    ]),
  );
}

function absentSection(cases: readonly CaseData[]): string[] {
  const absent = new Map(cases.flatMap((one) => one.absent.map(({ name, why }) => [name, why])));
  if (absent.size === 0) return [];
  return ["## Absent", "Not measured, because it is not on that machine. Nothing is guessed.", table(["", "why"], Array.from(absent))];
}

function image({ file, title }: Plot): string {
  return `![${cell(title)}](benchmarks/${file})`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [row(head), `|${head.map(() => " --- |").join("")}`, ...rows.map(row)].join("\n");
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(cell).join(" | ")} |`;
}

function cell(text: string): string {
  return text.replaceAll("<", "&lt;").replaceAll("|", "\\|").replaceAll("\n", " ");
}
