/**
 * The definition of a verb. To add one: a file in `verbs/` that exports `defineVerb({...})`, and a line in
 * `verbs/index.ts`.
 */
import type { Terminal } from "./ui/terminal.ts";

/** Stable: scripts depend on them. */
export const EXIT = { ok: 0, failed: 1, usage: 2, interrupted: 130 } as const;

export interface Option {
  readonly type: "boolean" | "string";
  /** May be given several times. */
  readonly multiple?: true;
  /** Its value may be left out, and is "" then; it is given as `--name=value`. */
  readonly isOptional?: true;
  /** The only values it takes. */
  readonly choices?: readonly string[];
  /** How the value is called in the help. */
  readonly value?: string;
  readonly help: string;
}
export type Options = Readonly<Record<string, Option>>;

type ValueOf<O extends Option> = O["choices"] extends readonly string[] ? O["choices"][number] : string;
export type Values<O extends Options> = {
  readonly [K in keyof O]?: O[K]["type"] extends "boolean" ? boolean : O[K]["multiple"] extends true ? ValueOf<O[K]>[] : ValueOf<O[K]>;
};

export interface Invocation<O extends Options = Options> {
  readonly values: Values<O>;
  readonly positionals: readonly string[];
  /** Every verb has `--json`: data on `out`, everything else on `err`. */
  readonly isJson: boolean;
  readonly out: Terminal;
  readonly err: Terminal;
  /** All there are. */
  readonly verbs: readonly Verb[];
}

export interface Verb<O extends Options = Options> {
  readonly name: string;
  /** One line for the list of verbs. */
  readonly summary: string;
  /** The arguments in the usage line, such as `<hook>`. Unset: only options. */
  readonly takes?: string;
  readonly options: O;
  /** At least one: people copy before they read. */
  readonly examples: readonly [string, ...string[]];
  /** The output of `--json`, in one line for docs/reference/cli.md. */
  readonly prints: string;
  /** The meaning of the exit codes, if not obvious. */
  readonly exits?: { readonly ok: string; readonly failed: string };
  /** It may ask questions at a terminal; leaving one is exit code 130. */
  readonly asks?: true;
  /** Gives the exit code. Import heavy modules in here, so that `--help` stays fast. */
  run(invocation: Invocation<O>): Promise<number>;
}

/** Types the values by the options; in the table, verbs are all alike. */
export function defineVerb<const O extends Options>(verb: Verb<O>): Verb {
  return verb;
}
