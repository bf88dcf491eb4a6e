/**
 * `npm run test:attacks`: the corpus under load, latency and recovery, attacks on thread isolation, a soak. One part after the
 * other, each in a process of its own; all of them run, whatever the ones before came to. `--brief` is what `npm test` runs: the
 * same attacks and the same rules, but bounds of time have room, since a machine of CI has other work, too. Any other options
 * are those of the corpus (see run.ts), and then it runs alone.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { styleText } from "node:util";

interface Part {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
}

const CORPUS = { name: "the corpus, under load", file: "./run.ts" };
const SOAK = { name: "a short soak", file: "../../scripts/soak.ts", args: ["--minutes", "0.2"] };
const THREAD = { name: "thread isolation", file: "./thread.ts", args: ["--smoke"] };
const ROOM = ["--room", "4"];

const FULL: readonly Part[] = [{ ...CORPUS, args: [] }, { name: "latency and recovery", file: "./latency.ts", args: [] }, THREAD, SOAK];
/** Latency and recovery are nothing but bounds of time. */
const BRIEF: readonly Part[] = [{ ...CORPUS, args: ["--late", "12"] }, THREAD, SOAK].map((part) => ({
  ...part,
  args: [...part.args, ...ROOM],
}));

const options = process.argv.slice(2);
const isBrief = options[0] === "--brief";
const isWhole = isBrief || options.length === 0;
const parts = isBrief ? BRIEF : isWhole ? FULL : [{ ...CORPUS, args: options }];
const results: string[] = [];
for (const part of parts) {
  if (isWhole) console.log(`\n${paint("bold", part.name)}`);
  const startedMs = performance.now();
  const code = await run(part);
  results.push(
    `${code === 0 ? paint("green", "✓") : paint("red", "✗")} ${part.name}, ${Math.round((performance.now() - startedMs) / 1_000)} s`,
  );
  if (code !== 0) process.exitCode = code;
}
if (isWhole) console.log(`\n${results.join("\n")}`);

async function run({ file, args }: Part): Promise<number> {
  const child = spawn(process.execPath, ["-C", "source", fileURLToPath(new URL(file, import.meta.url)), ...args], { stdio: "inherit" });
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

function paint(style: Parameters<typeof styleText>[0], text: string): string {
  return styleText(style, text, { stream: process.stdout });
}
