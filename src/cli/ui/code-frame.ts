/** The lines around a place in the author's source, as a block that is seen at once. */
import { readFile } from "node:fs/promises";
import { resolve, sep } from "node:path";
import { oneLine } from "../../text/one-line.ts";
import type { Terminal } from "./terminal.ts";

const AROUND = 2;
const PLACE = /^(.*?):(\d+):(\d+)$/;

/** `at`: file:line:column, relative to the root. Prints nothing if there is no such line. */
export async function codeFrame(root: string, at: string, { line, paint, width }: Terminal): Promise<void> {
  const [, file, row, column] = PLACE.exec(at) ?? [];
  if (file === undefined) return;
  const path = resolve(root, file);
  // The place comes out of a sandbox: it names files of the plugin, and no others.
  if (!path.startsWith(resolve(root) + sep)) return;
  const text = await readFile(path, "utf8").catch(() => undefined);
  const lines = text?.split("\n") ?? [];
  const number = Number(row);
  if (number > lines.length) return;
  const wide = String(number + AROUND).length;
  line(paint("red", `  ╭─ ${oneLine(at)}`));
  for (let each = Math.max(1, number - AROUND); each <= Math.min(lines.length, number + AROUND); each++) {
    const isIt = each === number;
    const shown = `${String(each).padStart(wide)} │ ${lines[each - 1]!.replaceAll("\t", "  ")}`.slice(0, width - 6);
    line(`  ${paint("red", isIt ? "│ ▶" : "│  ")} ${isIt ? shown : paint("gray", shown)}`);
    if (isIt) line(`  ${paint("red", "│")}   ${" ".repeat(wide)} ${paint("red", `│ ${" ".repeat(Math.max(0, Number(column) - 1))}^`)}`);
  }
  line(paint("red", "  ╰─"));
}
