/** The table at the end: a line per attack, what it came to and what it cost the others; below it what was broken, and the sums. */
import { styleText } from "node:util";
import { median } from "../../src/cli/bench/statistics.ts";
import { RESTING_SHARE } from "./order.ts";
import type { Residue } from "./order.ts";
import type { Performance } from "./supervise.ts";
import type { Felt } from "./stay.ts";
import type { Settled, Trial } from "./trial.ts";
import { broken, feltOf } from "./verdict.ts";

type Style = Parameters<typeof styleText>[0];
// Looks at NO_COLOR and at whether stdout is a terminal.
const paint = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout });

/** Texts are on the left, numbers on the right. */
const COLUMNS: readonly { readonly head: string; readonly isText?: boolean; readonly cell: (trial: Trial) => string }[] = [
  { head: "", isText: true, cell: (trial) => (broken(trial).length === 0 ? "✓" : "✗") },
  { head: "attack", isText: true, cell: ({ id }) => id },
  { head: "came to", isText: true, cell: ({ calls }) => shortened(calls.map(words)) },
  { head: "after", cell: ({ calls }) => ms(Math.max(...calls.map(({ tookMs }) => tookMs))) },
  { head: "of", cell: ({ calls }) => ms(calls.at(-1)!.budgetMs) },
  {
    head: "stayed",
    isText: true,
    cell: ({ attempts }) => attempts.at(-1)!.stay.end + (attempts.length > 1 ? `, ${attempts.length} times` : ""),
  },
  { head: "quiet p99", cell: (trial) => ofFelt(trial, ({ quietP99Ms }) => quietP99Ms) },
  { head: "p99", cell: (trial) => ofFelt(trial, ({ p99Ms }) => p99Ms) },
  { head: "at first", cell: (trial) => ofFelt(trial, ({ noticeP99Ms }) => noticeP99Ms) },
  { head: "longest stall", cell: (trial) => ms(feltOf(trial).longestMs) },
  { head: "sync", cell: (trial) => ofFelt(trial, ({ syncMs }) => syncMs) },
  { head: "stalled", cell: (trial) => `${(feltOf(trial).share * 100).toFixed(1)} %` },
  { head: "named", isText: true, cell: (trial) => (isNamed(trial) ? "yes" : "") },
  { head: "moved", isText: true, cell: ({ isMoved, isStopped }) => (isStopped ? "stopped" : isMoved ? "yes" : "") },
  { head: "replaced", cell: ({ restarts }) => count(restarts.length) },
  {
    head: "blamed wrongly",
    cell: ({ innocents, restarts }) => count(innocents.length + restarts.filter(({ culprit }) => !culprit).length),
  },
  { head: "passed wrongly", cell: ({ drives }) => count(drives.passed) },
  { head: "sent", cell: ({ benign, drives }) => String(benign.sent + drives.sent) },
  { head: "wrong", cell: ({ benign, drives }) => count(benign.wrong + benign.lost + drives.failed) },
  { head: "again", cell: ({ benign }) => count(benign.retried) },
  { head: "gateway", cell: ({ gatewayRssMb }) => `${Math.round(gatewayRssMb)} MB` },
  { head: "sandbox", cell: ({ sandboxRssMb }) => `${Math.round(sandboxRssMb)} MB` },
];

