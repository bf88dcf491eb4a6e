/**
 * JSON as people write it in configuration files: with comments and trailing commas. Read into a tree that knows where in the text everything
 * is, so that a file can be changed in one place. A key that is there twice is refused: people see the first, and a parser takes the last.
 */
export interface JsonPart {
  /** Of a member of an object. */
  readonly key: string | undefined;
  /** Of the key, or of the value if there is none. */
  readonly start: number;
  readonly value: JsonNode;
  /** Where the comma after it is. */
  readonly comma: number | undefined;
}

interface Place {
  readonly start: number;
  readonly end: number;
}

export type JsonContainer = Place & {
  readonly kind: "object" | "array";
  readonly parts: readonly JsonPart[];
  /** Where the last part, comma or comment before the closing bracket ends. */
  readonly tail: number;
};
export type JsonNode = JsonContainer | (Place & { readonly kind: "plain"; readonly value: string | number | boolean | null });

/** Nothing that is meant nests deeper, and reading goes one call down per level. */
const MAX_DEPTH = 256;
const BLANK = /[ \t\r\n]/;
const PLAIN = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** Throws a SyntaxError that says where. */
export function parseJsonc(text: string): unknown {
  return jsonValue(readJsonc(text));
}

export function readJsonc(text: string): JsonNode {
  return new Reader(text).read();
}

export function jsonValue(node: JsonNode): unknown {
  if (node.kind === "plain") return node.value;
  if (node.kind === "array") return node.parts.map(({ value }) => jsonValue(value));
  return Object.fromEntries(node.parts.map(({ key, value }) => [key, jsonValue(value)]));
}

class Reader {
  readonly #text: string;
  #at: number;
  /** The end of the last token or comment. */
  #solid = 0;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith("\ufeff") ? 1 : 0;
  }

  read(): JsonNode {
    this.#skip();
    const root = this.#value(0);
    this.#skip();
    if (this.#at < this.#text.length) this.#fail("there is something after the end");
    return root;
  }

  #value(depth: number): JsonNode {
    const start = this.#at;
    const char = this.#text[start];
    if (char === "{" || char === "[") return this.#container(char === "{" ? "object" : "array", depth);
    if (char === '"') return { kind: "plain", start, value: this.#string(), end: this.#at };
    PLAIN.lastIndex = start;
    const [plain] = PLAIN.exec(this.#text) ?? this.#fail("a value is missing");
    this.#took(start + plain.length);
    return { kind: "plain", start, value: JSON.parse(plain) as number | boolean | null, end: this.#at };
  }

  #container(kind: "object" | "array", depth: number): JsonContainer {
    if (depth === MAX_DEPTH) this.#fail(`it nests deeper than ${MAX_DEPTH} levels`);
    const start = this.#at;
    const close = kind === "object" ? "}" : "]";
    const parts: JsonPart[] = [];
    const keys = new Set<string>();
    this.#took(start + 1);
    for (;;) {
      this.#skip();
      if (this.#text[this.#at] === close) break;
      if (parts.length > 0 && parts.at(-1)!.comma === undefined) this.#fail(`"," or "${close}" is missing`);
      const at = this.#at;
      const key = kind === "object" ? this.#key(keys) : undefined;
      const value = this.#value(depth + 1);
      this.#skip();
      const comma = this.#text[this.#at] === "," ? this.#at : undefined;
      if (comma !== undefined) this.#took(comma + 1);
      parts.push({ key, start: at, value, comma });
    }
    const tail = this.#solid;
    this.#took(this.#at + 1);
    return { kind, start, parts, tail, end: this.#at };
  }

  #key(keys: Set<string>): string {
    const at = this.#at;
    if (this.#text[at] !== '"') this.#fail("a key in double quotes is missing");
    const key = this.#string();
    if (keys.has(key)) this.#fail(`the key ${JSON.stringify(key)} is there twice`, at);
    keys.add(key);
    this.#skip();
    if (this.#text[this.#at] !== ":") this.#fail('":" is missing');
    this.#took(this.#at + 1);
    this.#skip();
    return key;
  }

  #string(): string {
    const start = this.#at;
    let end = start + 1;
    while (end < this.#text.length && this.#text[end] !== '"' && this.#text[end] !== "\n") end += this.#text[end] === "\\" ? 2 : 1;
    if (this.#text[end] !== '"') this.#fail("a text does not end");
    this.#took(end + 1);
    try {
      return JSON.parse(this.#text.slice(start, end + 1)) as string;
    } catch {
      return this.#fail("a text has a character that must be escaped, or is escaped wrongly", start);
    }
  }

  #skip(): void {
    for (;;) {
      while (BLANK.test(this.#text[this.#at] ?? "x")) this.#at += 1;
      if (this.#text.startsWith("//", this.#at)) {
        const end = this.#text.slice(this.#at).search(/[\r\n]/);
        this.#took(end === -1 ? this.#text.length : this.#at + end);
      } else if (this.#text.startsWith("/*", this.#at)) {
        const end = this.#text.indexOf("*/", this.#at + 2);
        if (end === -1) this.#fail("a comment does not end");
        this.#took(end + 2);
      } else return;
    }
  }

  #took(end: number): void {
    this.#at = end;
    this.#solid = end;
  }

  #fail(detail: string, at = this.#at): never {
    const before = this.#text.slice(0, at).split(/\r\n|\r|\n/);
    throw new SyntaxError(`line ${before.length}, column ${before.at(-1)!.length + 1}: ${detail}`);
  }
}
