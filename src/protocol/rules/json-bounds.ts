/**
 * How much is in a JSON text, found out without building it: a megabyte of `{}` takes the parser a hundred times as
 * long as another text of that length. The result for invalid JSON means nothing; the parser refuses it.
 */

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
/** Brackets and braces. A brace's code is 32 above its bracket's. */
const OPENING = 91;
const CLOSING = 93;

/**
 * SECURITY: a text that has more values, or nests deeper, is not parsed. One pass; texts in it are skipped.
 * test/protocol/rules/json-bounds.test.ts
 */
export function isBounded(text: string, maxValues: number, maxDepth: number): boolean {
  // Each value but the first needs a comma or a bracket.
  if (text.length <= Math.min(maxValues, maxDepth)) return true;
  let values = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      at = endOfText(text, at + 1);
      if (at < 0) return true;
    } else if (unit === OPENING || unit === OPENING + 32) {
      values += 1;
      depth += 1;
      if (depth > maxDepth) return false;
    } else if (unit === CLOSING || unit === CLOSING + 32) depth -= 1;
    else if (unit === COMMA) values += 1;
    if (values > maxValues) return false;
  }
  return true;
}

/** The end of the string that begins here. -1: it has none. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end >= 0; end = text.indexOf('"', end + 1)) {
    let back = end;
    while (back > start && text.charCodeAt(back - 1) === BACKSLASH) back -= 1;
    if ((end - back) % 2 === 0) return end;
  }
  return -1;
}
