/** Inside the isolate: `assert`. */
import { AssertionError } from "./assertion-error.ts";
import { isDeepEqual } from "./deep-equal.ts";
import { checkFunction, invalidArgType, nodeError } from "../errors.ts";
import { inspect } from "../util/inspecting.ts";

type Message = string | Error | undefined;
type Fn = (...args: unknown[]) => unknown;

function failed(operator: string, actual: unknown, expected: unknown, message: Message, at: Fn): never {
  if (message instanceof Error) throw message;
  throw new AssertionError({ actual, expected, operator, message, stackStartFn: at });
}

function needs(count: number, given: number): void {
  if (given >= count) return;
  throw nodeError(
    TypeError,
    "ERR_MISSING_ARGS",
    count === 1 ? 'The "actual" argument must be specified' : 'The "actual" and "expected" arguments must be specified',
  );
}

/** Makes an assertion from a check of two values. */
function comparison(operator: string, holds: (actual: unknown, expected: unknown) => boolean): Fn {
  const check = (...args: unknown[]): void => {
    needs(2, args.length);
    const [actual, expected, message] = args;
    if (!holds(actual, expected)) failed(operator, actual, expected, message as Message, check);
  };
  return Object.defineProperty(check, "name", { value: operator });
}

// oxlint-disable-next-line eqeqeq -- that is what loose means
const isLooselyEqual = (a: unknown, b: unknown): boolean => a == b || (a !== a && b !== b);

function ok(...args: unknown[]): void {
  const [value, message] = args;
  if (value) return;
  if (args.length === 0) failed("==", undefined, true, "No value argument passed to `assert.ok()`", ok);
  if (message instanceof Error) throw message;
  const error = new AssertionError({
    actual: value,
    expected: true,
    operator: "==",
    message: message ?? "The expression evaluated to a falsy value",
    stackStartFn: ok,
  });
  throw Object.assign(error, { generatedMessage: message === undefined || message === null });
}

function fail(message?: Message): never {
  if (message instanceof Error) throw message;
  const error = new AssertionError({ message: message ?? "Failed", operator: "fail", stackStartFn: fail });
  throw Object.assign(error, { generatedMessage: message === undefined });
}

/** Checks that an error is the expected one. Throws if it is not. */
function checkError(error: unknown, expected: unknown, message: Message, operator: string, at: Fn): void {
  if (expected === undefined) return;
  if (typeof expected === "function") {
    if (expected.prototype !== undefined && error instanceof expected) return;
    if (Object.prototype.isPrototypeOf.call(Error, expected)) {
      const said =
        error instanceof Error
          ? ` "${error.constructor.name}"\n\nError message:\n\n${error.message}`
          : ` "${inspect(error, { depth: -1 })}"`;
      return wrong(`The error is expected to be an instance of "${expected.name}". Received${said}`);
    }
    if ((expected as Fn).call({}, error) === true) return;
    return wrong(
      `The ${expected.name === "" ? "" : `"${expected.name}" `}validation function is expected to return "true". Received false\n\nCaught error:\n\n${inspect(error)}`,
    );
  }
  if (expected instanceof RegExp) {
    if (expected.test(String(error))) return;
    return wrong(`The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(String(error))}\n`);
  }
  if (typeof expected !== "object" || expected === null)
    throw invalidArgType("expected", "of type function or an instance of Error, RegExp, or Object", expected);
  const keys = Object.keys(expected);
  if (expected instanceof Error) keys.push("name", "message");
  for (const key of keys) {
    const [is, should] = [(error as Record<string, unknown>)[key], (expected as Record<string, unknown>)[key]];
    const fits =
      (typeof is === "string" && should instanceof RegExp && should.test(is)) ||
      (key in (error as object) && isDeepEqual(is, should, "strict"));
    if (fits) continue;
    const picked = Object.fromEntries(keys.map((one) => [one, (error as Record<string, unknown>)[one]]));
    return failed(operator, message === undefined ? picked : error, expected, message, at);
  }

  function wrong(text: string): never {
    if (message instanceof Error) throw message;
    const made = new AssertionError({ actual: error, expected, message: message ?? text, operator, stackStartFn: at });
    throw Object.assign(made, { generatedMessage: message === undefined });
  }
}

const NOTHING = Symbol("nothing");

/** The arguments after the function: the expected error, and a message. */
function wanted(args: unknown[]): [expected: unknown, message: Message] {
  const [first, second] = args;
  return typeof first === "string" ? [undefined, first] : [first, second as Message];
}

function mustFail(error: unknown, args: unknown[], operator: string, at: Fn): void {
  const [expected, message] = wanted(args);
  if (error !== NOTHING) return checkError(error, expected, message, operator, at);
  const name = typeof expected === "function" && expected.name !== "" && expected.prototype instanceof Error ? ` (${expected.name})` : "";
  const kind = operator === "rejects" ? "rejection" : "exception";
  if (message instanceof Error) throw message;
  throw new AssertionError({
    actual: undefined,
    expected,
    operator,
    message: `Missing expected ${kind}${name}${message === undefined ? "." : `: ${message}`}`,
    stackStartFn: at,
  });
}

