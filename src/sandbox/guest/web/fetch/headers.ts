/** Inside the isolate: `Headers`, as the Fetch standard has it. The host decides which headers are sent. */
import { bare, isArray, keysOf, lowerCase, NativeString, NativeTypeError, sliceText, sort, split } from "../../boot/primordials.ts";
import { cloneAs, expose, inspectAs } from "../idl.ts";

export type HeaderTable = Record<string, string>;

/** The table behind a Headers, by lower-case name. Several cookies have a line each. */
export let tableOf: (headers: Headers) => HeaderTable;
/** The plugin cannot change it. */
export let freeze: (headers: Headers) => Headers;
/** Made from the host's headers, which the host has checked. */
export let headersOf: (table: HeaderTable) => Headers;

const NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
// oxlint-disable-next-line no-control-regex -- those three cannot be in a value
const NOT_VALUE = /[\0\r\n]|[^\0-\xff]/;
const { hasOwn, getOwnPropertyDescriptor } = Object;

export class Headers {
  #table: HeaderTable = bare({});
  #isFrozen = false;

  static {
    tableOf = (headers) => headers.#table;
    freeze = (headers) => {
      headers.#isFrozen = true;
      return headers;
    };
    headersOf = (table) => {
      const headers = new Headers();
      headers.#table = bare(table);
      return headers;
    };
  }

  constructor(init?: unknown) {
    if (init === undefined) return;
    if (init === null || (typeof init !== "object" && typeof init !== "function"))
      throw new NativeTypeError("Headers constructor: init is neither a record nor a sequence of pairs");
    if (#table in init) {
      const names = keysOf(init.#table) as string[];
      for (let i = 0; i < names.length; i++) this.#table[names[i]!] = init.#table[names[i]!]!;
      return;
    }
    if (isArray(init)) {
      for (let i = 0; i < init.length; i++) this.#pair(init[i]);
      return;
    }
    if (typeof (init as { [Symbol.iterator]?: unknown })[Symbol.iterator] === "function") {
      for (const pair of init as Iterable<unknown>) this.#pair(pair);
      return;
    }
    const names = keysOf(init);
    for (let i = 0; i < names.length; i++) {
      const name = names[i]!;
      if (!getOwnPropertyDescriptor(init, name)?.enumerable) continue;
      if (typeof name === "symbol") throw new NativeTypeError("Headers constructor: a symbol is not a name");
      this.append(name, (init as Record<string, unknown>)[name]);
    }
  }

  #pair(given: unknown): void {
    if (typeof given !== "object" || given === null) throw new NativeTypeError("Headers constructor: expected name/value pairs");
    const pair = isArray(given) ? given : [...(given as Iterable<unknown>)];
    if (pair.length !== 2) throw new NativeTypeError("Headers constructor: expected name/value pairs to be of length 2");
    this.append(pair[0], pair[1]);
  }

  append(name: unknown, value: unknown): void {
    need(arguments.length, 2, "append");
    const key = keyOf(name, "append");
    const text = valueOf(value, key, "append");
    this.#mayChange();
    const before = hasOwn(this.#table, key) ? this.#table[key] : undefined;
    this.#table[key] = before === undefined ? text : before + (key === "set-cookie" ? "\n" : key === "cookie" ? "; " : ", ") + text;
  }

  set(name: unknown, value: unknown): void {
    need(arguments.length, 2, "set");
    const key = keyOf(name, "set");
    const text = valueOf(value, key, "set");
    this.#mayChange();
    this.#table[key] = text;
  }

  get(name: unknown): string | null {
    need(arguments.length, 1, "get");
    const value = this.#table[keyOf(name, "get")];
    if (value === undefined) return null;
    const lines = split(value, "\n");
    let text = lines[0]!;
    for (let i = 1; i < lines.length; i++) text += `, ${lines[i]}`;
    return text;
  }

  has(name: unknown): boolean {
    need(arguments.length, 1, "has");
    return this.#table[keyOf(name, "has")] !== undefined;
  }

  delete(name: unknown): void {
    need(arguments.length, 1, "delete");
    const key = keyOf(name, "delete");
    this.#mayChange();
    delete this.#table[key];
  }

  getSetCookie(): string[] {
    const value = this.#table["set-cookie"];
    return value === undefined ? [] : split(value, "\n");
  }

  forEach(visit: (value: string, name: string, headers: Headers) => void, self?: unknown): void {
    if (typeof visit !== "function") throw new NativeTypeError("Headers.forEach: the first argument is not a function");
    for (let i = 0, all = this.#sorted(); i < all.length; i++) visit.call(self, all[i]![1], all[i]![0], this);
  }

  /** Sorted by name. Each cookie is an entry of its own. */
  #sorted(): [string, string][] {
    const names = sort(keysOf(this.#table) as string[]);
    const all: [string, string][] = [];
    for (let i = 0; i < names.length; i++) {
      const values = split(this.#table[names[i]!] ?? "", "\n");
      for (let at = 0; at < values.length; at++) all[all.length] = [names[i]!, values[at]!];
    }
    return all;
  }

  #mayChange(): void {
    if (this.#isFrozen) throw new NativeTypeError("immutable");
  }

  /** Iterates the live table. */
  *entries(): Generator<[string, string]> {
    for (let i = 0; ; i++) {
      const pair = this.#sorted()[i];
      if (!pair) return;
      yield pair;
    }
  }
  *keys(): Generator<string> {
    for (const [name] of this.entries()) yield name;
  }
  *values(): Generator<string> {
    for (const [, value] of this.entries()) yield value;
  }
  declare [Symbol.iterator]: () => Generator<[string, string]>;
}

function need(given: number, wanted: number, method: string): void {
  if (given < wanted)
    throw new NativeTypeError(`Headers.${method}: ${wanted} argument${wanted > 1 ? "s" : ""} required, but only ${given} present.`);
}

function keyOf(name: unknown, method: string): string {
  const text = NativeString(name);
  if (!NAME.test(text)) throw new NativeTypeError(`Headers.${method}: ${text} is an invalid header name.`);
  return lowerCase(text);
}

function valueOf(value: unknown, key: string, method: string): string {
  const text = trimmed(NativeString(value));
  if (NOT_VALUE.test(text)) throw new NativeTypeError(`Headers.${method}: the value of ${key} is an invalid header value.`);
  return text;
}

/** HTTP's white space, which is narrower than JavaScript's. */
function trimmed(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text[from]!)) from += 1;
  while (to > from && isBlank(text[to - 1]!)) to -= 1;
  return from === 0 && to === text.length ? text : sliceText(text, from, to);
}

function isBlank(c: string): boolean {
  return c === " " || c === "\t" || c === "\n" || c === "\r";
}

// oxlint-disable-next-line typescript/unbound-method -- the same function under both names, as Web IDL says
const { entries } = Headers.prototype;
Object.defineProperty(Headers.prototype, Symbol.iterator, { value: entries, writable: true, configurable: true });
Object.defineProperty(Headers, "length", { value: 0 });
expose(Headers);
cloneAs(Headers);
inspectAs<Headers>(Headers, (self) => Object.fromEntries(self));
