/**
 * How long commands take against an empty Node, in one run with interleaved rounds: `node scripts/cli-times.ts <folder> [id]`. The folder
 * has a creel.json with the installed plugin `id`. Needs `npm run build`. Wall times: run it on a machine that does nothing else.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const [cwd = ".", id = "redact-secrets"] = process.argv.slice(2);
const cli = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const ROUNDS = Number(process.env.ROUNDS ?? 15);
/** What each may take at most, as a multiple of an empty Node. */
const COMMANDS: Readonly<Record<string, { readonly args: readonly string[]; readonly most: number }>> = {
  node: { args: ["-e", "0"], most: 1 },
  "creel --help": { args: [cli, "--help"], most: 2 },
  "creel list": { args: [cli, "list"], most: 3 },
  "creel inspect": { args: [cli, "inspect", id], most: 5 },
  "creel doctor": { args: [cli, "doctor"], most: 15 },
};

const times = new Map<string, number[]>();
for (let round = 0; round < ROUNDS; round++)
  for (const [name, { args }] of Object.entries(COMMANDS)) {
    const begun = performance.now();
    spawnSync(process.execPath, args, { cwd, stdio: "ignore" });
    times.set(name, [...(times.get(name) ?? []), performance.now() - begun]);
  }
const median = (name: string): number => times.get(name)!.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!;
for (const [name, { most }] of Object.entries(COMMANDS))
  console.log(
    `${name.padEnd(14)} ${median(name).toFixed(0).padStart(5)} ms  ${(median(name) / median("node")).toFixed(1)} x (at most ${most} x)`,
  );
