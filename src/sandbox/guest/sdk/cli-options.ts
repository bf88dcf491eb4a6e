/**
 * Inside the isolate: the flags and arguments that a command line of a plugin declares, as commander spells them:
 * `-p, --port <number>`, `--no-color`, `<file>`, `[names...]`.
 */

export type Parse = (value: string, previous: unknown) => unknown;

export interface Flag {
  readonly flags: string;
  readonly description: string;
  readonly short: string | undefined;
  readonly long: string | undefined;
  /** As a property: `--dry-run` is `dryRun`. */
  readonly key: string;
  readonly takes: "nothing" | "value" | "perhaps";
  readonly isVariadic: boolean;
  readonly isNegated: boolean;
  readonly isMandatory: boolean;
  readonly choices: readonly string[] | undefined;
  readonly fallback: unknown;
  readonly parse: Parse | undefined;
}

export interface Argument {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly isVariadic: boolean;
  readonly fallback: unknown;
  readonly parse: Parse | undefined;
}

/** A command line that cannot be read, in commander's words. */
export class UsageError extends Error {}

/** `rest`: a function that parses and its default, or only a default. */
export function flagOf(flags: string, description: string, rest: readonly unknown[], isMandatory: boolean): Flag {
  const words = flags.split(/[ ,|]+/);
  const long = words.find((word) => word.startsWith("--"));
  const short = words.find((word) => /^-[^-]/.test(word));
  const name = (long ?? short ?? flags).replace(/^-+/, "");
  const isNegated = long !== undefined && name.startsWith("no-");
  const [first, second] = rest;
  const parse = typeof first === "function" ? (first as Parse) : undefined;
  return {
    flags,
    description,
    short,
    long,
    key: camel(isNegated ? name.slice(3) : name),
    takes: flags.includes("<") ? "value" : flags.includes("[") ? "perhaps" : "nothing",
    isVariadic: flags.includes("..."),
    isNegated,
    isMandatory,
    choices: undefined,
    fallback: parse ? second : first,
    parse,
  };
}

export function argumentOf(text: string, description: string, rest: readonly unknown[]): Argument {
  const [first, second] = rest;
  const parse = typeof first === "function" ? (first as Parse) : undefined;
  return {
    name: text.replaceAll(/[<>[\].]/g, ""),
    description,
    isRequired: text.startsWith("<") || !text.startsWith("["),
    isVariadic: text.includes("..."),
    fallback: parse ? second : first,
    parse,
  };
}

function camel(name: string): string {
  return name.replaceAll(/-+([^-])/g, (_, letter: string) => letter.toUpperCase());
}

export function defaultsOf(flags: readonly Flag[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { key, fallback, isNegated } of flags) {
    if (fallback !== undefined) values[key] = fallback;
    else if (isNegated && !flags.some((other) => other.key === key && !other.isNegated)) values[key] = true;
  }
  return values;
}

/** Reads one flag at the head of `words`, takes what belongs to it away, and notes its value. */
export function take(flag: Flag, attached: string | undefined, words: string[], values: Record<string, unknown>, isFirst: boolean): void {
  const { flags, key, takes, isVariadic, isNegated, choices, parse, fallback } = flag;
  if (takes === "nothing") {
    values[key] = !isNegated;
    return;
  }
  const found = attached === undefined ? [] : [attached];
  if (attached === undefined)
    while (words.length > 0 && (takes === "value" && found.length === 0 ? true : !/^-./.test(words[0]!))) {
      found.push(words.shift()!);
      if (!isVariadic) break;
    }
  if (found.length === 0 && takes === "value") throw new UsageError(`option '${flags}' argument missing`);
  for (const value of found) {
    if (choices && !choices.includes(value))
      throw new UsageError(`option '${flags}' argument '${value}' is invalid. Allowed choices are ${choices.join(", ")}.`);
    const previous = isFirst ? fallback : values[key];
    if (parse) values[key] = parse(value, previous);
    else if (isVariadic) values[key] = [...(isFirst || !Array.isArray(values[key]) ? [] : (values[key] as unknown[])), value];
    else values[key] = value;
    isFirst = false;
  }
  if (found.length === 0) values[key] = true;
}

/** The values of a command's arguments, in their order. */
export function bound(args: readonly Argument[], operands: readonly string[]): unknown[] {
  return args.map(({ name, isRequired, isVariadic, fallback, parse }, at) => {
    const given = isVariadic ? operands.slice(at) : operands.slice(at, at + 1);
    if (given.length === 0) {
      if (isRequired && fallback === undefined) throw new UsageError(`missing required argument '${name}'`);
      return isVariadic ? (fallback ?? []) : fallback;
    }
    if (isVariadic) return parse ? given.reduce<unknown>((previous, value) => parse(value, previous), fallback) : given;
    return parse ? parse(given[0]!, fallback) : given[0];
  });
}
