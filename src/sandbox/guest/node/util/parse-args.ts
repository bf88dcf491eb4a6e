/** Inside the isolate: `util.parseArgs`. */
import { checkString, invalidArgType, nodeError } from "../errors.ts";

interface Option {
  type: "string" | "boolean";
  short?: string;
  multiple?: boolean;
  default?: unknown;
}

interface Config {
  args?: string[];
  options?: Record<string, Option>;
  strict?: boolean;
  allowPositionals?: boolean;
  allowNegative?: boolean;
  tokens?: boolean;
}

interface Token {
  kind: "option" | "positional" | "option-terminator";
  index: number;
  name?: string;
  rawName?: string;
  value?: string | undefined;
  inlineValue?: boolean | undefined;
}

export function parseArgs(config: Config = {}): object {
  const { args = [], options = {}, strict = true, allowPositionals = !strict, allowNegative = false } = config;
  if (!Array.isArray(args)) throw invalidArgType("args", "an instance of Array", args);
  for (const [name, { type }] of Object.entries(options))
    if (type !== "string" && type !== "boolean") throw invalidArgType(`options.${name}.type`, "one of type string|boolean", type);
  const tokens = tokensOf(args, options);
  const values = { __proto__: null } as unknown as Record<string, unknown>;
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") {
      if (!allowPositionals)
        throw nodeError(
          TypeError,
          "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL",
          `Unexpected argument '${token.value!}'. This command does not take positional arguments`,
        );
      positionals.push(token.value!);
    }
    if (token.kind === "option") store(values, token, options, { strict, allowNegative, allowPositionals });
  }
  for (const [name, option] of Object.entries(options))
    if (option.default !== undefined && !(name in values)) values[name] = option.default;
  return config.tokens ? { values, positionals, tokens } : { values, positionals };
}

function store(
  values: Record<string, unknown>,
  token: Token,
  options: Record<string, Option>,
  rules: { strict: boolean; allowNegative: boolean; allowPositionals: boolean },
): void {
  let name = token.name!;
  let value: unknown = token.value ?? true;
  let option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (!option && rules.allowNegative && name.startsWith("no-") && token.value === undefined && options[name.slice(3)]?.type === "boolean") {
    name = name.slice(3);
    option = options[name];
    value = false;
  }
  if (rules.strict) {
    const shown = token.rawName!;
    if (!option) {
      const hint = `. To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- "${shown}"`;
      throw nodeError(TypeError, "ERR_PARSE_ARGS_UNKNOWN_OPTION", `Unknown option '${shown}'${rules.allowPositionals ? hint : ""}`);
    }
    const label = `${option.short === undefined ? "" : `-${option.short}, `}--${name}`;
    if (option.type === "string" && token.value === undefined)
      throw nodeError(TypeError, "ERR_PARSE_ARGS_INVALID_OPTION_VALUE", `Option '${label} <value>' argument missing`);
    if (option.type === "boolean" && token.value !== undefined)
      throw nodeError(TypeError, "ERR_PARSE_ARGS_INVALID_OPTION_VALUE", `Option '${label}' does not take an argument`);
  }
  if (name === "__proto__") return;
  if (option?.multiple) values[name] = [...((values[name] as unknown[] | undefined) ?? []), value];
  else values[name] = value;
}

function tokensOf(args: string[], options: Record<string, Option>): Token[] {
  const tokens: Token[] = [];
  const longOf = (short: string): string => Object.entries(options).find(([, option]) => option.short === short)?.[0] ?? short;
  const isString = (name: string): boolean => options[name]?.type === "string";
  const rest = args.map((text, index) => ({ text, index }));
  while (rest.length > 0) {
    const { text, index } = rest.shift()!;
    checkString(text, "args");
    const takeNext = (name: string): string | undefined => {
      if (!isString(name) || rest.length === 0 || (rest[0]!.text.length > 1 && rest[0]!.text.startsWith("-"))) return undefined;
      return rest.shift()!.text;
    };
    if (text === "--") {
      tokens.push({ kind: "option-terminator", index });
      for (const one of rest.splice(0)) tokens.push({ kind: "positional", index: one.index, value: one.text });
    } else if (text.startsWith("--") && text.length > 2) {
      const at = text.indexOf("=", 3);
      const name = at < 0 ? text.slice(2) : text.slice(2, at);
      const value = at < 0 ? takeNext(name) : text.slice(at + 1);
      tokens.push({ kind: "option", name, rawName: `--${name}`, index, value, inlineValue: value === undefined ? undefined : at >= 0 });
    } else if (text.startsWith("-") && text.length > 1) {
      const [, short] = text;
      const name = longOf(short!);
      if (text.length > 2 && !isString(name)) {
        rest.unshift({ text: `-${text.slice(2)}`, index });
        tokens.push({ kind: "option", name, rawName: `-${short}`, index, value: undefined, inlineValue: undefined });
      } else {
        const value = text.length > 2 ? text.slice(2) : takeNext(name);
        tokens.push({
          kind: "option",
          name,
          rawName: `-${short}`,
          index,
          value,
          inlineValue: value === undefined ? undefined : text.length > 2,
        });
      }
    } else tokens.push({ kind: "positional", index, value: text });
  }
  return tokens;
}
