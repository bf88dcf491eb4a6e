/** The help texts, made of the verb table. */
import { COMMON } from "./options.ts";
import type { Option, Verb } from "./verb.ts";
import type { Terminal } from "./ui/terminal.ts";
import { version } from "./version.ts";

export function helpOfAll(verbs: readonly Verb[], { paint }: Terminal): string {
  return [
    `${paint("bold", `creel ${version()}`)}: runs the plugins of an agent gateway in a sandbox`,
    "",
    `${paint("bold", "Usage:")} creel <verb> [options]`,
    "",
    paint("bold", "Verbs:"),
    ...table(verbs.map(({ name, summary }) => [name, summary])),
    "",
    paint("bold", "Options:"),
    ...table([
      ["--help", "print this; after a verb, what the verb takes"],
      ["--version", "print the version"],
    ]),
    "",
    paint("bold", "Example:"),
    `  ${verbs[0]?.examples[0] ?? "creel --version"}`,
  ].join("\n");
}

export function helpOf(verb: Verb, { paint }: Terminal): string {
  return [
    `${paint("bold", `creel ${verb.name}`)}: ${verb.summary}`,
    "",
    `${paint("bold", "Usage:")} creel ${verb.name} ${verb.takes === undefined ? "" : `${verb.takes} `}[options]`,
    "",
    paint("bold", "Options:"),
    ...table(Object.entries({ ...verb.options, ...COMMON }).map(([name, option]) => [signature(name, option), option.help])),
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

function table(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
