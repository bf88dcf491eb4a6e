/**
 * Bundler child process: what a module's code reveals, for reviewers: which names it uses, which addresses its literals
 * contain, what turns text into code, what was made hard to read. Works on the syntax tree, never on the text: a
 * comment is not a finding. It cannot find what is hidden well enough.
 */
import { parseSync } from "rolldown/utils";
import type { Severity } from "../messages.ts";

export interface Finding {
  readonly rule: ScanRule;
  readonly severity: Severity;
  /** Relative to the plugin's folder. */
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

export interface ModuleScan {
  /** In literals, such as `https://api.example.com`, each with its first line. */
  readonly origins: readonly { readonly origin: string; readonly line: number }[];
  /** Names read from `process.env`. */
  readonly env: readonly string[];
  /** Services of the sandbox that it would need a grant for. */
  readonly uses: readonly string[];
  /** Names of modules that it requires as literals, each with its first line. */
  readonly requires: ReadonlyMap<string, number>;
  readonly findings: readonly Finding[];
}

const RULES = {
  eval: ["warn", "makes code out of text with eval"],
  function: ["warn", "makes code out of text with Function"],
  "timer-text": ["warn", "hands text to a timer, which runs it as code"],
  "dynamic-import": ["warn", "imports a module whose name is only known at run time"],
  "dynamic-require": ["info", "requires a module whose name is only known at run time"],
  "constructor-chain": ["critical", "reaches for the Function constructor by way of another object, as escapes from sandboxes do"],
  "prototype-change": ["warn", "changes a prototype of the language itself"],
  "hex-names": ["critical", "has names such as _0x3f2a: it was made unreadable by a tool"],
  "encoded-text": ["warn", "has a long encoded text in it, whose meaning cannot be read"],
  "escaped-text": ["warn", "has text written as escapes that would be readable otherwise"],
  "long-line": ["info", "has lines too long to be read: it is minified, or hidden"],
} as const satisfies Record<string, readonly [Severity, string]>;
export type ScanRule = keyof typeof RULES;

const LONG_LINE = 5_000;
const ENCODED_CHARS = 1_000;
/** Bits per character above which a long text is not prose: English has about 4.2, base64 has 5.5 to 6. */
const ENCODED_BITS = 5;
const ESCAPES = 40;
const HEX_NAMES = 8;
const MAX_FINDINGS = 200;
const ORIGIN = /\b(?:https?|wss?):\/\/(?:\[[\da-f:.]+\]|[a-z\d_-]+(?:\.[a-z\d_-]+)*)(?::\d{1,5})?/gi;
/** Identifiers of schemas and namespaces, which are never fetched. */
const NAMESPACES = /^https?:\/\/(?:(?:www\.)?w3\.org|json-schema\.org|schemas?\.[a-z.]+|(?:www\.)?schema\.org|xmlns\.com|ns\.adobe\.com)$/i;
const INTRINSICS = new Set([
  "Object",
  "Array",
  "Function",
  "String",
  "Number",
  "Promise",
  "RegExp",
  "Map",
  "Set",
  "JSON",
  "Reflect",
  "Error",
]);

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** Returns nothing for code that does not parse: the bundler reports that. */
export function scanModule(file: string, code: string): ModuleScan {
  const { program, errors } = parseSync(file, code, { preserveParens: false });
  const scan = new Scan(file, code);
  if (errors.length === 0) scan.visit(program as unknown as Node);
  return scan.result();
}

class Scan {
  readonly #file: string;
  readonly #code: string;
  readonly #origins = new Map<string, number>();
  readonly #env = new Set<string>();
  readonly #uses = new Set<string>();
  readonly #requires = new Map<string, number>();
  readonly #findings: Finding[] = [];
  /** One finding of a kind per line is enough. */
  readonly #seen = new Set<string>();
  #hexNames = 0;
  #lines: number[] | undefined;

  constructor(file: string, code: string) {
    this.#file = file;
    this.#code = code;
    const long = code.split("\n").findIndex((line) => line.length > LONG_LINE);
    if (long >= 0) this.#add("long-line", long + 1);
  }

