/** `npm run test:attacks`: every attack of the corpus against a host under load; a table at the end. Exit code 1 when a rule was broken. */
import { parseArgs } from "node:util";
import { machine, machineLine } from "../../src/cli/bench/machine.ts";
import { GROWERS, LONG, SHORT } from "./budgets.ts";
import { CONTROL, FELT, readCorpus } from "./corpus.ts";
import type { Order } from "./order.ts";
import { perform } from "./supervise.ts";
import type { OnProgress } from "./supervise.ts";
import { summaryLines, sums, table } from "./table.ts";
import { broken } from "./verdict.ts";

const HELP = `npm run test:attacks -- [options]

Runs the hostile plugins of test/attacks/corpus against a host that serves 200 benign calls a second meanwhile. An attack that may still act when
its call has settled is left in place for 20 s; README.md says what is judged.

  --only <name>       this attack alone, with the control
  --filter <text>     only attacks whose name contains the text
  --rounds <n>        the whole corpus so many times over; default 1. From the second round on only those that may act later stay, for
                      1.5 s; those of sta, gwc, blm, apr and mod once for 6 s
  --benign <n>        go on with the benign load until so many calls were made
  --late <seconds>    how long attacks that may still act stay, in the first round; default 20
  --stay <seconds>    leave every attack in place for so long, those that are over, too; 0: none of them
  --long <text|all>   attacks that are also run with budgets of seconds, so that they reach the limits of memory; default: those that abort V8
  --room <n>          multiply the bounds of time by this, for a machine that others use, too; an attack then leaves as soon as the host has
                      done what is expected of it
  --isolation <kind>  process (default) or thread; thread does not survive all of it
  --json              data on stdout instead of the table
  --help

example: npm run test:attacks -- --filter mem- --long all`;

const { values: flags } = parseArgs({
  options: {
    only: { type: "string" },
    filter: { type: "string", default: "" },
    rounds: { type: "string", default: "1" },
    benign: { type: "string", default: "0" },
    late: { type: "string", default: "20" },
    stay: { type: "string" },
    long: { type: "string", default: "" },
    room: { type: "string", default: "1" },
    isolation: { type: "string", default: "process" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

/** Of the rounds after the first, which are about what comes seldom: ten of them are to fit into 40 minutes. */
const LATER_STAY_MS = 1_500;
/**
 * Of one later round for each attack whose neighbours are the point: long enough for the p99 to be judged (stay.ts). All of them in every round
 * would take 40 minutes more; so they take five.
 */
const LONGER_STAY_MS = 6_000;

/** Those that abort V8 or fill the machine when they are given the time. */
const ABORTERS = /^mem-(?:02|05|14|22|25)-/;

if (flags.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  const slots = schedule(Number(flags.rounds));
  if (slots.length === 0) {
    console.error(flags.only === undefined ? `no attack has "${flags.filter}" in its name` : `there is no attack "${flags.only}"`);
    process.exitCode = 2;
    return;
  }
  const where = machineLine(machine());
  const isolation = flags.isolation === "thread" ? "thread" : "process";
  const performance = await perform({ isolation, slots, calls: Number(flags.benign) }, progress);
  const sum = sums(performance);
  const verdicts = performance.trials.map((trial) => ({ ...trial, broken: broken(trial) }));
  if (flags.json) console.log(JSON.stringify({ machine: where, sums: sum, deaths: performance.deaths, trials: verdicts }, undefined, 2));
  else console.log(["", ...table(performance.trials), "", ...summaryLines(sum), where].join("\n"));
  if (sum.failed > 0 || sum.faults.length > 0) process.exitCode = 1;
}

/** Every round has ids of its own; the order is always the same, so that a finding can be repeated. */
function schedule(rounds: number): Order["slots"] {
  const isMeant = (name: string): boolean => (flags.only === undefined ? name.includes(flags.filter) : name === flags.only);
  const names = readCorpus()
    .map(({ name }) => name)
    .filter((name) => isMeant(name) || name === CONTROL);
  if (!names.some(isMeant)) return [];
  const given = flags.stay === undefined ? undefined : Number(flags.stay) * 1_000;
  return Array.from({ length: rounds }, (_, round) => {
    const suffix = round === 0 ? "" : `-r${round + 1}`;
    const laterMs = (name: string, at: number): number =>
      FELT.test(name) && at % (rounds - 1) === round - 1 ? LONGER_STAY_MS : LATER_STAY_MS;
    const stay = {
      isForced: given !== undefined && given > 0,
      clockRoom: Number(flags.room),
    };
    return names.flatMap((name, at) => {
      const stayMs = given ?? (round === 0 ? Number(flags.late) * 1_000 : laterMs(name, at));
      return [
        { id: `${name}${suffix}`, attack: name, budget: SHORT, stayMs, ...stay },
        ...(isLong(name) ? [{ id: `${name}-long${suffix}`, attack: name, budget: LONG, stayMs, ...stay }] : []),
      ];
    });
  }).flat();
}

function progress(...[done, of, what]: Parameters<OnProgress>): void {
  const verdict = "how" in what ? what.how : broken(what).join("; ") || what.calls.map(({ status }) => status).join(", ");
  process.stderr.write(`[${done}/${of}] ${what.id} … ${verdict.slice(0, 160)}\n`);
}

function isLong(name: string): boolean {
  if (flags.long === "all") return GROWERS.test(name);
  return flags.long === "" ? ABORTERS.test(name) : name.includes(flags.long);
}
