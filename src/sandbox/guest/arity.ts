/**
 * Inside the isolate: what a handler can see of its arguments. Parsing an event and a context takes as long as entering the isolate, so what a handler cannot
 * see is not parsed for it. Only an arrow function is sure not to see more than its parameters: any other has `arguments`. `length` says nothing, since
 * it leaves out parameters that have a default, and the rest.
 */
import { call, charCodeAt } from "./primordials.ts";

// oxlint-disable-next-line typescript/unbound-method -- captured on purpose, called through `call`
const sourceOf = Function.prototype.toString;

const SPACE = 32;
const OPEN = 40;
const CLOSE = 41;
const EQUALS = 61;
const GREATER = 62;

/** How many of the first two arguments it can see: none or one only where it is an arrow function with no parameter, or with one that is a plain name. */
export function seenArguments(handler: (...args: never[]) => unknown): 0 | 1 | 2 {
  const text = call(sourceOf, handler, []);
  let at = afterName(text, 0);
  // `async` is a name as well; whether one or the other is told by what follows.
  if (isAsync(text, at)) at = afterSpaces(text, at);
  else at = 0;
  const isWrapped = charCodeAt(text, at) === OPEN;
  if (isWrapped) at = afterSpaces(text, at + 1);
  const end = afterName(text, at);
  const isNamed = end > at;
  at = afterSpaces(text, end);
  if (isWrapped) {
    if (charCodeAt(text, at) !== CLOSE) return 2;
    at = afterSpaces(text, at + 1);
  }
  if (charCodeAt(text, at) !== EQUALS || charCodeAt(text, at + 1) !== GREATER) return 2;
  return isNamed ? 1 : 0;
}

function isAsync(text: string, end: number): boolean {
  if (end !== 5) return false;
  const next = charCodeAt(text, afterSpaces(text, end));
  // `async =>` is a parameter of that name.
  return next !== EQUALS && text[0] === "a" && text[1] === "s" && text[2] === "y" && text[3] === "n" && text[4] === "c";
}

function afterSpaces(text: string, from: number): number {
  let at = from;
  while (charCodeAt(text, at) === SPACE) at += 1;
  return at;
}

/** Past letters, digits, `_` and `$`. Any other name is not known to be plain. */
function afterName(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = charCodeAt(text, at);
    const isPlain = (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95 || code === 36;
    if (!isPlain) return at;
    at += 1;
  }
}
