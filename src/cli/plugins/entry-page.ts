/** An installed plugin for people. */
import { grantOf } from "../../protocol/config/permission-key.ts";
import { wordsOf } from "../../install/review/permission-keys.ts";
import { wrap } from "../ui/text.ts";
import type { Terminal } from "../ui/terminal.ts";
import type { Known } from "./installed-plugin.ts";
import { kilobytes } from "./review-page.ts";

export function entryPage(known: Known, { line, paint, width }: Terminal): void {
  const { entry, hooks, isRequired, fault, fix } = known;
  const { id, name, version, source, bundle, accepted, enabled, functions, store } = entry;
  const row = (what: string, text: string): void => line(`  ${paint("gray", what.padEnd(10))} ${text}`);
  line(`${paint("bold", id)}${version === undefined ? "" : ` ${version}`}${name === id ? "" : paint("gray", `  ${name}`)}`);
  row("state", enabled ? paint("green", "enabled") : paint("yellow", "disabled"));
  if (isRequired) row("required", paint("yellow", "all of its hooks fail closed"));
  row("files", fault === undefined ? paint("green", "intact") : paint("red", "changed"));
  if (fault !== undefined) for (const part of wrap(`${fault}; ${fix ?? ""}`, width - 4)) line(paint("red", `    ${part}`));
  row("requested", source.spec);
  row("from", source.resolved);
  row("integrity", source.integrity);
  row("bundle", `${kilobytes(bundle.bytes)}, ${bundle.integrity}`);
  row("store", store);
  row("accepted", `by ${accepted.by}, ${accepted.at}`);
  row("review", accepted.digest);
  line();
  line(paint("bold", "Hooks"));
  if (hooks.length === 0) line("  none");
  for (const { hook, priority, risk, may, ifItFails } of hooks) {
    line(`  ${paint(risk <= 1 ? "yellow" : "cyan", hook)}${priority === 0 ? "" : paint("gray", ` (priority ${priority})`)}: ${may}`);
    if (ifItFails !== "") line(paint("gray", `    if it fails: ${ifItFails}`));
  }
  if (functions.length > 0) {
    line();
    line(paint("bold", "Adds"));
    for (const { kind, name: called } of functions) line(`  ${kind} ${called}`);
  }
  line();
  permissionsPage(known, { line, paint, width });
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
      line(`  ${paint("gray", `– ${key}: ${words} (${from === "scan" ? "its code seems to need it" : "requested"}, not granted)`)}`);
  if (configGrants)
    line(paint("yellow", `! plugins.entries.${entry.id}.grants in creel.json overrides this: ${JSON.stringify(configGrants)}`));
}
