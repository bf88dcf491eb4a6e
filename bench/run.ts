/** `npm run bench`: finds the cases, runs them one after the other, prints what they found. A miss is a finding, not an error, unless --gate. */
import { readdir } from "node:fs/promises";
import { parseArgs } from "node:util";
import { isMet } from "./case.ts";
import type { Case } from "./case.ts";
import { machine } from "../src/cli/bench/machine.ts";
import { FULL, METHOD, QUICK } from "../src/cli/bench/measure.ts";
import { render } from "./report.ts";
import type { Report } from "./report.ts";
import { quantile } from "../src/cli/bench/statistics.ts";

const HELP = `npm run bench -- [options]

Measures Creel against hand-written floors, interleaved in one run. Ratios are the result; see bench/README.md.

  --filter <text>  only cases whose name contains the text
  --quick          fewer rounds: a first look, wider intervals
  --json           data on stdout instead of the table
  --gate           exit with 1 when a target is missed
  --help

example: npm run bench -- --filter thread --quick`;

const { values: flags } = parseArgs({
  options: {
    filter: { type: "string", default: "" },
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    gate: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (flags.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  const names = (await readdir(new URL("./cases/", import.meta.url))).filter((name) => name.includes(flags.filter)).toSorted();
  if (names.length === 0) {
    console.error(`no case has "${flags.filter}" in its name`);
    process.exitCode = 2;
    return;
  }
  const effort = flags.quick ? QUICK : FULL;
  const where = machine();
  const cases: Report["cases"][number][] = [];
  for (const [at, name] of names.entries()) {
    const started = performance.now();
    process.stderr.write(`[${at + 1}/${names.length}] ${name} … `);
    const { default: bench } = (await import(`./cases/${name}/case.ts`)) as { default: Case };
    cases.push({ name, question: bench.question, ...(await bench.run(effort)) });
    process.stderr.write(`${((performance.now() - started) / 1000).toFixed(1)} s\n`);
  }
  const report: Report = { machine: where, cases };
  console.log(flags.json ? JSON.stringify(forMachines(report), undefined, 2) : `\n${render(report)}`);
  if (flags.gate && cases.some(({ ratios }) => ratios.some((ratio) => !isMet(ratio)))) process.exitCode = 1;
}

function forMachines({ machine: where, cases }: Report): object {
  return {
    machine: where,
    method: METHOD,
    cases: cases.map(({ name, question, ratios, series }) => ({
      name,
      question,
      ratios: ratios.map((ratio) => ({ ...ratio, ...(ratio.target && { met: isMet(ratio) }) })),
      series: series.map((one) => ({
        name: one.name,
        unit: one.unit,
        samples: one.samples.length,
        p10: quantile(one.samples, 0.1),
        median: quantile(one.samples, 0.5),
        p90: quantile(one.samples, 0.9),
      })),
    })),
  };
}
