/**
 * PEM and PGP private keys. Searched for by hand: a regular expression from BEGIN to END starts over at every BEGIN, which is
 * quadratic on a text full of them. A key without an END was cut off and is still most of a key: it goes to the end of the text.
 */
const BEGIN = /-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----/g;
const END = /-----END [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----/g;

export interface Redacted {
  readonly content: string;
  readonly found: number;
  /** Nothing but private keys. */
  readonly isBare: boolean;
}

export function redactPrivateKeys(text: string): Redacted {
  let rest = "";
  let content = "";
  let found = 0;
  let at = 0;
  while (at < text.length) {
    const begin = next(BEGIN, text, at);
    const before = text.slice(at, begin?.from);
    rest += before;
    content += before;
    if (!begin) break;
    found += 1;
    content += "[redacted: private key]";
    at = next(END, text, begin.to)?.to ?? text.length;
  }
  return { content, found, isBare: rest.trim() === "" };
}

function next(regex: RegExp, text: string, from: number): { from: number; to: number } | undefined {
  regex.lastIndex = from;
  const match = regex.exec(text);
  return match ? { from: match.index, to: match.index + match[0].length } : undefined;
}
