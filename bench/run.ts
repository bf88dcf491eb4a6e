/** `npm run bench`: finds the cases, runs them one after the other, prints what they found. A miss is a finding, not an error; the gate is what fails. */
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { findCases, questionOf, runCase } from "./cases.ts";
import { VERSION, readData, written } from "./report/data.ts";
import type { CaseData, ReportData } from "./report/data.ts";
import { print } from "./report/terminal.ts";
import { DATA, PAGE, writeReport } from "./report/write.ts";
import { machine } from "../src/cli/bench/machine.ts";
import { clock, Progress } from "../src/cli/bench/progress.ts";
import { terminal } from "../src/cli/ui/terminal.ts";

const HELP = `npm run bench -- [options]

Measures Creel against hand-written floors and other ways to run a handler, interleaved. Ratios are the result; see bench/README.md.

  --filter <text>  only cases whose name contains the text
  --quick          fewer rounds: a first look, wider intervals
  --list           the cases and their questions; measures nothing
  --json           data on stdout instead of the table
  --report         write docs/benchmarks.md, its plots and its data; with --filter, those cases replace what the data has of them
  --from <json>    measure nothing: print, or with --report write, what the data of an earlier run says
  --gate           instead of the cases, the regression gate of CI: exits with 1 when Creel has become slower
  --help

examples: npm run bench -- --filter thread --quick
          npm run bench -- --report
          npm run bench -- --from docs/benchmarks/data.json --report`;

const OPTIONS = {
  filter: { type: "string", default: "" },
  quick: { type: "boolean", default: false },
  list: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  report: { type: "boolean", default: false },
  from: { type: "string" },
  gate: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

const [out, err] = [terminal(process.stdout), terminal(process.stderr)];

// `npm run bench -- --list | head` closes the pipe early; that is the reader's right.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

const given = readFlags();
if (!given) process.exitCode = 2;
else if (given.help) out.line(HELP);
else process.exitCode = await main(given);

function readFlags() {
  try {
    return parseArgs({ options: OPTIONS }).values;
  } catch (error) {
    err.line(`${(error as Error).message}\n\n${HELP}`);
    return undefined;
  }
}
type Flags = NonNullable<ReturnType<typeof readFlags>>;

async function main(flags: Flags): Promise<number> {
  if (flags.gate) return (await import("./gate/gate.ts")).gate(out, err);
  const names = await findCases(flags.filter);
  if (names.length === 0) {
    err.line(`no case has "${flags.filter}" in its name; --list shows them`);
    return 2;
  }
  if (flags.list) {
    for (const name of names) out.line(`${out.paint("bold", name)}  ${await questionOf(name)}`);
    return 0;
  }
  const data = flags.from === undefined ? await measure(names, flags.quick ? "quick" : "full") : await readData(flags.from);
  if (flags.json) out.line(written(data).trimEnd());
  else print(data, out);
  if (flags.report) {
    await writeReport(flags.filter === "" || flags.from !== undefined ? data : joined(await readData(DATA), data));
    err.line(`written: ${PAGE.pathname} and what is beside it in benchmarks/`);
  }
  return data.cases.some(({ error }) => error !== undefined) ? 1 : 0;
}

async function measure(names: readonly string[], effort: ReportData["effort"]): Promise<ReportData> {
  const started = performance.now();
  const [where, date] = [machine(), new Date().toISOString()];
  const expected = await expectations(effort);
  const cases: CaseData[] = [];
  const leftMs = (): number | undefined => {
    const goneMs = performance.now() - started;
    const spent = cases.reduce((sum, { seconds }) => sum + seconds, 0);
    const known = (name: string): number => expected.get(name) ?? (cases.length > 0 ? spent / cases.length : NaN);
    const allMs = spent * 1000 + names.slice(cases.length).reduce((sum, name) => sum + known(name) * 1000, 0);
    return Number.isNaN(allMs) ? undefined : Math.max(0, allMs - goneMs);
  };
  const progress = new Progress(err, leftMs);
  for (const [at, name] of names.entries()) {
    const place = `[${at + 1}/${names.length}] ${name}`;
    progress.begin(place);
    const found = await runCase(name, effort, progress.step);
    cases.push(found);
    progress.end(
      `${place}  ${clock(found.seconds * 1000)}${found.error === undefined ? "" : err.paint("red", `  not measured: ${found.error}`)}`,
    );
  }
  err.line();
  const seconds = Math.round((performance.now() - started) / 1000);
  return { version: VERSION, date, effort, seconds, machine: where, loadAtEnd: Math.round(loadavg()[0]! * 100) / 100, cases };
}

/** How long each case took the last time somebody wrote a report. */
async function expectations(effort: string): Promise<Map<string, number>> {
  const last = await readData(DATA).catch(() => undefined);
  return new Map(last?.effort === effort ? last.cases.map(({ name, seconds }) => [name, seconds]) : []);
}

/** What was measured again replaces what stands there. */
function joined(old: ReportData, { cases }: ReportData): ReportData {
  const all = new Map([...old.cases, ...cases].map((one) => [one.name, one]));
  return { ...old, cases: [...all.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
}
