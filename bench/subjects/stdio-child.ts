/** A child that stays, without a sandbox in it, over its standard input and output: a line of JSON per call, a line per answer, in order. */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contestant } from "../../src/cli/bench/contestant.ts";
import type { Contestant } from "../../src/cli/bench/contestant.ts";
import { eventAt } from "../handlers.ts";
import type { Work } from "../handlers.ts";

/** Both sides read in the same way. */
const LINES = `function lines(stream, listener) {
  let rest = "";
  stream.setEncoding("utf8").on("data", (chunk) => {
    const texts = (rest + chunk).split("\\n");
    rest = texts.pop();
    for (const text of texts) listener(text);
  });
}`;

export async function stdioChild(work: Work): Promise<Contestant> {
  const folder = await mkdtemp(join(tmpdir(), "creel-bench-"));
  const script = join(folder, "child.cjs");
  await writeFile(
    script,
    `${LINES}
    const handler = ${work.handler};
    lines(process.stdin, (line) => {
      const { event, context } = JSON.parse(line);
      process.stdout.write((JSON.stringify(handler(event, context)) ?? "") + "\\n");
    });`,
  );
  const child = spawn(process.execPath, [script], { stdio: ["pipe", "pipe", "inherit"], env: {} });
  const waiting: ((result: unknown) => void)[] = [];
  let settled = 0;
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const texts = (rest + chunk).split("\n");
    rest = texts.pop()!;
    for (const text of texts) waiting[settled++]!(text === "" ? undefined : JSON.parse(text));
    if (settled === waiting.length) {
      waiting.length = 0;
      settled = 0;
    }
  });
  const call = (at: number): Promise<unknown> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      child.stdin.write(`${JSON.stringify({ event: eventAt(work, at), context: work.context })}\n`);
    });
  const close = async (): Promise<void> => {
    child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  };
  return { ...contestant("a long-lived child over stdio, no sandbox", call, close), pids: () => [child.pid!] };
}
