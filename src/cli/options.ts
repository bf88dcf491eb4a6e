/** Parses a verb's options with `node:util`, and adds a fix to its error messages. */
import { parseArgs } from "node:util";
import { suggest } from "../text/did-you-mean.ts";
import type { Options, Verb } from "./verb.ts";

/** The person at the keyboard meant something else; exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly fix: string;
  constructor(message: string, fix: string) {
    super(message);
    this.fix = fix;
  }
}

/** Every verb has them. */
export const COMMON: Options = {
  json: { type: "boolean", help: "print data as JSON on stdout, and everything else on stderr" },
  help: { type: "boolean", help: "print this" },
};

export interface Parsed {
  readonly values: Readonly<Record<string, never>> & { readonly json?: boolean; readonly help?: boolean };
  readonly positionals: readonly string[];
}

export function parse(verb: Verb, args: readonly string[]): Parsed {
  const options: Options = { ...verb.options, ...COMMON };
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { type, multiple }]) => [name, { type, multiple: multiple === true }]),
  );
  const fix = `run "creel ${verb.name} --help" for its options`;
  const optional = new Set(Object.entries(options).flatMap(([name, { isOptional }]) => (isOptional ? `--${name}` : [])));
  let parsed;
  try {
    parsed = parseArgs({
      args: args.map((arg) => (optional.has(arg) ? `${arg}=` : arg)),
      options: { ...config, h: { type: "boolean", short: "h" } },
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError(complaint(error as Error, Object.keys(options)), fix);
  }
  const { h, ...values } = parsed.values as Record<string, unknown>;
  for (const [name, { choices }] of Object.entries(options)) {
    for (const value of [(values[name] as string | string[] | undefined) ?? []].flat()) {
      if (!choices || choices.includes(value)) continue;
      throw new UsageError(`--${name} cannot be "${value}"${suggest(value, choices)}`, `use one of: ${choices.join(", ")}`);
    }
  }
  const extra = parsed.positionals[0];
  if (verb.takes === undefined && extra !== undefined) throw new UsageError(`"${verb.name}" takes no arguments, but got "${extra}"`, fix);
  return { values: (h === true ? { ...values, help: true } : values) as Parsed["values"], positionals: parsed.positionals };
}

function complaint({ message }: Error, known: readonly string[]): string {
  const unknown = /^Unknown option '--?([^']+)'/.exec(message)?.[1];
  if (unknown === undefined) return message;
  return `there is no option "--${unknown}"${suggest(
    `--${unknown}`,
    known.map((name) => `--${name}`),
  )}`;
}
