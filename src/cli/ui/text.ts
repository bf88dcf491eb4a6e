/** Text for a terminal: lines wrapped at words, durations, and JSON without control characters. Paint it afterwards. */
import { escapeInJson } from "../../protocol/dangerous-text.ts";

/** Lines of at most `width` characters. Longer words are cut. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (let word of paragraph.split(" ")) {
      if (line !== "" && line.length + 1 + word.length > width) {
        lines.push(line);
        line = "";
      }
      while (word.length > width) {
        lines.push(word.slice(0, width));
        word = word.slice(width);
      }
      line = line === "" ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines;
}

/** Spaces between the left and the right end of a line; at least two. */
export function gap(left: string, right: string, width: number): string {
  return " ".repeat(Math.max(2, width - left.length - right.length));
}

/** Two or three significant digits, and the unit. */
export function duration(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  if (ms >= 100) return `${ms.toFixed(0)} ms`;
  if (ms >= 10) return `${ms.toFixed(1)} ms`;
  if (ms >= 0.01) return `${ms.toFixed(2)} ms`;
  return ms > 0 ? "<0.01 ms" : "0 ms";
}

/**
 * JSON of what plugins answer, with null for missing values. SECURITY: no text of a plugin colours, moves or forges
 * anything on a screen. test/cli/verbs/author/call.test.ts
 */
export function printableJson(value: unknown, indent?: number): string {
  return escapeInJson(JSON.stringify(value, (_, field: unknown) => field ?? null, indent));
}

/** A plugin's text for one line of a terminal: escaped as in JSON, without the quotes around it. SECURITY: test/serve/command.test.ts */
export function escaped(text: string): string {
  return printableJson(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"');
}
