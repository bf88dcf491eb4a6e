/** Gateway: takes the bundler's message apart. It quotes the plugin's code, so every line is made safe to show. */
import { withoutDanger } from "../protocol/dangerous-text.ts";
import { oneLine } from "../text/one-line.ts";

const MAX_LINES = 16;
const MAX_CHARS = 200;

export interface CodeFrame {
  /** The sentence, and where the mistake is: for a log line. */
  readonly detail: string;
  /** file:line:column */
  readonly at: string | undefined;
  /** The lines of code with their marks, for a terminal. Undefined: the message quotes no code. */
  readonly frame: string | undefined;
}

/** `╭─[ index.ts:9:13 ]` opens the quoted lines. */
const OPENING = /^\s*╭─+\[ (.+:\d+:\d+) \]\s*$/;

export function codeFrame(message: string): CodeFrame {
  const lines = message.split("\n");
  const begin = lines.findIndex((line) => OPENING.test(line));
  if (begin === -1) return { detail: oneLine(lines.map((line) => line.trim()).join(" ")), at: undefined, frame: undefined };
  const at = oneLine(OPENING.exec(lines[begin]!)![1]!, MAX_CHARS);
  const sentence = oneLine(lines.slice(0, begin).join(" "));
  // SECURITY: a quoted line cannot paint the terminal or begin a line of its own. test/bundler/code-frame.test.ts
  const frame = lines.slice(begin, begin + MAX_LINES).map((line) => withoutDanger(line.slice(0, MAX_CHARS)).trimEnd());
  return { detail: `${sentence} (${at})`, at, frame: frame.join("\n") };
}
