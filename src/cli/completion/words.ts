/** What shells can complete, from the table of verbs. */
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
  /** The id of an installed plugin, which the shell asks `creel list` for. */
  readonly isId: boolean;
}

export interface VerbWords {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionWords[];
  /** Possible values of the first argument. Empty: a file. */
  readonly values: readonly string[];
  /** Which argument is the id of an installed plugin. Undefined: none. */
  readonly idAt: number | undefined;
}

export function wordsOf(verbs: readonly Verb[]): VerbWords[] {
  return verbs.map(({ name, summary, takes, options }) => ({
    name,
    summary,
    values: takes === undefined ? [] : valuesOf(takes.replaceAll(/[<>[\]]/g, "").split(" ", 1)[0]!),
    idAt: idAt(takes),
    options: Object.entries({ ...options, ...COMMON }).map(([option, { help, type, choices, value }]) => ({
      name: `--${option}`,
      help,
      takesValue: type === "string",
      values: choices ?? (value === undefined ? [] : valuesOf(value)),
      isId: value === "id",
    })),
  }));
}

function idAt(takes = ""): number | undefined {
  const at = takes.split(" ").findIndex((word) => word === "<id>" || word === "[id]");
  return at === -1 ? undefined : at;
}

/** A placeholder that names all it can be, as `bash|zsh|fish`, or a hook. */
function valuesOf(placeholder: string): string[] {
  if (placeholder === "hook") return Object.keys(CATALOG);
  return /^\w+(?:\|\w+)+$/.test(placeholder) ? placeholder.split("|") : [];
}
