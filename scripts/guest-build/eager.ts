/**
 * Build time: makes V8 compile the bootstrap's functions together with the script, so that they are in the code cache
 * that cells start from. isolated-vm can only make a cache before the script has run. V8 compiles a function expression
 * in parentheses at once. Measured per cell: 3.5 ms for the bootstrap's own part before, 1.7 ms with this and its
 * modules in one chunk.
 */
import { candidates, inserted } from "./hot-functions.ts";
import type { Candidate, Insertion, Starts } from "./hot-functions.ts";

/** Puts the used functions of a script in parentheses. Without `used`, that is all of them. */
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

/**
 * Function declarations become constants in front of the rest. They were hoisted anyway, and no code assigns to them.
 */
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

/** Rolldown writes a list of words as one text and `split`. As a literal list, V8 finds it in the code cache. */
export function listed(code: string): string {
  return code.replaceAll(/`([^`\\$]*)`\.split\(`([^`\\$])`\)/g, (_, text: string, by: string) => JSON.stringify(text.split(by)));
}

/** Which exports of other chunks these chunks use, by the short names that Rolldown gave them. */
export function exportsUsed(chunks: readonly string[]): ReadonlySet<string> {
  return new Set(chunks.flatMap((code) => [...code.matchAll(/\brequire_\w+\.(\w+)/g)].map(([, name]) => name!)));
}

/**
 * Getters of exports that the bootstrap does not use itself move into `module.share`, which runs when the first chunk
 * of the library needs one of them.
 */
export function shared(code: string, usedAtOnce: ReadonlySet<string>): string {
  const later: string[] = [];
  const rest = code.replaceAll(
    /Object\.defineProperty\(exports,"(\w+)",\{enumerable:!0,get:function\(\)\{return[^{}]+\}\}\)[,;]/g,
    (definition, name: string) => {
      if (usedAtOnce.has(name)) return definition;
      // By then a plugin may have replaced Object.defineProperty, or added properties to Object.prototype.
      later.push(definition.slice(0, -1).replace("Object.defineProperty(", "define(").replace("{enumerable", "{__proto__:null,enumerable"));
      return definition.endsWith(";") ? "0;" : "";
    },
  );
  return later.length === 0 ? code : `${rest}module.share=function(define){${later.join(";")}};`;
}
