/**
 * A process per hook, as command hooks are run: JSON on its standard input, JSON from its standard output. The cheapest that runs the same JavaScript:
 * Node, no shell around it, a plain script, nothing imported but `fs`.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { contestant } from "../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../src/cli/bench/contestant.ts";
import { eventAt } from "../handlers.ts";
import type { Work } from "../handlers.ts";

export async function spawned(work: Work): Promise<Contestant> {
  const folder = await mkdtemp(join(tmpdir(), "creel-bench-"));
  const script = join(folder, "hook.cjs");
  await writeFile(
    script,
    `const fs = require("fs");
    const handler = ${work.handler};
    const { event, context } = JSON.parse(fs.readFileSync(0, "utf8"));
    const result = handler(event, context);
    if (result !== undefined) fs.writeSync(1, JSON.stringify(result));`,
  );
  const call = async (at: number): Promise<unknown> => {
    const child = spawn(process.execPath, [script], { stdio: ["pipe", "pipe", "ignore"], env: {} });
    child.stdin.end(JSON.stringify({ event: eventAt(work, at), context: work.context }));
    const answer = await text(child.stdout);
    return answer === "" ? undefined : JSON.parse(answer);
  };
  return { ...contestant("a process per hook", call, () => rm(folder, { recursive: true, force: true })), isUnmetered: true };
}