function mustNotFail(error: unknown, args: unknown[], operator: string, at: Fn): void {
  if (error === NOTHING) return;
  const [expected, message] = wanted(args);
  const matches =
    expected === undefined ||
    (typeof expected === "function" ? error instanceof expected : expected instanceof RegExp && expected.test(String(error)));
  if (!matches) throw error;
  const kind = operator === "doesNotReject" ? "rejection" : "exception";
  const text = `Got unwanted ${kind}${message === undefined ? "." : `: ${String(message)}`}\nActual message: "${String((error as Error | undefined)?.message)}"`;
  throw new AssertionError({ actual: error, expected, operator, message: text, stackStartFn: at });
}

function thrown(fn: unknown): unknown {
  checkFunction(fn, "fn");
  try {
    fn();
  } catch (error) {
    return error;
  }
  return NOTHING;
}

async function rejection(given: unknown): Promise<unknown> {
  const promise = typeof given === "function" ? (given as Fn)() : given;
  if (typeof (promise as PromiseLike<unknown> | null)?.then !== "function") {
    if (typeof given === "function")
      throw nodeError(
        TypeError,
        "ERR_INVALID_RETURN_VALUE",
        `Expected instance of Promise to be returned from the "promiseFn" function but got ${typeof promise}.`,
      );
    throw invalidArgType("promiseFn", "of type function or an instance of Promise", given);
  }
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return NOTHING;
}

function matching(operator: "match" | "doesNotMatch"): Fn {
  const isWanted = operator === "match";
  const check = (text: unknown, pattern: unknown, message?: unknown): void => {
    if (!(pattern instanceof RegExp)) throw invalidArgType("regexp", "an instance of RegExp", pattern);
    if (typeof text === "string" && pattern.test(text) === isWanted) return;
    if (message instanceof Error) throw message;
    const generated =
      typeof text === "string"
        ? `The input ${isWanted ? "did not match the" : "was expected to not match the"} regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`
        : `The "string" argument must be of type string. Received type ${typeof text} (${inspect(text)})`;
    const made = new AssertionError({
      actual: text,
      expected: pattern,
      message: message ?? generated,
      operator,
      stackStartFn: check,
    });
    throw Object.assign(made, { generatedMessage: message === undefined });
  };
  return Object.defineProperty(check, "name", { value: operator });
}

function ifError(value: unknown): void {
  if (value === null || value === undefined) return;
  const { message, name } = value as Error;
  const said = typeof value === "object" && typeof message === "string" ? (message === "" ? name : message) : inspect(value);
  throw new AssertionError({
    actual: value,
    expected: null,
    operator: "ifError",
    message: `ifError got unwanted exception: ${said}`,
    stackStartFn: ifError,
  });
}

const common = {
  AssertionError,
  ok,
  fail,
  strictEqual: comparison("strictEqual", Object.is),
  notStrictEqual: comparison("notStrictEqual", (a, b) => !Object.is(a, b)),
  deepStrictEqual: comparison("deepStrictEqual", (a, b) => isDeepEqual(a, b, "strict")),
  notDeepStrictEqual: comparison("notDeepStrictEqual", (a, b) => !isDeepEqual(a, b, "strict")),
  partialDeepStrictEqual: comparison("partialDeepStrictEqual", (a, b) => isDeepEqual(a, b, "partial")),
  match: matching("match"),
  doesNotMatch: matching("doesNotMatch"),
  throws: (fn: unknown, ...args: unknown[]): void => mustFail(thrown(fn), args, "throws", common.throws),
  doesNotThrow: (fn: unknown, ...args: unknown[]): void => mustNotFail(thrown(fn), args, "doesNotThrow", common.doesNotThrow),
  rejects: async (given: unknown, ...args: unknown[]): Promise<void> => mustFail(await rejection(given), args, "rejects", common.rejects),
  doesNotReject: async (given: unknown, ...args: unknown[]): Promise<void> =>
    mustNotFail(await rejection(given), args, "doesNotReject", common.doesNotReject),
  ifError,
};

const loose = {
  equal: comparison("==", isLooselyEqual),
  notEqual: comparison("!=", (a, b) => !isLooselyEqual(a, b)),
  deepEqual: comparison("deepEqual", (a, b) => isDeepEqual(a, b, "loose")),
  notDeepEqual: comparison("notDeepEqual", (a, b) => !isDeepEqual(a, b, "loose")),
};

const strict = Object.assign((...args: unknown[]): void => ok(...args), common, {
  equal: common.strictEqual,
  notEqual: common.notStrictEqual,
  deepEqual: common.deepStrictEqual,
  notDeepEqual: common.notDeepStrictEqual,
  strict: {},
});
strict.strict = strict;

export default Object.assign((...args: unknown[]): void => ok(...args), common, loose, { strict });
