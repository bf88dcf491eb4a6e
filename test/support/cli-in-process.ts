/** Runs the command in this process: what it prints, and its exit code. Starting it from its sources takes longer than most of what it does. */
import { runCli } from "../../src/cli/cli.ts";
import type { Terminal } from "../../src/cli/ui/terminal.ts";
import { VERBS } from "../../src/cli/verbs/index.ts";

export interface Printed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function creelHere(...args: string[]): Promise<Printed> {
  const page = { out: "", err: "" };
  const pen = (key: "out" | "err"): Terminal => ({
    width: 80,
    line: (text = "") => void (page[key] += `${text}\n`),
    paint: (_, text) => text,
  });
  const code = await runCli(args, VERBS, { out: pen("out"), err: pen("err") });
  return { code, ...page };
}
