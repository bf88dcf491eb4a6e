/** The help texts, made of the verb table. */
import { COMMON } from "./options.ts";
import type { Option, Verb } from "./verb.ts";
import type { Terminal } from "./ui/terminal.ts";
import { wrap } from "./ui/text.ts";
import { version } from "./version.ts";

/** For an author, an operator, and whoever wonders. */
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
    ...table(
      verbs.map(({ name, summary }) => [name, summary]),
      width,
    ),
    "",
    paint("bold", "Options:"),
    ...table(
      [
        ["--help", "print this; after a verb, what the verb takes"],
        ["--version", "print the version"],
      ],
      width,
    ),
    "",
    paint("bold", "To begin with:"),
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
    ...table(
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

export function exitCodes({ exits = { ok: "done", failed: "failed" } }: Verb): string {
  return `0 ${exits.ok}, 1 ${exits.failed}, 2 used wrongly`;
}

export function signature(name: string, { type, choices, value, multiple }: Option): string {
  const placeholder = type === "string" ? ` <${choices?.join("|") ?? value ?? "value"}>` : "";
  return `--${name}${placeholder}${multiple ? " …" : ""}`;
}

/** What stands at the right is wrapped where the terminal ends; a left that leaves it no room has a line of its own. */
function table(rows: readonly (readonly [string, string])[], width: number): string[] {
  const widest = Math.max(...rows.map(([left]) => left.length).filter((length) => length <= MAX_LEFT));
  return rows.flatMap(([left, right]) => {
    const [first = "", ...more] = wrap(right, width - widest - 4);
    const indent = `  ${" ".repeat(widest)}  `;
    const head = left.length > widest ? [`  ${left}`, `${indent}${first}`] : [`  ${left.padEnd(widest)}  ${first}`];
    return [...head, ...more.map((line) => `${indent}${line}`)];
  });
}
