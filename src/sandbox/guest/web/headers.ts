/** Inside the isolate: `Headers`. Whether a name or value can be sent is the host's to say. */
import { bare, isArray, keysOf, lowerCase, NativeString, NativeTypeError, sort, split, trim } from "../primordials.ts";

export type HeaderTable = Record<string, string>;

/** The table behind a Headers; by lower-case name, several cookies on a line each. */
export let tableOf: (headers: Headers) => HeaderTable;

export class Headers {
  readonly #table: HeaderTable = bare({});

  static {
    tableOf = (headers) => headers.#table;
  }

  constructor(init?: unknown) {
    if (init === undefined || init === null) return;
    if (typeof init !== "object") throw new NativeTypeError("headers are an object, a list of pairs or a Headers");
    if (#table in init || !isArray(init)) {
      const from = (#table in init ? init.#table : init) as HeaderTable;
      const names = keysOf(from);
      for (let i = 0; i < names.length; i++) if (typeof names[i] === "string") this.append(names[i], from[names[i] as string]);
      return;
    }
    for (let i = 0; i < init.length; i++) this.append((init[i] as unknown[])[0], (init[i] as unknown[])[1]);
  }

  append(name: unknown, value: unknown): void {
    const key = keyOf(name);
    const text = trim(NativeString(value));
    const before = this.#table[key];
    this.#table[key] = before === undefined ? text : before + (key === "set-cookie" ? "\n" : ", ") + text;
  }

  set(name: unknown, value: unknown): void {
    this.#table[keyOf(name)] = trim(NativeString(value));
  }

  get(name: unknown): string | null {
    const value = this.#table[keyOf(name)];
    if (value === undefined) return null;
    const lines = split(value, "\n");
    let text = lines[0]!;
    for (let i = 1; i < lines.length; i++) text += `, ${lines[i]}`;
    return text;
  }

  has(name: unknown): boolean {
    return this.#table[keyOf(name)] !== undefined;
  }

  delete(name: unknown): void {
    delete this.#table[keyOf(name)];
  }

  getSetCookie(): string[] {
    const value = this.#table["set-cookie"];
    return value === undefined ? [] : split(value, "\n");
  }

  forEach(visit: (value: string, name: string, headers: Headers) => void): void {
    for (const [name, value] of this.entries()) visit(value, name, this);
  }

  /** Sorted by name, as everywhere. */
  *entries(): Generator<[string, string]> {
    const names = sort(keysOf(this.#table) as string[]);
    for (let i = 0; i < names.length; i++) {
      const values = split(this.#table[names[i]!] ?? "", "\n");
      for (let at = 0; at < values.length; at++) yield [names[i]!, values[at]!];
    }
  }

  *keys(): Generator<string> {
    for (const [name] of this.entries()) yield name;
  }

  *values(): Generator<string> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): Generator<[string, string]> {
    return this.entries();
  }
}

function keyOf(name: unknown): string {
  return lowerCase(NativeString(name));
}
