/** What `creel fleet` prints: for people, or as JSON. Each gives whether all is well. Texts of hosts are printed as one line each. */
import type { Answered, Seen } from "../../fleet/control/operator.ts";
import type { Check } from "../doctor/check.ts";
import { oneLine } from "../../text/one-line.ts";
import { table } from "../ui/table.ts";
import type { Terminal } from "../ui/terminal.ts";
import { printableJson } from "../ui/text.ts";
import { factLine } from "../tail/line.ts";
import type { MadeKeys } from "./keys.ts";

const MARKS = { ok: "✓", warn: "–", broken: "✗" } as const;
const STYLES = { ok: "green", warn: "yellow", broken: "red" } as const;

export const page = {
  keys(made: MadeKeys, isJson: boolean, out: Terminal): void {
    if (isJson) return out.line(printableJson(made, 2));
    out.line(`made ${made.files.join(", ")} in ${made.folder}`);
    out.line(`the operator's public key, for "operators" of every host: ${made.operator}`);
    out.line(
      out.paint("gray", "include accounts.conf in the configuration of every nats-server; give each host its own .nk file and no other"),
    );
  },

  hosts(hosts: readonly Seen[], isJson: boolean, out: Terminal): boolean {
    if (isJson) out.line(printableJson(hosts, 2));
    else if (hosts.length === 0) out.line("no host of the fleet is there");
    else
      table(
        [
          { head: "host", style: () => "cyan" },
          { head: "change" },
          { head: "plugins" },
          { head: "state", style: (cell) => (cell === "ok" ? "green" : "red") },
        ],
        hosts.map(({ host, serial, plugins, fault }) => [
          host,
          String(serial),
          plugins
            .map(({ id, version, status }) =>
              oneLine(
                `${id}${version === undefined ? "" : `@${version}`}${status === "ready" || status === "asleep" ? "" : ` (${status})`}`,
                80,
              ),
            )
            .join(", ") || "–",
          fault ? oneLine(fault.message, 200) : "ok",
        ]),
        out,
      );
    return hosts.length > 0 && hosts.every(({ fault }) => !fault);
  },

  answers(answers: readonly Answered[], isJson: boolean, out: Terminal): boolean {
    if (isJson)
      out.line(
        printableJson(
          answers.map(({ host, ok, error }) => ({ host, ok, error: error?.message })),
          2,
        ),
      );
    else if (answers.length === 0) out.line("no host of the fleet knows it");
    else
      for (const { host, ok, error } of answers) {
        if (error) out.line(`${out.paint("red", "✗")} ${host}: ${oneLine(error.message, 400)}`);
        else out.line(`${out.paint("green", "✓")} ${host}: ${summary(ok)}`);
      }
    return answers.length > 0 && answers.every(({ error }) => !error);
  },

  fact(host: string, fact: string, event: unknown, isJson: boolean, out: Terminal): void {
    out.line(
      isJson
        ? printableJson({ host, event: fact, at: new Date().toISOString(), fact: event })
        : `${out.paint("cyan", host)} ${factLine(fact as never, event as never, out)}`,
    );
  },

  checks(checks: readonly Check[], isJson: boolean, out: Terminal): boolean {
    const isSound = checks.every(({ status }) => status !== "broken");
    if (isJson) out.line(printableJson({ checks, isSound }, 2));
    else
      for (const { status, what, fix } of checks) {
        out.line(`${out.paint(STYLES[status], MARKS[status])} ${oneLine(what, 400)}`);
        if (fix !== undefined) out.line(out.paint("gray", `  → ${fix}`));
      }
    return isSound;
  },
};

/** A plugin's report, or a run. */
function summary(ok: unknown): string {
  const { status, version, circuit, hook, decision } = (ok ?? {}) as {
    status?: string;
    version?: string;
    circuit?: { state: string };
    hook?: string;
    decision?: string;
  };
  if (hook !== undefined) return oneLine(`${hook} → ${decision ?? "?"}; --json shows all of it`, 200);
  return oneLine(
    `${status ?? "done"}${version === undefined ? "" : `, version ${version}`}${circuit ? `, circuit ${circuit.state}` : ""}`,
    200,
  );
}
