/** Rows under a head, each column as wide as its widest cell. Plain text in, painted lines out. */
import type { Style, Terminal } from "./terminal.ts";

export interface Column {
  readonly head: string;
  readonly style?: (cell: string) => Style | undefined;
}

/** The last column is not padded, and is cut where the terminal ends. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[], { line, paint, width }: Terminal): void {
  const widths = columns.map(({ head }, at) => Math.max(head.length, ...rows.map((row) => row[at]!.length)));
  const last = columns.length - 1;
  const cell = (text: string, at: number): string => (at === last ? text : text.padEnd(widths[at]! + 2));
  const before = widths.slice(0, last).reduce((sum, one) => sum + one + 2, 0);
  const fits = (text: string): string => {
    const room = Math.max(8, width - before);
    return text.length > room ? `${text.slice(0, room - 1)}…` : text;
  };
  line(columns.map(({ head }, at) => paint("bold", cell(head, at))).join(""));
  for (const row of rows)
    line(
      row
        .map((text, at) => {
          const shown = cell(at === last ? fits(text) : text, at);
          const style = columns[at]!.style?.(text);
          return style === undefined ? shown : paint(style, shown);
        })
        .join(""),
    );
}
