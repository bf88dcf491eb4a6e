/** What `creel approvals` shows to people. Titles, tools and parameters are texts of plugins and models: no control character is left. */
import type { LedgerEntry, PendingApproval } from "../../protocol/live-report.ts";
import { rememberedId } from "../../host/run/approvals/memory.ts";
import type { RememberedApproval } from "../../host/run/approvals/memory.ts";
import { table } from "../ui/table.ts";
import type { Terminal } from "../ui/terminal.ts";
import { duration, escaped, printableJson, wrap } from "../ui/text.ts";

/** How much of a digest a person compares, and `--digest` takes. */
export const DIGEST_CHARS = 12;

export function pendingPage(pending: readonly PendingApproval[], out: Terminal, now: number): void {
  if (pending.length === 0) return out.line("no approval waits for an answer");
  for (const [at, one] of pending.entries()) {
    if (at > 0) out.line();
    approvalPage(one, out, now);
  }
}

export function approvalPage(pending: PendingApproval, out: Terminal, now: number): void {
  const { id, toolName, agentId, sessionKey, runId, params, digest, isCut, requests, changes = [], allowed } = pending;
  const { line, paint, width } = out;
  const row = (name: string, text: string): void => line(`  ${name.padEnd(9)}${text}`);
  const left = pending.expiresAt - now;
  line(`${paint("bold", id)}  ${paint("cyan", escaped(toolName))}  ${left > 0 ? `${duration(left)} left` : "expired"}`);
  for (const { pluginId, title, description, severity } of requests) {
    row("asked by", `${escaped(pluginId)}: ${escaped(title)}${severity === undefined ? "" : ` (${severity})`}`);
    if (description) for (const part of wrap(escaped(description), width - 11)) row("", part);
  }
  for (const change of changes)
    row("changed", `${change.params.map(escaped).join(", ")} by ${escaped(change.pluginId)}, after the first request`);
  if (agentId !== undefined) row("agent", escaped(agentId));
  if (sessionKey !== undefined) row("session", escaped(sessionKey));
  row("run", runId);
  if (isCut) row("params", "too large to show: it can be denied here, not allowed");
  else for (const [at, part] of printableJson(params, 2).split("\n").entries()) row(at === 0 ? "params" : "", part);
  row("digest", digest.slice(0, DIGEST_CHARS));
  row("answers", allowed.length === 0 ? "none here: the program that made the call asks its own user" : allowed.join(", "));
}

export function alwaysPage(always: readonly RememberedApproval[], out: Terminal): void {
  if (always.length === 0) return;
  out.line();
  out.line("Allowed always");
  const columns = ["id", "plugin", "tool", "agent", "title"].map((head) => ({ head }));
  const rows = always.map((one) => [
    rememberedId(one),
    escaped(one.pluginId),
    escaped(one.toolName),
    escaped(one.agentId ?? "–"),
    escaped(one.scope === undefined ? one.title : `${one.title} (${one.scope})`),
  ]);
  table(columns, rows, out);
}

export function ledgerPage(entries: readonly LedgerEntry[], out: Terminal): void {
  if (entries.length === 0) return out.line("no approval was decided yet");
  const columns = ["when", "decision", "by", "from", "waited", "tool", "asked by"].map((head) => ({ head }));
  const rows = entries.map(({ at, resolution, by, from, waitedMs, toolName, plugins, titles }) => [
    new Date(at).toISOString(),
    resolution,
    escaped(by ?? "–"),
    from,
    duration(waitedMs),
    escaped(toolName),
    escaped(`${plugins.join(", ")}: ${titles.join("; ")}`),
  ]);
  table(columns, rows, out);
}
