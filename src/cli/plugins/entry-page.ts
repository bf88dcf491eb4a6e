/** An installed plugin for people. */
import { grantOf, wordsOf } from "../../install/keys.ts";
import { reviewHooks } from "../../install/review.ts";
import { wrap } from "../ui/text.ts";
import type { Terminal } from "../ui/terminal.ts";
import type { Known } from "./look-up.ts";
import { kilobytes } from "./review-page.ts";

export function entryPage({ entry, permissions, review, configGrants, fault, fix }: Known, { line, paint, width }: Terminal): void {
  const { id, name, version, source, bundle, accepted, enabled, hooks, functions, store } = entry;
  const row = (what: string, text: string): void => line(`  ${paint("gray", what.padEnd(10))} ${text}`);
  line(`${paint("bold", id)}${version === undefined ? "" : ` ${version}`}${name === id ? "" : paint("gray", `  ${name}`)}`);
  row("state", enabled ? paint("green", "enabled") : paint("yellow", "disabled"));
  row("files", fault === undefined ? paint("green", "intact") : paint("red", "changed"));
  if (fault !== undefined) for (const part of wrap(`${fault}; ${fix ?? ""}`, width - 4)) line(paint("red", `    ${part}`));
  row("asked for", source.spec);
  row("from", source.resolved);
  row("integrity", source.integrity);
  row("bundle", `${kilobytes(bundle.bytes)}, ${bundle.integrity}`);
  row("store", store);
  row("accepted", `by ${accepted.by}, ${accepted.at}`);
  row("review", accepted.digest);
  line();
  line(paint("bold", "Hooks"));
  if (hooks.length === 0) line("  none");
  for (const { hook, priority, risk, may } of reviewHooks(hooks))
    line(`  ${paint(risk <= 1 ? "yellow" : "cyan", hook)}${priority === 0 ? "" : paint("gray", ` (priority ${priority})`)}: ${may}`);
  if (functions.length > 0) {
    line();
    line(paint("bold", "Adds"));
    for (const { kind, name: called } of functions) line(`  ${kind} ${called}`);
  }
  line();
  permissionsPage({ entry, permissions, review, configGrants, fault, fix }, { line, paint, width });
}

export function permissionsPage({ entry, permissions, review, configGrants }: Known, { line, paint }: Terminal): void {
  line(paint("bold", "Permissions"));
  if (permissions.length === 0) line("  none");
  for (const key of permissions) {
    const grant = grantOf(key);
    line(`  ${paint("green", "✓")} ${paint("cyan", key)}${grant ? `: ${wordsOf(grant)}` : ""}`);
  }
  for (const { key, words, from } of review?.permissions ?? [])
    if (!permissions.includes(key))
      line(
        `  ${paint("gray", `– ${key}: ${words} (${from === "scan" ? "its code looks as if it needed it" : "asked for"}, not granted)`)}`,
      );
  if (configGrants)
    line(paint("yellow", `! plugins.entries.${entry.id}.grants in the creel.json is laid over this: ${JSON.stringify(configGrants)}`));
}
