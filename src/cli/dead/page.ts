/** What `creel dead` shows to people. Texts of plugins and events have no control characters left. */
import { table } from "../ui/table.ts";
import type { Terminal } from "../ui/terminal.ts";
import { escaped, printableJson } from "../ui/text.ts";
import type { DeadLetter } from "./dead-letters.ts";

/** `host`: which has given it up, in a fleet. */
export function deadPage(letters: readonly (DeadLetter & { readonly host?: string })[], out: Terminal): void {
  const hasHosts = letters.some(({ host }) => host !== undefined);
  const columns = ["id", ...(hasHosts ? ["host"] : []), "plugin", "hook", "attempts", "given up", "why"].map((head) => ({ head }));
  const rows = letters.map(({ id, host, plugin, hook, attempts, diedAt, status, why }) => [
    escaped(id),
    ...(hasHosts ? [host ?? ""] : []),
    escaped(plugin),
    escaped(hook),
    String(attempts),
    diedAt,
    escaped(`${status}: ${why}`),
  ]);
  table(columns, rows, out);
}

export function letterPage({ event, context, ...facts }: DeadLetter, out: Terminal): void {
  for (const [name, value] of Object.entries(facts)) if (name !== "seq") out.line(`${name.padEnd(10)} ${escaped(String(value))}`);
  out.line(`event      ${printableJson(event, 2)}`);
  out.line(`context    ${printableJson(context, 2)}`);
}
