/** Inside the isolate: `assert.AssertionError`, and its message where the caller gave none. */
import { invalidArgType } from "../errors.ts";
import { inspect } from "../util/inspecting.ts";

interface Options {
  message?: unknown;
  actual?: unknown;
  expected?: unknown;
  operator?: string;
  stackStartFn?: ((...args: never[]) => unknown) | undefined;
}

const INTRODUCTIONS: Readonly<Record<string, string>> = {
  deepStrictEqual: "Expected values to be strictly deep-equal:",
  partialDeepStrictEqual: "Expected values to be partially and strictly deep-equal:",
  strictEqual: "Expected values to be strictly equal:",
  deepEqual: "Expected values to be loosely deep-equal:",
  notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
  notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
  throws: "Expected values to be strictly deep-equal:",
  rejects: "Expected values to be strictly deep-equal:",
};

/** Two short lines are shown side by side, anything longer as a list of lines. */
const SHORT = 12;

function shown(value: unknown): string {
  return inspect(value, { compact: false, depth: 1000, sorted: true, breakLength: Infinity, maxArrayLength: Infinity });
}

function words(operator: string, actual: unknown, expected: unknown, own?: string): string {
  if (operator === "==" || operator === "!=") return `${inspect(actual)} ${operator} ${inspect(expected)}`;
  const introduction = own ?? INTRODUCTIONS[operator];
  if (introduction === undefined) return `${inspect(actual)} ${operator} ${inspect(expected)}`;
  const [is, should] = [shown(actual), shown(expected)];
  if (operator.startsWith("not")) return is.includes("\n") ? `${introduction}\n\n${is}\n` : `${introduction} ${is}`;
  if (isPlain(actual) && isPlain(expected) && is.length + should.length <= SHORT) return `${introduction}\n\n${is} !== ${should}\n`;
  return `${introduction}\n+ actual - expected\n\n${difference(is.split("\n"), should.split("\n")).join("\n")}\n`;
}

function isPlain(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

/**
 * Common lines are shown once, the others with a sign. Finds the longest common part, unless the texts are too long.
 */
function difference(is: string[], should: string[]): string[] {
  const [a, b] = [is.slice(0, 500), should.slice(0, 500)];
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i]![j] = a[i] === b[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
  const lines: string[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(`  ${a[i]}`);
      i += 1;
      j += 1;
    } else if (i < a.length && (j >= b.length || common[i + 1]![j]! >= common[i]![j + 1]!)) lines.push(`+ ${a[i++]}`);
    else lines.push(`- ${b[j++]}`);
  }
  return lines;
}

export class AssertionError extends Error {
  readonly code = "ERR_ASSERTION";
  generatedMessage: boolean;
  readonly actual: unknown;
  readonly expected: unknown;
  readonly operator: string | undefined;

  constructor(options: Options) {
    if (typeof options !== "object" || options === null) throw invalidArgType("options", "of type object", options);
    const { message, actual, expected, operator } = options;
    const hasOwn = message !== undefined && message !== null;
    // Node adds the difference to the caller's message here, and only here.
    const isShown = operator === "strictEqual" || operator === "deepStrictEqual";
    // oxlint-disable-next-line typescript/no-base-to-string -- as the caller's object says
    const own = hasOwn ? String(message) : undefined;
    super(own !== undefined && !isShown ? own : words(operator ?? "fail", actual, expected, own));
    Object.defineProperty(this, "name", { value: "AssertionError", writable: true, configurable: true, enumerable: false });
    this.generatedMessage = !hasOwn;
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
    Error.captureStackTrace?.(this, options.stackStartFn);
    if (this.stack)
      Object.defineProperty(this, "stack", {
        value: this.stack.replace(/^\w+/, "AssertionError [ERR_ASSERTION]"),
        writable: true,
        configurable: true,
      });
  }

  override toString(): string {
    return `${this.name} [${this.code}]: ${this.message}`;
  }
}
