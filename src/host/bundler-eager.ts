/**
 * Bundler process: makes V8 compile the bootstrap's functions with the script, so that the code cache has them: a cell starts with what
 * is in the cache, and isolated-vm can only make one before anything has run. V8 does so for function expressions in parentheses.
 * Measured per cell: 3.5 ms for the bootstrap's own part before, 1.7 ms with this and its modules in one chunk.
 */
import { parseSync } from "rolldown/utils";

/** The functions of a script in parentheses. */
export function eager(code: string): string {
  return hoisted(parenthesised(code));
}

/** Its function declarations become constants in front of it: they were hoisted anyway, and nobody assigns to them. */
function hoisted(code: string): string {
  const made: string[] = [];
  let rest = "";
  let at = 0;
  for (const statement of parsed(code).body) {
    if (statement.type !== "FunctionDeclaration" || !statement.id) continue;
    made.push(`${statement.id.name}=(${code.slice(statement.start, statement.end)})`);
    rest += code.slice(at, statement.start);
    at = statement.end;
  }
  rest += code.slice(at);
  return made.length === 0 ? rest : `const ${made.join(",")};${rest}`;
}

/** Each arrow function in parentheses. At one place arrow functions only begin or only end, so the order of their marks there is no matter. */
function parenthesised(code: string): string {
  const marks: { readonly at: number; readonly mark: string }[] = [];
  const look = (node: object): void => {
    const { type, start, end } = node as { type?: unknown; start: number; end: number };
    if (type === "ArrowFunctionExpression") marks.push({ at: start, mark: "(" }, { at: end, mark: ")" });
    for (const value of Object.values(node) as unknown[]) if (typeof value === "object" && value !== null) look(value);
  };
  look(parsed(code));
  let text = "";
  let from = 0;
  for (const { at, mark } of marks.toSorted((a, b) => a.at - b.at)) {
    text += code.slice(from, at) + mark;
    from = at;
  }
  return text + code.slice(from);
}

/** Which exports of others these chunks use, by the letters that the bundler gave them. */
export function exportsUsed(chunks: readonly string[]): ReadonlySet<string> {
  return new Set(chunks.flatMap((code) => [...code.matchAll(/\brequire_\w+\.(\w+)/g)].map(([, name]) => name!)));
}

/** The getters of a chunk's exports, unless they are used at once, are defined by `module.share`: when the first chunk of the library wants one of them. */
export function shared(code: string, usedAtOnce: ReadonlySet<string>): string {
  const later: string[] = [];
  const rest = code.replaceAll(
    /Object\.defineProperty\(exports,"(\w+)",\{enumerable:!0,get:function\(\)\{return[^{}]+\}\}\)[,;]/g,
    (definition, name: string) => {
      if (usedAtOnce.has(name)) return definition;
      // A plugin may have replaced what it finds by then, and put something onto what all objects inherit.
      later.push(definition.slice(0, -1).replace("Object.defineProperty(", "define(").replace("{enumerable", "{__proto__:null,enumerable"));
      return definition.endsWith(";") ? "0;" : "";
    },
  );
  return later.length === 0 ? code : `${rest}module.share=function(define){${later.join(";")}};`;
}

function parsed(code: string): ReturnType<typeof parseSync>["program"] {
  const { program, errors } = parseSync("guest.js", code, { sourceType: "script" });
  if (errors.length > 0) throw new Error(`the bootstrap does not parse: ${errors[0]!.message}`);
  return program;
}
