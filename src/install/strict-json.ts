/**
 * Trusted side: reads a stranger's JSON. JSON.parse takes the last of two equal keys where another reader takes the first, rounds large
 * numbers, makes a key of "__proto__", and nests as deep as the stack allows. None of that is meant in a manifest, so it is refused, with its place.
 */
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { printable } from "./printable.ts";

export interface StrictJsonOptions {
  /** For messages. */
  readonly path: string;
  readonly bytes?: number;
  readonly depth?: number;
}

/** Harmless as keys of data, but only until somebody copies the object with a loop. */
const FORBIDDEN_KEYS = new Set(["__proto__", "constructor", "prototype"]);
const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// Control characters may only stand in it as escapes.
const STRING = /"(?:[^"\\\p{Cc}]|[\x7F-\x9F]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const WORDS: [word: string, value: unknown][] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

export function parseStrictJson(
  bytes: Uint8Array,
  { path, bytes: most = LIMITS.manifestBytes, depth = LIMITS.manifestDepth }: StrictJsonOptions,
): unknown {
  const refuse = (detail: string): CreelError => new CreelError("ERR_INSTALL_JSON", { path, line: 1, column: 1, detail });
  if (bytes.length > most) throw refuse(`the file has ${bytes.length} bytes, and may have ${most}`);
  let text: string;
  try {
    // It leaves a mark of the byte order away, as npm does.
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refuse("the file is not UTF-8");
  }
  return new Parser(text, path, depth).whole();
}

class Parser {
  readonly #text: string;
  readonly #path: string;
  readonly #maxDepth: number;
  #at = 0;

  constructor(text: string, path: string, maxDepth: number) {
    this.#text = text;
    this.#path = path;
    this.#maxDepth = maxDepth;
  }

  whole(): unknown {
    const value = this.#value(0);
    this.#match(SPACE);
    if (this.#at < this.#text.length) throw this.#refuse("there is more after the end of the value");
    return value;
  }

  #value(depth: number): unknown {
    this.#match(SPACE);
    const start = this.#text[this.#at];
    if (start === "{" || start === "[") {
      // SECURITY: bounds our own recursion as well. test/install/strict-json.test.ts
      if (depth >= this.#maxDepth) throw this.#refuse(`values lie inside each other more than ${this.#maxDepth} deep`);
      return start === "{" ? this.#object(depth + 1) : this.#array(depth + 1);
    }
    if (start === '"') return this.#string();
    for (const [word, value] of WORDS) if (this.#skip(word)) return value;
    return this.#number();
  }

  #object(depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    this.#skip("{");
    for (let isFirst = true; !this.#closes("}", isFirst); isFirst = false) {
      this.#match(SPACE);
      const at = this.#at;
      if (this.#text[at] !== '"') throw this.#refuse("a key in double quotes is missing");
      const key = this.#string();
      // SECURITY: so a plain object and a plain assignment are safe. test/install/strict-json.test.ts
      if (FORBIDDEN_KEYS.has(key)) throw this.#refuse(`the key "${key}" is not allowed`, at);
      if (Object.hasOwn(object, key)) throw this.#refuse(`the key "${printable(key)}" comes twice`, at);
      this.#match(SPACE);
      if (!this.#skip(":")) throw this.#refuse("a colon is missing");
      object[key] = this.#value(depth);
    }
    return object;
  }

  #array(depth: number): unknown[] {
    const array: unknown[] = [];
    this.#skip("[");
    for (let isFirst = true; !this.#closes("]", isFirst); isFirst = false) array.push(this.#value(depth));
    return array;
  }

  /** Takes the bracket, or the comma before what comes next. */
  #closes(bracket: string, isFirst: boolean): boolean {
    this.#match(SPACE);
    if (this.#skip(bracket)) return true;
    if (!isFirst && !this.#skip(",")) throw this.#refuse(`a comma or "${bracket}" is missing`);
    return false;
  }

  #string(): string {
    const at = this.#at;
    const literal = this.#match(STRING);
    if (!literal) throw this.#refuse("a text does not end, or has a character that must be escaped");
    const value = JSON.parse(literal) as string;
    if (!value.isWellFormed()) throw this.#refuse("a text has half of a character", at);
    return value;
  }

  #number(): number {
    const at = this.#at;
    const literal = this.#match(NUMBER);
    if (!literal) throw this.#refuse(at < this.#text.length ? "this is not JSON" : "the file ends too early");
    const value = Number(literal);
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) throw this.#refuse("a number is too large to be exact", at);
    return value;
  }

  #skip(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #refuse(detail: string, at = this.#at): CreelError {
    const before = this.#text.slice(0, at).split("\n");
    return new CreelError("ERR_INSTALL_JSON", { path: this.#path, line: before.length, column: before.at(-1)!.length + 1, detail });
  }
}
