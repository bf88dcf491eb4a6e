/** The findings of `creel check` for people: what the plugin is, then what is wrong with it, each with its place and what to do. */
import { duration } from "../ui/duration.ts";
import { wrap } from "../ui/text.ts";
import type { Terminal } from "../ui/terminal.ts";
import type { Findings } from "./examine.ts";

export function page({ id, name, version, bundleBytes, loadMs, hooks, types, problems, remarks }: Findings, terminal: Terminal): void {
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
  row("types", types.isChecked ? `checked by ${types.by}` : types.by);
  if (problems.length + remarks.length > 0) line();
  for (const { step, message, at, fix } of problems) {
    const [first = "", ...more] = wrap(`${step}: ${message}`, width - 4);
    line(`${paint("red", "✗")} ${first}`);
    for (const part of more) line(`  ${part}`);
    if (at !== undefined) line(paint("gray", `    at ${at}`));
    if (fix !== undefined) for (const part of wrap(`→ ${fix}`, width - 4)) line(paint("gray", `    ${part}`));
  }
  for (const remark of remarks)
    for (const [at, part] of wrap(remark, width - 4).entries()) line(`${at === 0 ? paint("yellow", "!") : " "} ${part}`);
  line();
  const count = problems.length;
  line(count === 0 ? `${paint("green", "✓")} it runs in the sandbox` : paint("red", `${count} problem${count === 1 ? "" : "s"}`));
}
