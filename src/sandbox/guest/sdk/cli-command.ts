/**
 * Inside the isolate: the `program` that `api.registerCli` hands to a plugin. It has the part of commander's `Command`
 * that plugins use: commands below commands, flags, arguments, actions, help. A whole command line is read by `run`.
 */
import { argumentOf, bound, defaultsOf, flagOf, take, UsageError } from "./cli-options.ts";
import type { Argument, Flag } from "./cli-options.ts";

type Action = (...args: unknown[]) => unknown;

/** A command of commander itself, which a plugin has bundled. */
interface Foreign {
  name(): string;
  description(): string;
  parseAsync(words: readonly string[], options: { from: "user" }): Promise<unknown>;
}

/** Asks for help: not a mistake. */
class HelpWanted extends Error {}

function section(title: string, rows: [string, string][]): string {
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.length === 0 ? "" : `\n\n${title}:\n${rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n")}`;
}

export class Command {
  readonly commands: (Command | Foreign)[] = [];
  parent: Command | null = null;
  args: string[] = [];
  rawArgs: string[] = [];
  readonly #flags: Flag[] = [];
  readonly #arguments: Argument[] = [];
  readonly #aliases: string[] = [];
  #name: string;
  #description = "";
  #helpText = "";
  #action: Action | undefined;
  #values: Record<string, unknown> = {};
  #takesUnknown = false;

  constructor(name = "") {
    this.#name = name;
  }

  command(text: string, description?: unknown): Command {
    const [name = "", ...args] = text.trim().split(/\s+/);
    const made = new Command(name);
    made.parent = this;
    for (const one of args) made.argument(one);
    if (typeof description === "string") made.description(description);
    this.commands.push(made);
    return made;
  }

  addCommand(command: Command | Foreign): this {
    if (command instanceof Command) command.parent = this;
    this.commands.push(command);
    return this;
  }

  createCommand(name?: string): Command {
    return new Command(name);
  }

  name(): string;
  name(text: string): this;
  name(text?: string): string | this {
    if (text === undefined) return this.#name;
    this.#name = text;
    return this;
  }

  description(): string;
  description(text: string): this;
  description(text?: string): string | this {
    if (text === undefined) return this.#description;
    this.#description = text;
    return this;
  }

  alias(text?: string): this | string | undefined {
    if (text === undefined) return this.#aliases[0];
    this.#aliases.push(text);
    return this;
  }

  aliases(list?: readonly string[]): this | string[] {
    if (list === undefined) return this.#aliases;
    this.#aliases.push(...list);
    return this;
  }

  option(flags: string, description = "", ...rest: unknown[]): this {
    this.#flags.push(flagOf(flags, description, rest, false));
    return this;
  }

  requiredOption(flags: string, description = "", ...rest: unknown[]): this {
    this.#flags.push(flagOf(flags, description, rest, true));
    return this;
  }

  /** Takes an `Option` of commander. */
  addOption(option: {
    flags: string;
    description?: string;
    mandatory?: boolean;
    defaultValue?: unknown;
    parseArg?: unknown;
    argChoices?: readonly string[];
  }): this {
    const { flags, description = "", mandatory = false, defaultValue, parseArg, argChoices } = option;
    const rest = typeof parseArg === "function" && !argChoices ? [parseArg, defaultValue] : [defaultValue];
    this.#flags.push({ ...flagOf(flags, description, rest, mandatory), choices: argChoices });
    return this;
  }

  argument(text: string, description = "", ...rest: unknown[]): this {
    this.#arguments.push(argumentOf(text, description, rest));
    return this;
  }

  arguments(text: string): this {
    for (const one of text.trim().split(/\s+/)) this.argument(one);
    return this;
  }

  action(run: Action): this {
    this.#action = run;
    return this;
  }

  allowUnknownOption(isAllowed = true): this {
    this.#takesUnknown = isAllowed;
    return this;
  }

  addHelpText(_where: string, text: unknown): this {
    this.#helpText += `\n${typeof text === "function" ? String((text as () => unknown)()) : String(text)}`;
    return this;
  }

  opts(): Record<string, unknown> {
    return this.#values;
  }

