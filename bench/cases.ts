/** The cases there are, and how one is run: in a child, within its time. Whatever goes wrong there is a finding about that case and no other. */
import { fork } from "node:child_process";
import { readdir } from "node:fs/promises";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import type { Case } from "./case.ts";
import type { CaseData } from "./report/data.ts";
import type { CaseMessage } from "./run-case.ts";
import type { Step } from "../src/cli/bench/measure.ts";

/** A contestant that hangs is not waited for. */
const CASE_MS = 300_000;
const STDERR_CHARS = 2_000;

export async function findCases(filter: string): Promise<string[]> {
  const entries = await readdir(new URL("./cases/", import.meta.url), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && entry.name.includes(filter))
    .map(({ name }) => name)
    .toSorted();
}

export async function questionOf(name: string): Promise<string> {
  const { default: bench } = (await import(`./cases/${name}/case.ts`)) as { default: Case };
  return bench.question;
}

export async function runCase(name: string, effort: "full" | "quick", tell: (step: Step) => void): Promise<CaseData> {
  const started = performance.now();
  const date = new Date().toISOString();
  const outcome = await inChild(name, effort, tell);
  if (typeof outcome !== "string") return { name, date, ...outcome };
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  const load = Math.round(loadavg()[0]! * 100) / 100;
  const question = await questionOf(name).catch(() => "?");
  return { name, date, question, seconds, load, ratios: [], series: [], curves: [], absent: [], error: outcome };
}

/** A text: why there is nothing. */
function inChild(name: string, effort: string, tell: (step: Step) => void): Promise<Omit<CaseData, "name" | "date"> | string> {
  return new Promise((resolve) => {
    const child = fork(fileURLToPath(new URL("./run-case.ts", import.meta.url)), [name, effort], {
      // Creel as it is installed: from sources, types would be stripped whenever a thread or a process starts.
      execArgv: [],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    let stderr = "";
    let data: Omit<CaseData, "name" | "date"> | undefined;
    let isLate = false;
    const clock = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, CASE_MS);
    child.stderr!.setEncoding("utf8").on("data", (text: string) => (stderr = `${stderr}${text}`.slice(-STDERR_CHARS)));
    child.on("message", (message: CaseMessage) => {
      if (message.kind === "step") tell(message.step);
      else data = message.data;
    });
    child.on("close", (code, signal) => {
      clearTimeout(clock);
      const why = isLate ? `it took more than ${CASE_MS / 1000} s` : `${lastWords(stderr)} (ended with ${signal ?? code})`;
      resolve(data ?? why);
    });
  });
}

/** The sentence of the error, without its stack. */
function lastWords(stderr: string): string {
  const lines = stderr.split("\n").filter((line) => line.trim() !== "" && !/^\s+at |^Node\.js v/.test(line));
  return lines.find((line) => /Error/.test(line)) ?? lines.at(-1) ?? "it said nothing";
}
