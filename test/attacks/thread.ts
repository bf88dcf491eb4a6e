/**
 * Which attacks thread isolation survives: each is run in a fresh gateway process of its own, since some take that process with them.
 * `--write` puts what was found on record and into docs/security-model.md; `--smoke` runs ten that are on record as survived,
 * and is part of the suite; `--room` is that of run.ts. What V8 does at the end of its memory varies: a second run may find an attack or two elsewhere.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs, styleText } from "node:util";
import { FELT, readCorpus } from "./corpus.ts";
import { GROWERS, LONG, SHORT } from "./budgets.ts";
import { RESTING_SHARE } from "./order.ts";
import { perform } from "./supervise.ts";
import { summaryLines, sums, table } from "./table.ts";
import { broken } from "./verdict.ts";

const { values: flags } = parseArgs({
  options: {
    filter: { type: "string", default: "" },
    write: { type: "boolean", default: false },
    smoke: { type: "boolean", default: false },
    room: { type: "string", default: "1" },
  },
});

const RECORD = new URL("./thread-record.json", import.meta.url);
const DOCS = new URL("../../docs/security-model.md", import.meta.url);
const [BEGIN, END] = ["<!-- thread isolation: made by test/attacks/thread.ts --write -->", "<!-- /thread isolation -->"];

/** From harmless to worst. `hurts`: everything goes on, but an innocent call was answered wrongly or the attacked one late. */
const FATES = ["survives", "hurts", "wedges", "aborts"] as const;
type Fate = (typeof FATES)[number];
const MEANING: Record<Exclude<Fate, "survives">, string> = {
  hurts: "the gateway goes on; a call settled late, or a neighbour's call failed",
  wedges: "a thread of the gateway's process goes on for ever, at the price of a core, or the process cannot end",
  aborts: "the gateway's process is gone",
};
interface Found {
  readonly attack: string;
  readonly fate: Fate;
  readonly how: string;
}

/** Ending in order takes a second at most. */
const SILENCE_MS = 8_000;
const SMOKE = 10;

await (flags.smoke ? smoke() : survey());

async function survey(): Promise<void> {
  const found: Found[] = [];
  for (const { name } of readCorpus().filter(({ name: text }) => text.includes(flags.filter) && !FELT.test(text))) {
    const budgets = GROWERS.test(name) ? [SHORT, LONG] : [SHORT];
    const fates: Found[] = [];
    for (const budget of budgets) fates.push(await fateOf(name, budget));
    const worst = fates.toSorted((a, b) => FATES.indexOf(b.fate) - FATES.indexOf(a.fate))[0]!;
    found.push(worst);
    process.stderr.write(`${name} … ${worst.fate}${worst.how && `: ${worst.how}`}\n`);
  }
  const block = described(found);
  console.log(block);
  if (!flags.write) return;
  writeFileSync(RECORD, `${JSON.stringify(Object.fromEntries(found.map(({ attack, fate }) => [attack, fate])), undefined, 2)}\n`);
  const docs = readFileSync(DOCS, "utf8");
  const [from, to] = [docs.indexOf(BEGIN), docs.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`docs/security-model.md has no block ${BEGIN} … ${END}`);
  writeFileSync(DOCS, `${docs.slice(0, from + BEGIN.length)}\n\n${block}\n\n${docs.slice(to)}`);
}

async function fateOf(name: string, budget: typeof SHORT): Promise<Found> {
  const slots = [{ id: name, attack: name, budget, stayMs: 0, isForced: false }];
  const { trials, deaths, residues } = await perform({ isolation: "thread", slots, calls: 0 }, () => {}, SILENCE_MS);
  const death = deaths[0];
  const burning = residues.find(({ cpuShare }) => cpuShare > RESTING_SHARE);
  if (burning) return { attack: name, fate: "wedges", how: `a thread goes on at ${Math.round(burning.cpuShare * 100)} % of a core` };
  if (death) return { attack: name, fate: death.isSilent ? "wedges" : "aborts", how: death.how };
  const faults = trials.flatMap(broken);
  return { attack: name, fate: faults.length === 0 ? "survives" : "hurts", how: faults[0] ?? "" };
}

function described(found: readonly Found[]): string {
  const of = (fate: Fate): Found[] => found.filter((one) => one.fate === fate);
  const corpus = new Map(readCorpus().map(({ name, what }) => [name, what]));
  const rows = (Object.keys(MEANING) as (keyof typeof MEANING)[]).flatMap((fate) =>
    of(fate).map(({ attack }) => `| ${attack} | ${corpus.get(attack)!.replaceAll("|", String.raw`\|`)} | **${fate}** |`),
  );
  const sentences = (Object.entries(MEANING) as [keyof typeof MEANING, string][]).map(
    ([fate, meaning]) => `- ${of(fate).length} **${fate === "hurts" ? "hurt" : fate.slice(0, -1)}**: ${meaning}.`,
  );
  return [
    `Of ${found.length} plugins of \`test/attacks/corpus\` (all but the families \`sta\`, \`gwc\`, \`blm\` and \`apr\`), each in a gateway process of its own, thread isolation survived ${of("survives").length}: the call was stopped and named, the neighbours were answered, the process ended in order. The others:`,
    "",
    ...sentences,
    "",
    "| attack | what it does | with thread isolation it |",
    "|---|---|---|",
    ...rows,
  ].join("\n");
}

/** Ten of those on record as survived, of as many families as there are, in one gateway. */
async function smoke(): Promise<void> {
  const record = JSON.parse(readFileSync(RECORD, "utf8")) as Record<string, Fate>;
  const survived = Object.keys(record).filter((name) => record[name] === "survives");
  const families = [...Map.groupBy(survived, (name) => name.slice(0, 3)).values()];
  const picked = Array.from({ length: SMOKE }, (_, at) => families[at % families.length]![Math.floor(at / families.length)]!);
  const clockRoom = Number(flags.room);
  const slots = picked.map((name) => ({ id: name, attack: name, budget: SHORT, stayMs: 0, isForced: false, clockRoom }));
  const performance = await perform({ isolation: "thread", slots, calls: 0 }, () => {});
  const sum = sums(performance);
  console.log(
    [styleText("bold", "thread isolation", { stream: process.stdout }), ...table(performance.trials), "", ...summaryLines(sum)].join("\n"),
  );
  // Survival is what is promised here. A neighbour's garbage is collected in the gateway's own process, so nothing is promised about time.
  const hurt = performance.trials.flatMap(broken).filter((fault) => !/^the \w+ settled after/.test(fault));
  if (hurt.length > 0 || sum.faults.length > 0) process.exitCode = 1;
}
