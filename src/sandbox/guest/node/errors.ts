/** Inside the isolate: errors as Node makes them, with the codes and messages that programs look for. */

/** Node's name and `code`: as text `TypeError [ERR_INVALID_ARG_TYPE]: …`, as name `TypeError`. */
export function nodeError<E extends Error>(Base: new (message: string) => E, code: string, message: string): E & { code: string } {
  const error = new Base(message) as E & { code: string };
  error.code = code;
  Object.defineProperty(error, "toString", {
    value(this: Error) {
      return `${this.name} [${code}]: ${this.message}`;
    },
    writable: true,
    configurable: true,
    enumerable: false,
  });
  // Node's stack begins with the code, too. V8 made this one before the code was set.
  const { stack } = error;
  if (typeof stack === "string" && stack.startsWith(`${error.name}: `)) {
    const value = `${error.name} [${code}]${stack.slice(error.name.length)}`;
    Object.defineProperty(error, "stack", { value, writable: true, configurable: true, enumerable: false });
  }
  return error;
}

/** `expected` follows "must be" in the message, as in `of type string`. */
export function invalidArgType(name: string, expected: string, value: unknown): TypeError {
  const what = name.endsWith(" argument") ? name : `"${name}" ${name.includes(".") ? "property" : "argument"}`;
  return nodeError(TypeError, "ERR_INVALID_ARG_TYPE", `The ${what} must be ${expected}.${received(value)}`);
}

export function invalidArgValue(name: string, value: unknown, reason = "is invalid"): TypeError {
  const kind = name.includes(".") ? "property" : "argument";
  return nodeError(TypeError, "ERR_INVALID_ARG_VALUE", `The ${kind} '${name}' ${reason}. Received ${shown(value)}`);
}

export function outOfRange(name: string, range: string, value: unknown): RangeError {
  return nodeError(
    RangeError,
    "ERR_OUT_OF_RANGE",
    `The value of "${name}" is out of range. It must be ${range}. Received ${grouped(value)}`,
  );
}

export function checkString(value: unknown, name: string): asserts value is string {
  if (typeof value !== "string") throw invalidArgType(name, "of type string", value);
}

export function checkFunction(value: unknown, name: string): asserts value is (...args: unknown[]) => unknown {
  if (typeof value !== "function") throw invalidArgType(name, "of type function", value);
}

export function checkNumber(value: unknown, name: string): asserts value is number {
  if (typeof value !== "number") throw invalidArgType(name, "of type number", value);
}

export function checkInteger(
  value: unknown,
  name: string,
  min = Number.MIN_SAFE_INTEGER,
  max = Number.MAX_SAFE_INTEGER,
): asserts value is number {
  checkNumber(value, name);
  if (!Number.isInteger(value)) throw outOfRange(name, "an integer", value);
  if (value < min || value > max) throw outOfRange(name, `>= ${min} && <= ${max}`, value);
}

/** Node's description of the value that it got instead. */
function received(value: unknown): string {
  if (value === null || value === undefined) return ` Received ${value}`;
  if (typeof value === "function") return ` Received function ${value.name}`;
  if (typeof value === "object") {
    const { name } = (value as { constructor?: { name?: unknown } }).constructor ?? {};
    return typeof name === "string" && name !== "" ? ` Received an instance of ${name}` : ` Received ${shown(value)}`;
  }
  return ` Received type ${typeof value} (${short(shown(value))})`;
}

function short(text: string): string {
  return text.length > 28 ? `${text.slice(0, 25)}...` : text;
}

/** A small `inspect` for arguments. The real one is a chunk of its own. */
function shown(value: unknown): string {
  switch (typeof value) {
    case "string":
      return value.includes("'") ? JSON.stringify(value) : `'${value.replaceAll("\n", "\\n")}'`;
    case "bigint":
      return `${value}n`;
    case "object":
      if (value === null) return "null";
      if (Array.isArray(value)) return value.length === 0 ? "[]" : `[ ${value.map(shown).join(", ")} ]`;
      return Object.getPrototypeOf(value) === null ? "[Object: null prototype] {}" : Object.prototype.toString.call(value);
    case "function":
      return `[Function: ${value.name}]`;
    default:
      return Object.is(value, -0) ? "-0" : String(value);
  }
}

/** Groups long integers by three digits, as Node does. */
function grouped(value: unknown): string {
  const isBig = typeof value === "bigint" && (value > 2n ** 32n || value < -(2n ** 32n));
  if (!isBig && !(Number.isInteger(value) && Math.abs(value as number) > 2 ** 32)) return shown(value);
  let [head, tail] = [String(value), ""];
  while (head.length >= (head.startsWith("-") ? 5 : 4)) [head, tail] = [head.slice(0, -3), `_${head.slice(-3)}${tail}`];
  return head + tail + (isBig ? "n" : "");
}

/** A member that is there, and says why it cannot when it is called. */
export function refuse(what: string, why: string): (...args: unknown[]) => never {
  // A function and not an arrow, so that `new` gets the same sentence.
  return function refused(): never {
    throw nodeError(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", `${what} is not available inside the sandbox: ${why}`);
  };
}
