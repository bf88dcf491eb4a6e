/**
 * The command blocks of a guide. ```console blocks have commands after "$ " and what they print; ```sh blocks have commands alone, which
 * succeed unless their comment names another exit code. Comments that readers do not see set the stage:
 * `<!-- run: command -->`, `<!-- act: name -->` for what other people do, `<!-- file: name -->` before a block that is that file, and `<!-- elsewhere: test, test -->` before one that other tests run.
 */
import { readFileSync } from "node:fs";

export interface Command {
  readonly kind: "command";
  readonly command: string;
  /** Of the page, from 1. */
  readonly line: number;
  /** Undefined: what it prints is not shown. */
  readonly prints: readonly string[] | undefined;
  /** Undefined: not said. */
  readonly code: number | undefined;
}
interface PageFile {
  readonly kind: "file";
  readonly name: string;
  readonly text: string;
}
interface Elsewhere {
  readonly kind: "elsewhere";
  /** Files of tests, with commas between them. */
  readonly tests: string;
  /** Without what they print, and without comments. */
  readonly commands: readonly string[];
}
interface Act {
  readonly kind: "act";
  readonly name: string;
}
export type Step = Command | PageFile | Elsewhere | Act;

const COMMENT = /^<!-- (run|act|file|elsewhere): (.+) -->$/;

export function stepsOf(page: string): Step[] {
  const lines = readFileSync(page, "utf8").split("\n");
  const steps: Step[] = [];
  let pending: { kind: string; value: string } | undefined;
  for (let at = 0; at < lines.length; at++) {
    const [, kind, value = ""] = COMMENT.exec(lines[at]!) ?? [];
    if (kind === "run") steps.push({ kind: "command", command: value, line: at + 1, prints: undefined, code: 0 });
    else if (kind === "act") steps.push({ kind: "act", name: value });
    else if (kind !== undefined) pending = { kind, value };
    if (!lines[at]!.startsWith("```")) continue;
    const info = lines[at]!.slice(3).trim();
    const end = lines.indexOf("```", at + 1);
    const body = lines.slice(at + 1, end);
    if (pending?.kind === "file") steps.push({ kind: "file", name: pending.value, text: `${body.join("\n")}\n` });
    else if (pending?.kind === "elsewhere") steps.push({ kind: "elsewhere", tests: pending.value, commands: commandsOf(info, body) });
    else if (info === "console") steps.push(...session(body, at + 2));
    else if (info === "sh") steps.push(...body.flatMap((line, index) => plain(line, at + 2 + index)));
    else if (info === "" && body.some((line) => /^(?:\$ |creel |npm |npx )/.test(line)))
      throw new Error(`${page}:${at + 1}: a block of commands is a console block or a sh block`);
    pending = undefined;
    at = end;
  }
  return steps;
}

function commandsOf(info: string, body: readonly string[]): string[] {
  const steps = info === "console" ? session(body, 0) : body.flatMap((line) => plain(line, 0));
  return steps.map(({ command }) => command);
}

function session(body: readonly string[], first: number): Command[] {
  const steps: (Command & { prints: string[] })[] = [];
  for (const [index, line] of body.entries())
    if (line.startsWith("$ ")) steps.push({ kind: "command", command: line.slice(2), line: first + index, prints: [], code: undefined });
    else steps.at(-1)!.prints.push(line);
  return steps;
}

function plain(text: string, line: number): Command[] {
  const [command = "", comment = ""] = text.split(/ +# /);
  if (command === "" || command.startsWith("#")) return [];
  return [{ kind: "command", command, line, prints: undefined, code: Number(/exit code (\d+)/.exec(comment)?.[1] ?? 0) }];
}
