/** Pieces of Markdown that the reference pages are made of. */

export const MADE = "<!-- Made by scripts/docs.ts (npm run docs). Do not edit. -->";

export const code = (value: string): string => `\`${value}\``;
export const list = (names: readonly string[]): string => names.map(code).join(", ");

export const anchor = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-");

const row = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");
}

export const fence = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;

/** Paragraphs as a file. */
export const page = (...parts: readonly string[]): string => `${parts.join("\n\n")}\n`;
