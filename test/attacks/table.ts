/** The table at the end: a line per attack, what it came to and what it cost the others; below it what was broken, and the sums. */
import { styleText } from "node:util";
import { RESTING_SHARE } from "./order.ts";
import type { Residue } from "./order.ts";
import type { Performance } from "./supervise.ts";
import type { Settled, Trial } from "./trial.ts";
import { broken } from "./verdict.ts";

type Style = Parameters<typeof styleText>[0];
// Looks at NO_COLOR and at whether stdout is a terminal.
const paint = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout });

const HEAD = ["", "attack", "came to", "after", "of", "replaced", "sent", "right", "again", "p50", "p99", "gap", "gateway", "sandbox"];

export function table(trials: readonly Trial[]): string[] {
  const rows = trials.map((trial) => ({ cells: cells(trial), faults: broken(trial) }));
  const widths = HEAD.map((head, at) => Math.max(head.length, ...rows.map(({ cells: row }) => row[at]!.length)));
  const line = (row: readonly string[]): string =>
    row.map((cell, at) => (at < 3 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join("  ");
  return [
    paint("dim", line(HEAD)),
    ...rows.flatMap(({ cells: row, faults }) => [
      faults.length === 0 ? line(row).replace("✓", paint("green", "✓")) : paint("red", line(row)),
      ...faults.map((fault) => paint("red", `     ${fault.slice(0, 400)}`)),
    ]),
  ];
}

function cells(trial: Trial): string[] {
  const { id, calls, restarts, benign, gapMs, gatewayRssMb, sandboxRssMb } = trial;
  const last = calls.at(-1)!;
  return [
    broken(trial).length === 0 ? "✓" : "✗",
    id,
    calls.map(words).join(", "),
    ms(Math.max(...calls.map(({ tookMs }) => tookMs))),
    ms(last.budgetMs),
    restarts.length === 0 ? "" : String(restarts.length),
    String(benign.sent),
    String(benign.right),
    benign.retried === 0 ? "" : String(benign.retried),
    ms(benign.p50Ms),
    ms(benign.p99Ms),
    ms(gapMs),
    `${Math.round(gatewayRssMb)} MB`,
    `${Math.round(sandboxRssMb)} MB`,
  ];
}

const words = ({ phase, status }: Settled): string => (phase === "load" ? `load ${status}` : status);

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

export function summaryLines({ attacks, failed, gatewayDeaths, replacements, benign, faults }: Sums): string[] {
  const isWhole = failed === 0 && faults.length === 0;
  return [
    ...faults.map((fault) => paint("red", `✗ ${fault}`)),
    `${attacks} attacks, ${replacements} times the process was replaced, ${gatewayDeaths} times the gateway died`,
    `${benign.sent} benign calls: ${benign.right} right, ${benign.wrong} wrong (${benign.blocked} blocked), ${benign.lost} lost; ${benign.retried} handlers called again`,
    paint(isWhole ? "green" : "red", isWhole ? "every rule held" : `${failed} attacks broke a rule`),
  ];
}
