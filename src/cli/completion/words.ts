/** What can be completed, from the table of verbs: the same for every shell. */
import { CATALOG } from "../../protocol/catalog.ts";
import { COMMON } from "../options.ts";
import type { Verb } from "../verb.ts";

export interface OptionWords {
  readonly name: string;
  readonly help: string;
  /** It is followed by a value. */
  readonly takesValue: boolean;
  /** Empty: anything, such as a file. */
  readonly values: readonly string[];
}

export interface VerbWords {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionWords[];
  /** What may come right behind it. Empty: a file. */
  readonly values: readonly string[];
}

export function wordsOf(verbs: readonly Verb[]): VerbWords[] {
  return verbs.map(({ name, summary, takes, options }) => ({
    name,
    summary,
    values: takes === undefined ? [] : valuesOf(takes.replaceAll(/[<>[\]]/g, "").split(" ", 1)[0]!),
    options: Object.entries({ ...options, ...COMMON }).map(([option, { help, type, choices, value }]) => ({
      name: `--${option}`,
      help,
      takesValue: type === "string",
      values: choices ?? (value === undefined ? [] : valuesOf(value)),
    })),
  }));
}

/** A placeholder that names all it can be, as `bash|zsh|fish`, or a hook. */
function valuesOf(placeholder: string): string[] {
  if (placeholder === "hook") return Object.keys(CATALOG);
  return /^\w+(?:\|\w+)+$/.test(placeholder) ? placeholder.split("|") : [];
}