export function table(trials: readonly Trial[]): string[] {
  const rows = trials.map((trial) => ({ cells: COLUMNS.map(({ cell }) => cell(trial)), faults: broken(trial) }));
  const widths = COLUMNS.map(({ head }, at) => Math.max(head.length, ...rows.map(({ cells }) => cells[at]!.length)));
  const line = (row: readonly string[]): string =>
    row.map((cell, at) => (COLUMNS[at]!.isText ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join("  ");
  return [
    paint("dim", line(COLUMNS.map(({ head }) => head))),
    ...rows.flatMap(({ cells, faults }) => [
      faults.length === 0 ? line(cells).replace("✓", paint("green", "✓")) : paint("red", line(cells)),
      ...faults.map((fault) => paint("red", `     ${fault.slice(0, 400)}`)),
    ]),
  ];
}

function ofFelt({ attempts }: Trial, pick: (felt: Felt) => number): string {
  const felt = attempts.flatMap(({ stay }) => stay.felt ?? []);
  return felt.length === 0 ? "" : ms(median(felt.map(pick)));
}

const isNamed = ({ named, calls }: Trial): boolean => named.length > 0 || calls.some((call) => call.named.length > 0);
const count = (n: number): string => (n === 0 ? "" : String(n));
const SHOWN_CALLS = 3;
const shortened = (all: readonly string[]): string =>
  all.length > SHOWN_CALLS ? `${all.slice(0, SHOWN_CALLS).join(", ")} …` : all.join(", ");

const words = ({ phase, status, code }: Settled): string =>
  phase === "load" ? `load ${status}${code === undefined ? "" : ` (${code})`}` : status;

function ms(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

export interface Sums {
  readonly attacks: number;
  readonly failed: number;
  readonly gatewayDeaths: number;
  readonly replacements: number;
  readonly benign: {
    readonly sent: number;
    readonly right: number;
    readonly wrong: number;
    readonly blocked: number;
    readonly lost: number;
    readonly retried: number;
  };
  /** What was driven beside attacks, and let through wrongly. */
  readonly driven: number;
  readonly passed: number;
  /** Innocent plugins that were blamed, and restarts that named no plugin. */
  readonly blamed: number;
  readonly stayed: number;
  readonly orphans: number;
  readonly residues: readonly Residue[];
  readonly faults: readonly string[];
}

export function sums({ trials, rests, deaths, orphans, residues }: Performance): Sums {
  const tallies = [...trials.map(({ benign }) => benign), ...rests];
  const total = (pick: (benign: Trial["benign"]) => number): number => tallies.reduce((sum, benign) => sum + pick(benign), 0);
  const failed = trials.filter((trial) => broken(trial).length > 0).length;
  return {
    attacks: trials.length + deaths.length,
    failed: failed + deaths.length,
    gatewayDeaths: deaths.length,
    replacements: trials.reduce((sum, { restarts }) => sum + restarts.length, 0),
    benign: {
      sent: total(({ sent }) => sent),
      right: total(({ right }) => right),
      wrong: total(({ wrong }) => wrong),
      blocked: total(({ blocked }) => blocked),
      lost: total(({ lost }) => lost),
      retried: total(({ retried }) => retried),
    },
    driven: trials.reduce((sum, { drives }) => sum + drives.sent, 0),
    passed: trials.reduce((sum, { drives }) => sum + drives.passed, 0),
    blamed: trials.reduce(
      (sum, { innocents, restarts }) => sum + innocents.length + restarts.filter(({ culprit }) => culprit === undefined).length,
      0,
    ),
    stayed: trials.filter(({ attempts }) => attempts.some(({ stay }) => stay.felt)).length,
    orphans,
    residues,
    faults: [
      ...rests
        .filter(({ wrong, lost }) => wrong + lost > 0)
        .map(({ wrong, lost, examples }) => `outside of any attack ${wrong} benign calls wrong, ${lost} lost: ${examples[0]}`),
      ...deaths.map(({ id, how }) => `${id}: ${how}`),
      ...(orphans > 0 ? [`${orphans} sandbox processes outlived the gateway`] : []),
      ...residues
        .filter(({ cpuShare }) => cpuShare > RESTING_SHARE)
        .map(({ cpuShare }) => `with nothing to do it still uses ${Math.round(cpuShare * 100)} % of a core`),
      ...residues.filter(({ strays }) => strays > 0).map(({ strays }) => `${strays} child processes are left when the host is closed`),
    ],
  };
}

export function summaryLines(sum: Sums): string[] {
  const { attacks, failed, gatewayDeaths, replacements, benign, driven, passed, blamed, stayed, faults } = sum;
  const isWhole = failed === 0 && faults.length === 0;
  return [
    ...faults.map((fault) => paint("red", `✗ ${fault}`)),
    `${attacks} attacks, ${stayed} of them left in place (the others were over), ${replacements} times the process was replaced, ${gatewayDeaths} times the gateway died`,
    `${benign.sent} benign calls: ${benign.right} right, ${benign.wrong} wrong (${benign.blocked} blocked), ${benign.lost} lost; ${benign.retried} handlers called again`,
    `${driven} calls beside an attack: ${passed} let through wrongly; ${blamed} times an innocent plugin was blamed, or no plugin was`,
    paint(isWhole ? "green" : "red", isWhole ? "every rule held" : `${failed} attacks broke a rule`),
  ];
}