  result(): ModuleScan {
    return {
      origins: [...this.#origins].map(([origin, line]) => ({ origin, line })),
      env: [...this.#env],
      uses: [...this.#uses],
      requires: this.#requires,
      findings: this.#findings,
    };
  }

  /** Without recursion: a tree may be arbitrarily deep. */
  visit(program: Node): void {
    const waiting: Node[] = [program];
    for (let node = waiting.pop(); node; node = waiting.pop()) {
      this.#look(node);
      // In the order of the text: the last one pushed is visited first.
      const parts = node.type === "MemberExpression" && node.computed !== true ? [node.object] : Object.values(node).flat();
      // One by one: a list may be longer than a call's arguments.
      for (const part of parts.filter(isCode).toReversed()) waiting.push(part);
    }
  }

  #look(node: Node): void {
    switch (node.type) {
      case "CallExpression":
      case "NewExpression":
        return this.#call(node);
      case "ImportExpression":
        if (literal(node.source) === undefined) this.#add("dynamic-import", node);
        return;
      case "MemberExpression":
        return this.#member(node);
      case "AssignmentExpression":
        return this.#assignment(node.left as Node);
      case "Identifier":
        // Also where it only gets another name.
        if (node.name === "eval") this.#add("eval", node);
        if (/^_0x[\da-f]{3,}$/.test(String(node.name)) && ++this.#hexNames === HEX_NAMES) this.#add("hex-names", node);
        return;
      case "Literal":
        if (typeof node.value === "string") this.#text(node.value, node);
        return;
      case "TemplateElement":
        return this.#text((node.value as { cooked?: string | null }).cooked ?? "", node);
    }
  }

  #call(node: Node): void {
    const callee = node.callee as Node;
    const [first] = node.arguments as Node[];
    const name = callee.type === "Identifier" ? String(callee.name) : undefined;
    if (name === "Function" || name === "GeneratorFunction" || name === "AsyncFunction") this.#add("function", node);
    else if ((name === "setTimeout" || name === "setInterval") && first && literal(first) !== undefined) this.#add("timer-text", node);
    else if (name === "require" && first) this.#require(node, literal(first));
    else if (name === "fetch") this.#uses.add("fetch");
    else if (propertyOf(callee) === "constructor" && first) this.#add("constructor-chain", node);
  }

  #require(node: Node, name: string | undefined): void {
    if (name === undefined) this.#add("dynamic-require", node);
    else if (!this.#requires.has(name)) this.#requires.set(name, this.#lineOf(node.start));
  }

  #member(node: Node): void {
    const object = node.object as Node;
    const property = propertyOf(node);
    if (property === undefined) return;
    if (object.type === "MemberExpression" && propertyOf(object) === "env" && isProcess(object.object as Node)) this.#env.add(property);
    if (property === "constructor" && object.type === "MemberExpression" && propertyOf(object) === "constructor")
      this.#add("constructor-chain", node);
    if (object.type === "Identifier" && object.name === "api" && (property === "kv" || property === "schedule")) this.#uses.add(property);
    if (object.type === "MemberExpression" && propertyOf(object) === "session" && (property === "get" || property === "patch"))
      this.#uses.add(`session.${property}`);
  }

  #assignment(left: Node): void {
    if (left.type !== "MemberExpression") return;
    const object = left.object as Node;
    const isPrototype = object.type === "MemberExpression" && propertyOf(object) === "prototype";
    const owner = isPrototype ? (object.object as Node) : undefined;
    if (owner?.type === "Identifier" && INTRINSICS.has(String(owner.name))) this.#add("prototype-change", left);
  }

  #text(value: string, node: Node): void {
    for (const [text] of value.matchAll(ORIGIN)) {
      const origin = URL.parse(text.toLowerCase())?.origin;
      const named = origin === undefined || origin === "null" ? text.toLowerCase() : origin;
      if (!NAMESPACES.test(named) && !this.#origins.has(named)) this.#origins.set(named, this.#lineOf(node.start));
    }
    if (value.length >= ENCODED_CHARS && !/\s/.test(value.slice(0, ENCODED_CHARS)) && entropy(value) >= ENCODED_BITS)
      this.#add("encoded-text", node);
    const raw = this.#code.slice(node.start, node.end);
    const escapes = raw.match(/\\x[2-7][\da-f]|\\u00[2-7][\da-f]/gi)?.length ?? 0;
    if (escapes >= ESCAPES && escapes * 4 > raw.length / 2) this.#add("escaped-text", node);
  }

  #add(rule: ScanRule, at: Node | number): void {
    const line = typeof at === "number" ? at : this.#lineOf(at.start);
    const key = `${rule}:${line}`;
    if (this.#seen.has(key) || this.#findings.length >= MAX_FINDINGS) return;
    this.#seen.add(key);
    const [severity, message] = RULES[rule];
    this.#findings.push({ rule, severity, file: this.#file, line, message });
  }

  #lineOf(offset: number): number {
    this.#lines ??= [...this.#code.matchAll(/\n/g)].map(({ index }) => index);
    let low = 0;
    let high = this.#lines.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#lines[middle]! < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

/** TypeScript syntax that contains code. The rest are types, which do not exist at run time. */
const CODE_OF_TS =
  /^TS(?:Enum\w*|Module\w*|(?:As|Satisfies|NonNull|Instantiation)Expression|TypeAssertion|ExportAssignment|ImportEqualsDeclaration|ExternalModuleReference|ParameterProperty)$/;

function isCode(value: unknown): value is Node {
  return isNode(value) && (!value.type.startsWith("TS") || CODE_OF_TS.test(value.type));
}

/** The text of a literal, or of a template without holes. */
function literal(value: unknown): string | undefined {
  if (!isNode(value)) return undefined;
  if (value.type === "Literal" && typeof value.value === "string") return value.value;
  if (value.type !== "TemplateLiteral" || (value.expressions as unknown[]).length > 0) return undefined;
  return (value.quasis as { value: { cooked: string } }[])[0]?.value.cooked;
}

function propertyOf(node: Node): string | undefined {
  if (node.type !== "MemberExpression") return undefined;
  const property = node.property as Node;
  return node.computed === true ? literal(property) : property.type === "Identifier" ? String(property.name) : undefined;
}

function isProcess(node: Node): boolean {
  return (node.type === "Identifier" && node.name === "process") || propertyOf(node) === "process";
}

/** Shannon entropy, in bits per character. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
