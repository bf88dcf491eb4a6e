/**
 * docs/reference/api.md: what `creel`, `creel/plugin` and `creel/testing` export, from the sources: each declaration with its comment, and
 * without its body. Names are followed through `export … from` and imports to the file that declares them.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAst } from "rolldown/parseAst";
import { code, MADE, table } from "./markdown.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

const ENTRIES = [
  ["creel", "src/index.ts", "The gateway's side: open a host, run hooks, define hooks."],
  ["creel/plugin", "src/sdk/author/plugin.ts", "The author's side: types, and `definePlugin`."],
  ["creel/testing", "src/sdk/testing/testing.ts", "The real sandbox in an author's test."],
] as const;

/** What a parsed node has, as far as this page reads it. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

interface Source {
  readonly path: string;
  readonly text: string;
  readonly body: readonly Node[];
}

interface Declared {
  readonly source: Source;
  readonly statement: Node;
  readonly node: Node;
}

const sources = new Map<string, Source>();

function sourceOf(path: string): Source {
  let source = sources.get(path);
  if (!source) {
    const text = readFileSync(join(root, path), "utf8");
    source = { path, text, body: parseAst(text, { lang: "ts", sourceType: "module" }).body as unknown as Node[] };
    sources.set(path, source);
  }
  return source;
}

const nameOf = (node: unknown): string => String((node as Node).name ?? (node as Node).value);
const nodesOf = (value: unknown): readonly Node[] => (Array.isArray(value) ? (value as Node[]) : []);

function namesDeclared(node: Node): string[] {
  if (node.type === "VariableDeclaration") return nodesOf(node.declarations).map((one) => nameOf(one.id));
  return node.id ? [nameOf(node.id)] : [];
}

/** Every name that a module exports, in the order of its text. What another package declares is documented there. */
function exportsOf({ body }: Source): string[] {
  return body.flatMap((node) => {
    if (node.type !== "ExportNamedDeclaration" || (node.source && !nameOf(node.source).startsWith("."))) return [];
    return node.declaration ? namesDeclared(node.declaration as Node) : nodesOf(node.specifiers).map((one) => nameOf(one.exported));
  });
}

/** The declaration behind a name of a module. */
function find(path: string, name: string): Declared {
  const source = sourceOf(path);
  const next = (node: Node, inner: string): Declared => find(join(dirname(path), nameOf(node.source)), inner);
  for (const statement of source.body) {
    const node = (statement.declaration as Node | null | undefined) ?? statement;
    if (node.type.endsWith("Declaration") && !/^(?:Import|Export)/.test(node.type) && namesDeclared(node).includes(name))
      return { source, statement, node };
  }
  for (const node of source.body) {
    for (const one of nodesOf(node.specifiers)) {
      if (node.type === "ExportNamedDeclaration" && node.source && nameOf(one.exported) === name) return next(node, nameOf(one.local));
      if (node.type === "ImportDeclaration" && nameOf(one.local) === name) return next(node, nameOf(one.imported));
    }
  }
  throw new Error(`${path} exports "${name}", and nothing declares it`);
}

/** The `/** … *\/` in front of a node, as plain text. */
function commentOf({ text }: Source, { start }: Node): string {
  const comment = /\/\*\*((?:(?!\*\/)[^])*)\*\/\s*$/.exec(text.slice(0, start));
  return (comment?.[1] ?? "").replaceAll(/\n\s*\* ?/g, "\n").trim();
}

const cut = (text: string, from: number, to: number): string =>
  text
    .slice(from, to)
    .trim()
    .replace(/[{;=]$/, "")
    .trimEnd();

function memberText({ text }: Source, member: Node): string | undefined {
  const key = member.key as Node | undefined;
  if (!key || key.type === "PrivateIdentifier" || member.accessibility === "private" || member.static === true) return undefined;
  const value = member.value as Node | null | undefined;
  if (member.type !== "MethodDefinition") return value ? cut(text, member.start, value.start) : cut(text, member.start, member.end);
  if (member.kind === "constructor") return undefined;
  return cut(text, member.start, (value?.body as Node | undefined)?.start ?? member.end);
}

/** A declaration as an author sees it: no bodies, no private members, no values. */
function signature({ source, node }: Declared): string {
  const { text } = source;
  if (node.type === "FunctionDeclaration") return `${cut(text, node.start, (node.body as Node).start)};`;
  if (node.type === "ClassDeclaration") {
    const body = node.body as Node;
    const members = nodesOf(body.body).flatMap((member) => {
      const shown = memberText(source, member);
      const comment = commentOf(source, member);
      return shown === undefined ? [] : [...(comment ? [`  /** ${comment.replaceAll("\n", "\n   * ")} */`] : []), `  ${shown};`];
    });
    return [`${cut(text, node.start, body.start)} {`, ...members, "}"].join("\n");
  }
  if (node.type === "VariableDeclaration") {
    const [one] = nodesOf(node.declarations);
    const value = one!.init as Node;
    // A short value says more than a name; a table has its own page.
    return value.end - value.start < 60 ? `${cut(text, node.start, node.end)};` : `${cut(text, node.start, value.start)}: …;`;
  }
  return text.slice(node.start, node.end);
}

function section(path: string, name: string): string {
  const declared = find(path, name);
  const comment = commentOf(declared.source, declared.statement);
  return [`#### \`${name}\``, ...(comment ? [comment] : []), `\`\`\`ts\n${signature(declared)}\n\`\`\``].join("\n\n");
}

const GROUPS = [
  ["Functions and classes", /^(?:Function|Class)/],
  ["Values", /^Variable/],
  ["Types", /^TS/],
] as const;

export function apiPage(): string {
  return `${[
    MADE,
    "# API",
    "What the package exports, from its sources. Types of events, contexts and results follow the catalog: [hooks.md](hooks.md). Keys of the " +
      "configuration are in [config.md](config.md), errors in [errors.md](errors.md). [versioning.md](versioning.md) says what is stable.",
    table(
      ["import", ""],
      ENTRIES.map(([name, , about]) => [`[${code(name)}](#${name.replaceAll("/", "")})`, about]),
    ),
    ...ENTRIES.flatMap(([entry, path, about]) => {
      const names = exportsOf(sourceOf(path));
      return [
        `## \`${entry}\``,
        about,
        ...GROUPS.flatMap(([title, kind]) => {
          const here = names.filter((name) => kind.test(find(path, name).node.type)).toSorted((a, b) => a.localeCompare(b));
          return here.length === 0 ? [] : [`### ${title} of \`${entry}\``, ...here.map((name) => section(path, name))];
        }),
      ];
    }),
  ].join("\n\n")}\n`;
}
