/** What `creel dead` shows to people. Texts of plugins and events have no control characters left. */
import { table } from "../ui/table.ts";
import type { Terminal } from "../ui/terminal.ts";
import { printable } from "../ui/text.ts";
import type { DeadLetter } from "./dead-letters.ts";

/** Escaped as in JSON, without the quotes. */
const plain = (text: string): string => printable(text).slice(1, -1);

export function deadPage(letters: readonly DeadLetter[], out: Terminal): void {
  const columns = ["id", "plugin", "hook", "attempts", "given up", "why"].map((head) => ({ head }));
  const rows = letters.map(({ id, plugin, hook, attempts, diedAt, status, why }) => [
    id,
    plain(plugin),
    hook,
    String(attempts),
    diedAt,
    plain(`${status}: ${why}`),
  ]);
  table(columns, rows, out);
}

export function letterPage({ event, context, ...facts }: DeadLetter, out: Terminal): void {
  for (const [name, value] of Object.entries(facts)) if (name !== "seq") out.line(`${name.padEnd(10)} ${plain(String(value))}`);
  out.line(`event      ${printable(event, 2)}`);
  out.line(`context    ${printable(context, 2)}`);
}
