/** The findings of `creel check` for people: the plugin, then each problem with its location and its fix. */
import { duration, wrap } from "../ui/text.ts";
import type { Terminal } from "../ui/terminal.ts";
import type { Findings } from "./examine.ts";

export function page(findings: Findings, terminal: Terminal): void {
  const { id, name, version, bundleBytes, loadMs, hooks, types, permissions, unrequested, problems, remarks } = findings;
  const { line, paint, width } = terminal;
  const row = (what: string, text: string): void => {
    for (const [at, part] of wrap(text, width - 12).entries()) line(`  ${paint("gray", (at === 0 ? what : "").padEnd(10))}${part}`);
  };
  line(`${paint("bold", id)}${version === undefined ? "" : ` ${version}`}${name === id ? "" : paint("gray", `  ${name}`)}`);
  if (bundleBytes !== undefined) row("bundle", `${(bundleBytes / 1024).toFixed(1)} KB`);
  if (loadMs !== undefined) row("loaded", `in ${duration(loadMs)}, in a sandbox without grants`);
  row(
    "hooks",
    hooks.length === 0 ? "none" : hooks.map(({ hook, priority }) => (priority === 0 ? hook : `${hook} (${priority})`)).join(", "),
  );
  if (permissions.length > 0) row("requests", permissions.map(({ key }) => key).join(", "));
  row("types", types.isChecked ? `checked by ${types.by}` : types.by);
  if (problems.length + remarks.length + unrequested.length > 0) line();
  for (const { step, message, at, frame, fix } of problems) {
    const [first = "", ...more] = wrap(`${step}: ${message}`, width - 4);
    line(`${paint("red", "✗")} ${first}`);
    for (const part of more) line(`  ${part}`);
    if (frame !== undefined) for (const part of frame.split("\n")) line(paint("gray", `  ${part}`));
    else if (at !== undefined) line(paint("gray", `    at ${at}`));
    if (fix !== undefined) for (const part of wrap(`→ ${fix}`, width - 4)) line(paint("gray", `    ${part}`));
  }
  for (const remark of remarks)
    for (const [at, part] of wrap(remark, width - 4).entries()) line(`${at === 0 ? paint("yellow", "!") : " "} ${part}`);
  unrequestedLines(unrequested, terminal);
  line();
  const count = problems.length;
  line(count === 0 ? `${paint("green", "✓")} it runs in the sandbox` : paint("red", `${count} problem${count === 1 ? "" : "s"}`));
}

/** What to add to the manifest, as the author would write it. */
export function unrequestedLines(unrequested: Findings["unrequested"], { line, paint, width }: Terminal): void {
  for (const { key, words } of unrequested) {
    for (const [at, part] of wrap(`its code seems to need ${key} (${words}), which its manifest does not request`, width - 4).entries())
      line(`${at === 0 ? paint("yellow", "!") : " "} ${part}`);
    line(paint("gray", `    → creel.plugin.json: "permissions": { ${JSON.stringify(key)}: "${WHY}" }`));
  }
}

/** Where the author's reason will stand. */
export const WHY = "why it needs this";
