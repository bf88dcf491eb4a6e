/**
 * Bundler child process: parts of a plugin that OpenClaw's SDK loads by the name of their file:
 * `loadBundledEntryExportSync(import.meta.url, { specifier: "./api.js" })`. One script has no files, so each name that
 * is a literal gets the part's loader beside it, and the part is bundled. Untrusted text: parsed, never run.
 */
import { statSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { RolldownMagicString } from "rolldown";
import { PART_KEY } from "../../protocol/guest-surface/part.ts";
import { parse } from "./meta.ts";
import type { Placed } from "./meta.ts";

const LANGUAGE = /\.[cm]?([jt]sx?)$/;
const MENTIONED = /\b(?:loadBundledEntryExportSync|defineBundledChannel(?:Setup)?Entry)\b/;
/** Compiled files have the names of their sources. */
const SOURCES: readonly (readonly [compiled: RegExp, source: string])[] = [
  [/\.js$/i, ".ts"],
  [/\.mjs$/i, ".mts"],
  [/\.cjs$/i, ".cts"],
];
const VIRTUAL = "\0creel-part:";
const LOAD = "__creel_part_";

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

export class Parts {
  readonly #cwd: string;
  /** The id of a module that loads a part → the part's file. */
  readonly #files = new Map<string, string>();

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  /** Whether it is the id of a module that loads a part. */
  static isLoader(id: string): boolean {
    return id.startsWith(VIRTUAL);
  }

  /** The code of such a module. A module of its own, because a plugin's often has another `require`. */
  loader(id: string): string {
    return `exports.load = () => require(${JSON.stringify(this.#files.get(id))});`;
  }

  /** Undefined: it names no part, or does not parse, which the bundler reports. */
  placed(code: string, id: string, isCode: boolean): Placed | undefined {
    const lang = LANGUAGE.exec(id)?.[1] ?? (isCode ? "ts" : undefined);
    if (lang === undefined || !MENTIONED.test(code)) return undefined;
    const parsed = parse(id, code, lang as "js");
    if (!parsed) return undefined;
    const { program } = parsed;
    const text = new RolldownMagicString(code);
    const loaders: string[] = [];
    for (const { name, end } of partsOf(program as unknown as Node)) {
      const file = fileOf(name, id);
      if (file === undefined) continue;
      const loader = VIRTUAL + relative(this.#cwd, file).split(sep).join("/");
      this.#files.set(loader, file);
      let at = loaders.indexOf(loader);
      if (at < 0) at = loaders.push(loader) - 1;
      text.appendLeft(end, `, [Symbol.for(${JSON.stringify(PART_KEY)})]: ${LOAD}${at}`);
    }
    if (loaders.length === 0) return undefined;
    // A CommonJS file stays one.
    const isModule = (program as unknown as { sourceType: string }).sourceType === "module";
    const head = loaders.map((loader, at) => {
      const from = JSON.stringify(loader);
      return isModule ? `import { load as ${LOAD}${at} } from ${from};` : `var { load: ${LOAD}${at} } = require(${from});`;
    });
    // After directives, which count only at the beginning, and on the same line.
    const first = (program.body as unknown as Node[]).find((statement) => typeof statement.directive !== "string");
    text.appendLeft(first?.start ?? code.length, head.join(" "));
    return { code: text.toString(), map: text.generateMap({ hires: true }).toString() };
  }
}

/** As OpenClaw looks for it: below the folder of the module that names it. Undefined: there is none. */
function fileOf(name: string, importer: string): string | undefined {
  const names = [name, name.replace(/^\.\/src\//, "./")].flatMap((base) => [
    base,
    ...SOURCES.flatMap(([compiled, source]) => (compiled.test(base) ? base.replace(compiled, source) : [])),
  ]);
  return names.map((one) => resolve(dirname(importer), one)).find(isFile);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    // No such file, or no name of one.
    return false;
  }
}

/** The literal names, each with the place behind its property. Without recursion: a tree may be arbitrarily deep. */
function partsOf(program: Node): { readonly name: string; readonly end: number }[] {
  const parts: { name: string; end: number }[] = [];
  const waiting: Node[] = [program];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.type === "ObjectExpression")
      for (const property of node.properties as Node[]) {
        const name = nameOf(property);
        if (name !== undefined) parts.push({ name, end: property.end });
      }
    // One by one: a list may be longer than a call's arguments.
    for (const child of Object.values(node).flat().filter(isNode).toReversed()) waiting.push(child);
  }
  return parts;
}

function nameOf({ type, computed, key, value }: Node): string | undefined {
  if (type !== "Property" || computed === true) return undefined;
  const { name, value: quoted } = key as { name?: unknown; value?: unknown };
  if ((name ?? quoted) !== "specifier") return undefined;
  const text = literal(value as Node);
  return text?.startsWith("./") && !text.split("/").includes("..") ? text : undefined;
}

function literal(node: Node): string | undefined {
  if (node.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node.type !== "TemplateLiteral" || (node.expressions as unknown[]).length > 0) return undefined;
  return (node.quasis as { value: { cooked: string } }[])[0]?.value.cooked;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}
