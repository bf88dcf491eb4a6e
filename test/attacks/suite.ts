/**
 * `npm run test:attacks`: the corpus under load, latency and recovery, ten attacks on thread isolation, a short soak. One part after
 * the other, each in a process of its own; all of them run, whatever the ones before came to. Options are those of the
 * corpus (see run.ts), and then it runs alone.
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

const PARTS: readonly Part[] = [
  // CI has 25 minutes in all; a run by itself leaves attacks in place for 20 s.
  { name: "the corpus, under load", file: "./run.ts", args: ["--late", "6"] },
  { name: "latency and recovery", file: "./latency.ts", args: ["--rounds", "3"] },
  { name: "thread isolation", file: "./thread.ts", args: ["--smoke"] },
  { name: "a short soak", file: "../../scripts/soak.ts", args: ["--minutes", "0.2"] },
];

const options = process.argv.slice(2);
const parts = options.length === 0 ? PARTS : [{ ...PARTS[0]!, args: options }];
const results: string[] = [];
for (const part of parts) {
  if (options.length === 0) console.log(`\n${paint("bold", part.name)}`);
  const startedMs = performance.now();
  const code = await run(part);
  results.push(
    `${code === 0 ? paint("green", "✓") : paint("red", "✗")} ${part.name}, ${Math.round((performance.now() - startedMs) / 1_000)} s`,
  );
  if (code !== 0) process.exitCode = code;
}
if (options.length === 0) console.log(`\n${results.join("\n")}`);

async function run({ file, args }: Part): Promise<number> {
  const child = spawn(process.execPath, ["-C", "source", fileURLToPath(new URL(file, import.meta.url)), ...args], { stdio: "inherit" });
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

function paint(style: Parameters<typeof styleText>[0], text: string): string {
  return styleText(style, text, { stream: process.stdout });
}
