/** Inside the isolate: `FormData`, and its form on the wire. */
import { blobBytes, fileOf, isBlob, isFile, join } from "./blob.ts";
import type { File } from "./blob.ts";
import { TextEncoder } from "../encoding.ts";
import { cloneAs, expose, inspectAs } from "../idl.ts";
import { usv } from "../text.ts";

type Value = string | File;
type Entry = [name: string, value: Value];

const encoder = new TextEncoder();

/** Checks the private field, not the prototype. */
export let isFormData: (value: unknown) => value is FormData;

export class FormData {
  #entries: Entry[] = [];

  static {
    isFormData = (value): value is FormData => typeof value === "object" && value !== null && #entries in value;
  }

  constructor(...[form]: unknown[]) {
    // Browsers take a form element here.
    if (form !== undefined) throw new TypeError("FormData constructor: Argument 1 could not be converted to: undefined.");
  }

  append(name: unknown, value: unknown, ...more: unknown[]): void {
    need("append", arguments.length, 2);
    this.#entries.push(entryOf("append", name, value, more));
  }

  delete(name: unknown): void {
    need("delete", arguments.length, 1);
    const key = usv(name);
    this.#entries = this.#entries.filter((entry) => entry[0] !== key);
  }

  get(name: unknown): Value | null {
    need("get", arguments.length, 1);
    const key = usv(name);
    return this.#entries.find((entry) => entry[0] === key)?.[1] ?? null;
  }

  getAll(name: unknown): Value[] {
    need("getAll", arguments.length, 1);
    const key = usv(name);
    return this.#entries.filter((entry) => entry[0] === key).map((entry) => entry[1]);
  }

  has(name: unknown): boolean {
    need("has", arguments.length, 1);
    const key = usv(name);
    return this.#entries.some((entry) => entry[0] === key);
  }

  set(name: unknown, value: unknown, ...more: unknown[]): void {
    need("set", arguments.length, 2);
    const entry = entryOf("set", name, value, more);
    const first = this.#entries.findIndex((one) => one[0] === entry[0]);
    if (first < 0) this.#entries.push(entry);
    else this.#entries = this.#entries.flatMap((one, at) => (at === first ? [entry] : one[0] === entry[0] ? [] : [one]));
  }

  *keys(): Generator<string, undefined> {
    for (let i = 0; i < this.#entries.length; i++) yield this.#entries[i]![0];
  }

  *values(): Generator<Value, undefined> {
    for (let i = 0; i < this.#entries.length; i++) yield this.#entries[i]![1];
  }

  /** Iterates the live list: entries that are added or removed meanwhile count. */
  *entries(): Generator<Entry, undefined> {
    for (let i = 0; i < this.#entries.length; i++) yield [...this.#entries[i]!] as Entry;
  }

  forEach(visit: unknown, ...[self]: unknown[]): void {
    need("forEach", arguments.length, 1);
    if (typeof visit !== "function")
      throw new TypeError(`Failed to execute 'forEach' on 'FormData': parameter 1 is not of type 'Function'.`);
    for (const [name, value] of this.entries()) Reflect.apply(visit as () => void, self, [value, name, this]);
  }

  [Symbol.iterator](): Generator<Entry, undefined> {
    return this.entries();
  }
}

function need(method: string, got: number, wanted: number): void {
  if (got >= wanted) return;
  const found = got === 0 || wanted === 1 ? `${got} found` : `only ${got} found`;
  throw new TypeError(`FormData.${method}: ${wanted} argument${wanted > 1 ? "s" : ""} required, but ${found}.`);
}

function entryOf(method: string, name: unknown, value: unknown, more: readonly unknown[]): Entry {
  const filename = more[0];
  if (!isBlob(value)) {
    if (filename !== undefined) throw new TypeError(`FormData.${method}: Expected value ("${String(value)}") to be an instance of Blob.`);
    return [usv(name), usv(value)];
  }
  if (isFile(value) && filename === undefined) return [usv(name), value];
  return [usv(name), fileOf(value, filename === undefined ? "blob" : usv(filename))];
}

/** The bytes as multipart/form-data, and their content type. */
export function encodeFormData(form: FormData): { bytes: Uint8Array<ArrayBuffer>; type: string } {
  const boundary = `----formdata-creel-${Math.random().toString().slice(2, 14).padEnd(12, "0")}`;
  const parts: Uint8Array[] = [];
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(lines(name))}"`;
    if (typeof value === "string") {
      parts.push(encoder.encode(`${head}\r\n\r\n${lines(value)}\r\n`));
    } else {
      const type = value.type === "" ? "application/octet-stream" : value.type;
      parts.push(encoder.encode(`${head}; filename="${quoted(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`));
      parts.push(blobBytes(value), encoder.encode("\r\n"));
    }
  }
  parts.push(encoder.encode(`--${boundary}--\r\n`));
  return { bytes: join(parts), type: `multipart/form-data; boundary=${boundary}` };
}

/** Every line ends with CR LF. */
function lines(text: string): string {
  return text.replaceAll(/\r\n|\r|\n/g, "\r\n");
}

/**
 * SECURITY: a name cannot end its quotes or its line, so it cannot add headers or parts.
 * test/sandbox/guest/web/fetch/form-data.test.ts
 */
function quoted(text: string): string {
  return text.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");
}

expose(FormData);
cloneAs(FormData);
// The iterator and `entries` are the same function.
Object.defineProperty(FormData.prototype, Symbol.iterator, {
  // oxlint-disable-next-line typescript/unbound-method -- it becomes a method again
  value: FormData.prototype.entries,
  writable: true,
  configurable: true,
});
inspectAs<FormData>(FormData, (form) => {
  const table: Record<string, Value | Value[]> = {};
  for (const name of new Set(form.keys())) {
    const all = form.getAll(name);
    table[name] = all.length === 1 ? all[0]! : all;
  }
  return table;
});
