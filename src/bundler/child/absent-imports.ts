/**
 * Bundler child process: finds where a module uses what the sandbox does not have, and turns each such `require` into
 * one of a stub, which throws when it is used. A `require` inside `try` or a function stays as it is: its author may
 * have a plan without the module, and that plan needs the error. Untrusted text: parsed, never run.
 */
import { isBuiltin } from "node:module";
import { RolldownMagicString } from "rolldown";
import { parseSync } from "rolldown/utils";
import { ABSENT_MODULES, isNative } from "../../protocol/guest-surface/absent.ts";
import { GUEST_MODULES } from "../../protocol/guest-surface/surface.ts";
import { STUB } from "../../protocol/guest-surface/stub.ts";
import type { Placed } from "./meta.ts";

export interface AbsentImports extends Partial<Placed> {
  /** The module, as imported → the line of its first use, or of its import. */
  readonly lines: ReadonlyMap<string, number>;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

const LANGUAGE = /\.[cm]?([jt]sx?)$/;
const NAMES = Object.keys(ABSENT_MODULES).join("|");
/** Cheap, and may find too much: most modules mention none. */
const MENTIONED = new RegExp(`["'\`](?:node:)?(?:(?:${NAMES})["'\`]|[^"'\`\\n]{0,80}(?:sqlite|\\.node|bindings|gyp|prebuild))`);
/** Builds of other bundlers call it so. */
const REQUIRES = new Set(["require", "__require"]);

const FUNCTION = /^(?:Arrow)?Function(?:Expression|Declaration)?(?:Expression)?$/;

/** True for one of Node's modules that a cell does not have, and for machine code. */
export function isAbsent(id: string): boolean {
  return isNative(id) || (isBuiltin(id) && !Object.hasOwn(GUEST_MODULES, id.replace(/^node:/, "")));
}

/** Undefined: it uses nothing that is absent, or does not parse, which the bundler reports. */
export function absentImports(code: string, path: string, isCode: boolean): AbsentImports | undefined {
  const lang = LANGUAGE.exec(path)?.[1] ?? (isCode ? "ts" : undefined);
  if (lang === undefined || !MENTIONED.test(code)) return undefined;
  const program = parsed(path, code, lang as "js");
  if (!program) return undefined;
  const uses = new Uses();
  uses.visit(program);
  if (uses.at.size === 0) return undefined;
  const lines = new Map(Array.from(uses.at, ([name, offset]) => [name, lineOf(code, offset)]));
  if (uses.calls.length === 0) return { lines };
  const changed = new RolldownMagicString(code);
  for (const { start, end, name } of uses.calls) changed.overwrite(start, end, JSON.stringify(STUB + name));
  return { lines, code: changed.toString(), map: changed.generateMap({ hires: true }).toString() };
}

function parsed(path: string, code: string, lang: "js"): Node | undefined {
  for (const sourceType of ["unambiguous", "commonjs"] as const) {
    const { errors, program } = parseSync(path, code, { lang, sourceType });
    if (errors.length === 0) return program as unknown as Node;
  }
  return undefined;
}

class Uses {
  /** The module → where it is used first. */
  readonly at = new Map<string, number>();
  /** The arguments of calls that become a stub's. */
  readonly calls: { readonly start: number; readonly end: number; readonly name: string }[] = [];
  /** The name that an import gave to a module or a part of it → the module. */
  readonly #locals = new Map<string, string>();
  readonly #used = new Set<string>();
  /** Functions that run as soon as what is around them does. */
  readonly #wrappers = new Set<Node>();

  /** Without recursion: a tree may be arbitrarily deep. In the order of the text, so that imports come first. */
  visit(program: Node): void {
    const waiting: [node: Node, isLate: boolean][] = [[program, false]];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [node, isLate] = next;
      if (!this.#look(node, isLate)) continue;
      const isTry = node.type === "TryStatement" && node.handler !== null;
      const isLater = isLate || (FUNCTION.test(node.type) && !this.#wrappers.has(node) && !isModuleFunction(node));
      const parts = Object.entries(node).flatMap(([key, value]) =>
        [value].flat().flatMap((part): [Node, boolean][] => (isNode(part) ? [[part, isLater || (isTry && key === "block")]] : [])),
      );
      // One by one: a list may be longer than a call's arguments.
      for (const part of parts.toReversed()) waiting.push(part);
    }
  }

  /** False: what is inside has been seen. */
  #look(node: Node, isLate: boolean): boolean {
    switch (node.type) {
      case "ImportDeclaration":
      case "ExportNamedDeclaration":
      case "ExportAllDeclaration":
        return this.#declaration(node);
      case "CallExpression":
        this.#call(node, isLate);
        return true;
      case "Property":
        // A table of modules by their paths, as bundlers write it.
        if ((node.key as Node).type === "Literal" && isNode(node.value)) this.#wrappers.add(node.value);
        return true;
      case "Identifier": {
        const name = this.#locals.get(String(node.name));
        if (name !== undefined && !this.#used.has(name)) {
          this.#used.add(name);
          this.at.set(name, node.start);
        }
        return true;
      }
      default:
        return true;
    }
  }

  #declaration(node: Node): boolean {
    const name = text(node.source);
    if (name === undefined) return true;
    if (!isAbsent(name) || node.importKind === "type") return false;
    this.#met(name, node.start);
    for (const { local } of (node.specifiers as { local?: { name?: string } }[] | undefined) ?? [])
      if (node.type === "ImportDeclaration" && local?.name !== undefined) this.#locals.set(local.name, name);
    return false;
  }

  #call(node: Node, isLate: boolean): void {
    const callee = node.callee as Node;
    // A function that is called at once.
    this.#wrappers.add(callee);
    const [argument] = node.arguments as Node[];
    const name = text(argument);
    if (!REQUIRES.has(String(callee.name)) || name === undefined || !isAbsent(name)) return;
    this.#met(name, node.start);
    if (!isLate) this.calls.push({ start: argument!.start, end: argument!.end, name });
  }

  #met(name: string, start: number): void {
    if (!this.at.has(name)) this.at.set(name, start);
  }
}

/** The wrapper that a bundler puts around a CommonJS file. */
function isModuleFunction({ params, body }: Node): boolean {
  const names = [params].flat().map((param) => String((param as { name?: unknown } | null)?.name));
  if (names.some((name) => name === "module" || name === "exports" || name === "require")) return true;
  // Minified: `e => { e.exports = require("net") }`.
  const [first] = names;
  const statements = [(body as { body?: unknown } | null)?.body].flat() as ({ expression?: { left?: unknown } } | undefined)[];
  return statements.some((statement) => {
    const left = statement?.expression?.left as { object?: { name?: unknown }; property?: { name?: unknown } } | undefined;
    return first !== undefined && left?.property?.name === "exports" && left.object?.name === first;
  });
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

function text(node: unknown): string | undefined {
  return isNode(node) && node.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}

function lineOf(code: string, offset: number): number {
  let line = 1;
  for (let at = code.indexOf("\n"); at >= 0 && at < offset; at = code.indexOf("\n", at + 1)) line += 1;
  return line;
}
