/** The help texts, made of the verb table. */
import { COMMON } from "./options.ts";
import type { Option, Verb } from "./verb.ts";
import type { Terminal } from "./ui/terminal.ts";
import { wrap } from "./ui/text.ts";
import { version } from "./self.ts";

/** First commands for authors, operators and visitors. */
const FIRST = ["demo", "init", "install", "doctor"];
/** Of an option with its values. */
const MAX_LEFT = 48;

export function helpOfAll(verbs: readonly Verb[], { paint, width }: Terminal): string {
  return [
    `${paint("bold", `creel ${version()}`)}: runs the plugins of an agent gateway in a sandbox`,
    "",
    `${paint("bold", "Usage:")} creel <verb> [options]`,
    "",
    paint("bold", "Verbs:"),
    ...helpTable(
      verbs.map(({ name, summary }) => [name, summary]),
      width,
    ),
    "",
    paint("bold", "Options:"),
    ...helpTable(
      [
        ["--help", 'print this help; after a verb, the help of that verb; "creel help" lists more topics'],
        ["--version", "print the version"],
      ],
      width,
    ),
    "",
    paint("bold", "Start with:"),
    ...FIRST.filter((name) => verbs.some((verb) => verb.name === name)).map(
      (name) => `  ${verbs.find((verb) => verb.name === name)!.examples[0]}`,
    ),
  ].join("\n");
}

export function helpOf(verb: Verb, { paint, width }: Terminal): string {
  return [
    `${paint("bold", `creel ${verb.name}`)}: ${verb.summary}`,
    "",
    `${paint("bold", "Usage:")} creel ${verb.name} ${verb.takes === undefined ? "" : `${verb.takes} `}[options]`,
    "",
    paint("bold", "Options:"),
    ...helpTable(
      Object.entries({ ...verb.options, ...COMMON }).map(([name, option]) => [signature(name, option), option.help]),
      width,
    ),
    "",
    paint("bold", "Examples:"),
    ...verb.examples.map((example) => `  ${example}`),
    "",
    `${paint("bold", "With --json:")} ${verb.prints.replaceAll("`", "")}`,
    `${paint("bold", "Exit codes:")} ${exitCodes(verb)}`,
  ].join("\n");
}

export function exitCodes({ exits = { ok: "done", failed: "failed" }, asks }: Verb): string {
  return `0 ${exits.ok}, 1 ${exits.failed}, 2 wrong usage${asks ? ", 130 interrupted at a question (Ctrl-C, Ctrl-D, closed terminal)" : ""}`;
}

export function signature(name: string, { type, choices, value, multiple, isOptional }: Option): string {
  if (isOptional) return `--${name}[=<${value ?? "value"}>]`;
  const placeholder = type === "string" ? ` <${choices?.join("|") ?? value ?? "value"}>` : "";
  return `--${name}${placeholder}${multiple ? " …" : ""}`;
}

/** Wraps the right column at the width of the terminal. A left cell that is too long gets its own line. */
export function helpTable(rows: readonly (readonly [string, string])[], width: number): string[] {
  const widest = Math.max(...rows.map(([left]) => left.length).filter((length) => length <= MAX_LEFT));
  return rows.flatMap(([left, right]) => {
    const [first = "", ...more] = wrap(right, width - widest - 4);
    const indent = `  ${" ".repeat(widest)}  `;
    const head = left.length > widest ? [`  ${left}`, `${indent}${first}`] : [`  ${left.padEnd(widest)}  ${first}`];
    return [...head, ...more.map((line) => `${indent}${line}`)];
  });
}
