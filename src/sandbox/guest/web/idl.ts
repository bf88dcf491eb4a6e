/**
 * Inside the isolate: what all classes of the Web platform share: enumerable members, how Node shows them, and its
 * errors.
 */

const INSPECT = Symbol.for("nodejs.util.inspect.custom");

type Inspect = (value: unknown, options?: object) => string;
type AnyClass = abstract new (...args: never[]) => object;

/**
 * Makes the prototype's members enumerable, as Web IDL says, and sets the tag to the class's name. Callers pass the
 * name where a package has a class of the same name, because the bundler then renames one of them.
 */
export function expose(Class: AnyClass, hidden: readonly string[] = [], className: string = Class.name): void {
  const prototype = Class.prototype as object;
  for (const name of Object.getOwnPropertyNames(prototype))
    if (name !== "constructor" && !hidden.includes(name)) Object.defineProperty(prototype, name, { enumerable: true });
  Object.defineProperty(prototype, Symbol.toStringTag, { value: className, configurable: true });
  Object.defineProperty(Class, "name", { value: className, configurable: true });
}

/** What `util.inspect` shows for an object without properties. */
export function inspectAs<T extends object>(Class: { readonly prototype: T }, fieldsOf: (self: T) => object): void {
  const show = function (this: T, depth: number, options: { depth?: number | null }, inspect: Inspect): unknown {
    // The prototype itself has none of the private fields.
    if (this === Class.prototype || depth < 0) return depth < 0 ? `[${nameOf(this)}]` : this;
    const inner = { ...options, depth: options.depth === undefined || options.depth === null ? null : options.depth - 1 };
    return `${nameOf(this)} ${inspect(fieldsOf(this), inner)}`;
  };
  Object.defineProperty(Class.prototype, INSPECT, { value: show, writable: true, configurable: true });
}

function nameOf(self: object): string {
  return self.constructor?.name ?? "Object";
}

/** Defines a class's constants, as an interface of Web IDL has them. */
export function constants(targets: readonly object[], table: Readonly<Record<string, number>>): void {
  for (const target of targets)
    for (const name of Object.keys(table)) Object.defineProperty(target, name, { value: table[name], enumerable: true });
}

type Cloner = (self: object) => object | undefined;
const cloners = new WeakMap<object, Cloner>();

/**
 * How structuredClone copies objects of a class. A class registered without a function is refused; other objects are
 * copied like plain ones.
 */
export function cloneAs<T extends object>(
  Class: { readonly prototype: T },
  cloner: (self: T) => object | undefined = () => undefined,
): void {
  cloners.set(Class.prototype, cloner as Cloner);
}

export function clonerOf(value: object): Cloner | undefined {
  for (let one: object | null = value; one !== null; one = Object.getPrototypeOf(one) as object | null) {
    const cloner = cloners.get(one);
    if (cloner) return cloner;
  }
  return undefined;
}

/** An error with a code, as Node makes it. */
export function coded<E extends Error>(Class: new (message: string) => E, code: string, message: string): E & { code: string } {
  const error = new Class(message) as E & { code: string };
  // As in Node: the stack begins with the code.
  Object.defineProperty(error, "stack", { value: error.stack?.replace(error.name, `${error.name} [${code}]`) });
  error.code = code;
  return error;
}

export function wrongType(name: string, wanted: string, got: unknown): TypeError & { code: string } {
  const what = name.includes(" ") ? name : `The "${name}" argument`;
  return coded(TypeError, "ERR_INVALID_ARG_TYPE", `${what} must be ${wanted}. Received ${received(got)}`);
}

export function missing(...names: string[]): TypeError & { code: string } {
  const list = names.map((name) => `"${name}"`).join(" and ");
  return coded(TypeError, "ERR_MISSING_ARGS", `The ${list} argument${names.length > 1 ? "s" : ""} must be specified`);
}

export function wrongThis(name: string): TypeError & { code: string } {
  return coded(TypeError, "ERR_INVALID_THIS", `Value of "this" must be of type ${name}`);
}

function received(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value === "function") return `function ${value.name}`;
  if (typeof value === "object") return `an instance of ${value.constructor?.name ?? "Object"}`;
  // oxlint-disable-next-line typescript/no-base-to-string -- objects were dealt with above
  const text = typeof value === "string" ? `'${value.slice(0, 28)}${value.length > 28 ? "..." : ""}'` : String(value);
  return `type ${typeof value} (${text}${typeof value === "bigint" ? "n" : ""})`;
}

/** Reports an error that no code catches, in the same way as an unhandled rejection. */
export function report(error: unknown): void {
  // oxlint-disable-next-line promise/no-promise-in-callback -- there is no callback here
  void Promise.reject(error);
}
