/** `creel fleet audit`: what the hosts of a fleet have shipped of their audit logs, a line each, and what is missing. */
import type { AuditReader, Shipped } from "../../fleet/audit/reader.ts";
import type { Operator } from "../../fleet/control/operator.ts";
import { oneLine } from "../../text/one-line.ts";
import { UsageError } from "../options.ts";
import type { Terminal } from "../ui/terminal.ts";
import { printableJson } from "../ui/text.ts";
import { EXIT } from "../verb.ts";

interface AuditValues {
  readonly after?: string | undefined;
  readonly host?: readonly string[] | undefined;
}

/** Gives the exit code: what is missing is a failure. */
export async function audit(
  operator: Operator,
  { after = "0", host: only }: AuditValues,
  isJson: boolean,
  out: Terminal,
  err: Terminal,
): Promise<number> {
  if (!/^\d{1,15}$/.test(after)) throw new UsageError("--after takes a number", 'such as "creel fleet audit --after 1200"');
  const reader = operator.audit(Number(after));
  let gaps = 0;
  const print = (shipped: Shipped): void => {
    if (only && !only.includes(shipped.host)) return;
    const { number, host, line, gap } = shipped;
    if (gap !== undefined) gaps += 1;
    if (isJson) out.line(printableJson(gap === undefined ? { number, host, line } : { number, host, gap }));
    else out.line(`${out.paint("cyan", host)} ${gap === undefined ? summary(line) : out.paint("red", `✗ ${gap}`)}`);
  };
  // What was said before the reading began must be in it.
  const hosts = operator.hosts();
  for await (const shipped of reader.lines()) print(shipped);
  for (const shipped of reader.missing(hosts)) print(shipped);
  tell(reader, gaps, err);
  return gaps === 0 ? EXIT.ok : EXIT.failed;
}

function tell({ number }: AuditReader, gaps: number, err: Terminal): void {
  err.line(err.paint("gray", `${gaps === 0 ? "nothing is missing" : `${gaps} gaps`}; "--after ${number}" goes on from here`));
}

/** `at`, the kind, and the fields that people look for. It is a host's word. */
function summary(line: unknown): string {
  const { at, kind, hook, decision, by, plugin, reason, why } = (line ?? {}) as Record<string, unknown>;
  return oneLine([at, kind, hook, decision, by ?? plugin, reason ?? why].filter((part) => typeof part === "string").join(" "), 300);
}
