/**
 * Bundler process: makes V8 compile the bootstrap's functions with the script, so that the code cache has them: a cell starts with what
 * is in the cache, and isolated-vm can only make one before anything has run. V8 does so for function expressions in parentheses.
 * Measured per cell: 3.5 ms for the bootstrap's own part before, 1.7 ms with this and its modules in one chunk.
 */
import { candidates, inserted } from "./bundler-hot.ts";
import type { Candidate, Insertion, Starts } from "./bundler-hot.ts";

/** The functions of a script that are used, which are all unless somebody says so, in parentheses. */
export function eager(code: string, used?: Starts): string {
  const functions = candidates(code).filter(({ start }) => used?.has(start) ?? true);
  const marks = functions.flatMap(({ start, end, declared }) =>
    declared === undefined
      ? [
          { at: start, text: "(" },
          { at: end, text: ")" },
        ]
      : [],
  );
  return hoisted(code, marks, functions.filter(isDeclared));
}

type Declared = Candidate & { readonly declared: string };

function isDeclared(one: Candidate): one is Declared {
  return one.declared !== undefined;
}

/** Function declarations become constants in front of the rest: they were hoisted anyway, and nobody assigns to them. */
function hoisted(code: string, marks: readonly Insertion[], declarations: readonly Declared[]): string {
  const made: string[] = [];
  let rest = "";
  let at = 0;
  const part = (from: number, to: number): string =>
    inserted(
      code.slice(from, to),
      marks.flatMap((mark) => (mark.at >= from && mark.at <= to ? { ...mark, at: mark.at - from } : [])),
    );
  for (const { declared, start, end } of declarations) {
    made.push(`${declared}=(${part(start, end)})`);
    rest += part(at, start);
    at = end;
  }
  rest += part(at, code.length);
  return made.length === 0 ? rest : `const ${made.join(",")};${rest}`;
}

/** Lists of words, which the bundler writes as one text that is to be split: as lists, V8 finds them in the code cache. */
export function listed(code: string): string {
  return code.replaceAll(/`([^`\\$]*)`\.split\(`([^`\\$])`\)/g, (_, text: string, by: string) => JSON.stringify(text.split(by)));
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