  optsWithGlobals(): Record<string, unknown> {
    return { ...this.#values, ...this.parent?.optsWithGlobals() };
  }

  getOptionValue(key: string): unknown {
    return this.#values[key];
  }

  setOptionValue(key: string, value: unknown): this {
    this.#values[key] = value;
    return this;
  }

  helpInformation(): string {
    const path = [this.#name];
    for (let { parent } = this; parent; { parent } = parent) path.unshift(parent.#name);
    const args = this.#arguments.map(({ name, isRequired, isVariadic }) => {
      const text = isVariadic ? `${name}...` : name;
      return isRequired ? `<${text}>` : `[${text}]`;
    });
    const usage = [...path, ...(this.#flags.length > 0 ? ["[options]"] : []), ...(this.commands.length > 0 ? ["[command]"] : []), ...args];
    return [
      `Usage: ${usage.join(" ").trim()}`,
      this.#description === "" ? "" : `\n\n${this.#description}`,
      section(
        "Arguments",
        this.#arguments.flatMap(({ name, description }) => (description === "" ? [] : [[name, description]])),
      ),
      section(
        "Options",
        this.#flags.map(({ flags, description }) => [flags, description]),
      ),
      section(
        "Commands",
        this.commands.map((one) => [one.name(), one.description()]),
      ),
      this.#helpText,
    ].join("");
  }

  outputHelp(): void {
    console.log(this.helpInformation());
  }

  help(): never {
    this.outputHelp();
    throw new HelpWanted();
  }

  error(message: string): never {
    throw new UsageError(message);
  }

  /** As commander has it: without `from`, the first two words are the program's. */
  parseAsync(words: readonly string[] = [], { from }: { from?: string } = {}): Promise<this> {
    return this.run(from === "user" ? words : words.slice(2)).then(() => this);
  }

  /** Reads the words and calls the action. Gives the exit code; says what is wrong on the error output. */
  async run(words: readonly string[]): Promise<number> {
    try {
      return await this.#enter([...words]);
    } catch (error) {
      if (error instanceof HelpWanted) return 0;
      if (!(error instanceof UsageError)) throw error;
      console.error(error.message.startsWith("error:") ? error.message : `error: ${error.message}`);
      return 1;
    }
  }

  async #enter(words: string[]): Promise<number> {
    this.rawArgs = [...words];
    this.#values = defaultsOf(this.#flags);
    const operands: string[] = [];
    const given = new Set<Flag>();
    while (words.length > 0) {
      const word = words.shift()!;
      if (word === "--") {
        operands.push(...words.splice(0));
      } else if (!/^-./.test(word)) {
        const below = operands.length === 0 ? this.#below(word) : undefined;
        if (below instanceof Command) return await below.#enter(words);
        if (below) return await below.parseAsync(words, { from: "user" }).then(() => 0);
        operands.push(word);
      } else this.#flag(word, words, operands, given);
    }
    return await this.#act(operands, given);
  }

  #flag(word: string, words: string[], operands: string[], given: Set<Flag>): void {
    const [, name = word, , attached] = /^(--[^=]+)(=([^]*))?$/.exec(word) ?? [];
    const exact = this.#known(name);
    if (exact) {
      const [owner, flag] = exact;
      take(flag, attached, words, owner.#values, !given.has(flag));
      given.add(flag);
      return;
    }
    const short = /^-[^-]./.test(word) ? this.#known(word.slice(0, 2)) : undefined;
    if (short) {
      const [owner, flag] = short;
      const rest = word.slice(2);
      take(flag, flag.takes === "nothing" ? undefined : rest, words, owner.#values, !given.has(flag));
      given.add(flag);
      if (flag.takes === "nothing") words.unshift(`-${rest}`);
      return;
    }
    if (name === "--help" || name === "-h") this.help();
    if (!this.#takesUnknown) throw new UsageError(`unknown option '${name}'`);
    operands.push(word);
  }

  /** A flag of this command, or of one above it. */
  #known(name: string): [Command, Flag] | undefined {
    const found = this.#flags.find(({ short, long }) => name === short || name === long);
    if (found) return [this, found];
    return this.parent === null ? undefined : this.parent.#known(name);
  }

  #below(word: string): Command | Foreign | undefined {
    return this.commands.find((one) => one.name() === word || (one instanceof Command && one.#aliases.includes(word)));
  }

  async #act(operands: string[], given: ReadonlySet<Flag>): Promise<number> {
    this.args = operands;
    if (!this.#action) {
      if (operands.length > 0 && this.commands.length > 0) throw new UsageError(`unknown command '${operands[0]}'`);
      console.error(this.helpInformation());
      return 1;
    }
    for (const flag of this.#flags)
      if (flag.isMandatory && !given.has(flag) && this.#values[flag.key] === undefined)
        throw new UsageError(`required option '${flag.flags}' not specified`);
    await this.#action(...bound(this.#arguments, operands), this.#values, this);
    return 0;
  }
}

/** What only changes how commander itself prints or stops. */
const WITHOUT_EFFECT = [
  "allowExcessArguments",
  "configureHelp",
  "configureOutput",
  "copyInheritedSettings",
  "enablePositionalOptions",
  "exitOverride",
  "helpCommand",
  "helpOption",
  "hook",
  "on",
  "passThroughOptions",
  "showHelpAfterError",
  "showSuggestionAfterError",
  "storeOptionsAsProperties",
  "summary",
  "usage",
  "version",
] as const;
for (const name of WITHOUT_EFFECT)
  Object.defineProperty(Command.prototype, name, {
    configurable: true,
    writable: true,
    value(this: Command): Command {
      return this;
    },
  });
