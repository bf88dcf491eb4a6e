/** Inside the isolate: `URLSearchParams`. */
import form from "whatwg-url/lib/urlencoded.js";
import { cloneAs, coded, expose, missing, wrongType } from "../idl.ts";
import { usv } from "../text.ts";

type Pair = [name: string, value: string];
const KINDS = ["entries", "keys", "values"] as const;
type Kind = (typeof KINDS)[number];
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** The parameters of a URL. `changed` is called with the new query after every change. */
export let paramsOf: (query: string, changed: (query: string) => void) => URLSearchParams;
/** The URL has a new query. */
export let setQuery: (params: URLSearchParams, query: string) => void;
let pairsOf: (params: URLSearchParams) => readonly Pair[];

export class URLSearchParams {
  #pairs: Pair[] = [];
  #changed: (query: string) => void = () => {};

  static {
    paramsOf = (query, changed) => {
      const params = new URLSearchParams();
      params.#changed = changed;
      setQuery(params, query);
      return params;
    };
    setQuery = (params, query) => void (params.#pairs = form.parseUrlencodedString(query));
    pairsOf = (params) => params.#pairs;
  }

  constructor(...[init]: unknown[]) {
    if (init === undefined) return;
    if (init === null || (typeof init !== "object" && typeof init !== "function")) {
      this.#pairs = form.parseUrlencodedString(usv(init).replace(/^\?/, ""));
      return;
    }
    const iterate = (init as { [Symbol.iterator]?: unknown })[Symbol.iterator];
    if (iterate !== undefined && iterate !== null) {
      if (typeof iterate !== "function") throw coded(TypeError, "ERR_ARG_NOT_ITERABLE", "Query pairs must be iterable");
      for (const pair of init as Iterable<unknown>) this.#pairs.push(pairOf(pair));
      return;
    }
    const table = new Map<string, string>();
    for (const key of Reflect.ownKeys(init))
      if (Object.getOwnPropertyDescriptor(init, key)?.enumerable) table.set(usv(key), usv((init as Record<string | symbol, unknown>)[key]));
    this.#pairs = [...table];
  }

  get size(): number {
    return this.#pairs.length;
  }

  append(name: unknown, value: unknown): void {
    if (arguments.length < 2) throw missing("name", "value");
    this.#pairs.push([usv(name), usv(value)]);
    this.#notifyUrl();
  }

  delete(name: unknown, ...[value]: unknown[]): void {
    if (arguments.length === 0) throw missing("name");
    const key = usv(name);
    const only = value === undefined ? undefined : usv(value);
    this.#pairs = this.#pairs.filter((pair) => pair[0] !== key || (only !== undefined && pair[1] !== only));
    this.#notifyUrl();
  }

  get(name: unknown): string | null {
    if (arguments.length === 0) throw missing("name");
    const key = usv(name);
    return this.#pairs.find((pair) => pair[0] === key)?.[1] ?? null;
  }

  getAll(name: unknown): string[] {
    if (arguments.length === 0) throw missing("name");
    const key = usv(name);
    return this.#pairs.filter((pair) => pair[0] === key).map((pair) => pair[1]);
  }

  has(name: unknown, ...[value]: unknown[]): boolean {
    if (arguments.length === 0) throw missing("name");
    const key = usv(name);
    const only = value === undefined ? undefined : usv(value);
    return this.#pairs.some((pair) => pair[0] === key && (only === undefined || pair[1] === only));
  }

  set(name: unknown, value: unknown): void {
    if (arguments.length < 2) throw missing("name", "value");
    const key = usv(name);
    const text = usv(value);
    const first = this.#pairs.find((pair) => pair[0] === key);
    if (first) {
      first[1] = text;
      this.#pairs = this.#pairs.filter((pair) => pair === first || pair[0] !== key);
    } else {
      this.#pairs.push([key, text]);
    }
    this.#notifyUrl();
  }

  /** Sorts by code units, stably. */
  sort(): void {
    this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.#notifyUrl();
  }

  entries(): ParamsIterator {
    return new ParamsIterator(this, "entries");
  }

  forEach(visit: unknown, ...[self]: unknown[]): void {
    // Checks the receiver first, as every method does.
    void this.#pairs;
    if (typeof visit !== "function") throw wrongType("callback", "of type function", visit);
    for (let i = 0; i < this.#pairs.length; i++) Reflect.apply(visit as () => void, self, [this.#pairs[i]![1], this.#pairs[i]![0], this]);
  }

  keys(): ParamsIterator {
    return new ParamsIterator(this, "keys");
  }

  values(): ParamsIterator {
    return new ParamsIterator(this, "values");
  }

  toString(): string {
    return form.serializeUrlencoded(this.#pairs);
  }

  [Symbol.iterator](): ParamsIterator {
    return this.entries();
  }

  #notifyUrl(): void {
    this.#changed(form.serializeUrlencoded(this.#pairs));
  }
}

function pairOf(value: unknown): Pair {
  const isList = typeof value === "object" && value !== null && Symbol.iterator in value;
  const pair = isList ? [...(value as Iterable<unknown>)] : [];
  if (pair.length !== 2) throw coded(TypeError, "ERR_INVALID_TUPLE", "Each query pair must be an iterable [name, value] tuple");
  return [usv(pair[0]), usv(pair[1])];
}

/** Iterates the live list: entries that are added or removed meanwhile count. */
class ParamsIterator {
  readonly #params: URLSearchParams;
  readonly #kind: Kind;
  #at = 0;
  constructor(params: URLSearchParams, kind: Kind) {
    // Throws unless these are parameters.
    pairsOf(params);
    this.#params = params;
    this.#kind = kind;
  }
  next(): IteratorResult<unknown, undefined> {
    const pair = pairsOf(this.#params)[this.#at];
    if (!pair) return { value: undefined, done: true };
    this.#at += 1;
    return { value: pick(pair, this.#kind), done: false };
  }
  static rest(iterator: ParamsIterator): unknown[] {
    return pairsOf(iterator.#params)
      .slice(iterator.#at)
      .map((pair) => pick(pair, iterator.#kind));
  }
}

function pick(pair: Pair, kind: Kind): unknown {
  return kind === "entries" ? [pair[0], pair[1]] : pair[kind === "keys" ? 0 : 1];
}

expose(URLSearchParams);
cloneAs(URLSearchParams);
// The iterator and `entries` are the same function.
Object.defineProperty(URLSearchParams.prototype, Symbol.iterator, {
  // oxlint-disable-next-line typescript/unbound-method -- it becomes a method again
  value: URLSearchParams.prototype.entries,
  writable: true,
  configurable: true,
});
expose(ParamsIterator);
Reflect.deleteProperty(ParamsIterator.prototype, "constructor");
Object.setPrototypeOf(ParamsIterator.prototype, Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())) as object);
Object.defineProperty(ParamsIterator.prototype, Symbol.toStringTag, { value: "URLSearchParams Iterator", configurable: true });

type Inspect = (value: unknown, options: object) => string;
function inspectable<T extends object>(prototype: T, name: string, lines: (self: T, show: (value: unknown) => string) => string[]): void {
  const value = function (this: T, _depth: number, options: object, inspect: Inspect): string {
    const shown = lines(this, (one) => inspect(one, options));
    return shown.length === 0 ? `${name} {}` : `${name} { ${shown.join(", ")} }`;
  };
  Object.defineProperty(prototype, INSPECT, { value, writable: true, configurable: true });
}
inspectable(URLSearchParams.prototype, "URLSearchParams", (self, show) =>
  pairsOf(self).map(([name, value]) => `${show(name)} => ${show(value)}`),
);
inspectable(ParamsIterator.prototype, "URLSearchParams Iterator", (self, show) => ParamsIterator.rest(self).map(show));
