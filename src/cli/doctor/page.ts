/** The doctor's findings for people: a line per layer and per check, with the mechanism or the reason, and the fix. */
import { duration, wrap } from "../ui/text.ts";
import type { Terminal } from "../ui/terminal.ts";
import type { Findings } from "./examine.ts";

const MARKS = { ok: "✓", warn: "–", broken: "✗" } as const;
const STYLES = { ok: "green", warn: "yellow", broken: "red" } as const;
const NAME = 13;
/** Width of the mark and the name. */
const MARGIN = 4 + NAME;

export function page({ node, platform, wanted, layers, required, sandbox, checks, isSound }: Findings, terminal: Terminal): void {
  const { line, paint, width } = terminal;
  const paragraph = (text: string, lead = ""): void => {
    for (const [at, part] of wrap(text, width - MARGIN - lead.length).entries())
      line(`${" ".repeat(MARGIN)}${paint("gray", `${at === 0 ? lead : " ".repeat(lead.length)}${part}`)}`);
  };

  line(paint("bold", "Walls around the sandbox process"));
  line(paint("gray", `sandbox.walls is "${wanted.walls}"; ${platform}; Node ${node}`));
  line();
  for (const { name, what, isOn, by, why, fix } of layers) {
    const isNeeded = required.includes(name);
    const mark = isOn ? paint("green", "✓") : paint(isNeeded ? "red" : "yellow", isNeeded ? "✗" : "–");
    const [first = "", ...more] = wrap(what, width - MARGIN);
    line(`  ${mark} ${paint("bold", name.padEnd(NAME))}${first}`);
    for (const part of more) line(`${" ".repeat(MARGIN)}${part}`);
    paragraph(isOn ? `by: ${by}` : `off: ${why}`);
    if (!isOn && fix !== undefined) paragraph(fix, "→ ");
  }
  line();
  if (sandbox.answers) line(`${paint("green", "✓")} ok: a plugin answered from inside the sandbox after ${duration(sandbox.startMs)}`);
  else line(`${paint("red", "✗")} FAIL: no plugin answers from inside the sandbox: ${sandbox.error}`);
  const missing = layers.filter(({ name, isOn }) => !isOn && required.includes(name)).map(({ name }) => name);
  if (missing.length > 0) line(`${paint("red", "✗")} FAIL: required walls are missing: ${missing.join(", ")}`);
  else line(`${paint("green", "✓")} ok: all required walls are on: ${required.join(", ")}`);
  if (wanted.walls !== "required")
    for (const part of wrap('in production set sandbox.walls to "required", so that a host does not open without them', width - 2))
      line(`  ${paint("gray", part)}`);
  line();
  line(paint("bold", "Environment"));
  line();
  for (const { area, status, what, where, fix } of checks) {
    const [first = "", ...more] = wrap(what, width - MARGIN);
    line(`  ${paint(STYLES[status], MARKS[status])} ${paint("bold", area.padEnd(NAME))}${first}`);
    for (const part of more) line(`${" ".repeat(MARGIN)}${part}`);
    if (where !== undefined) paragraph(where, "at ");
    if (fix !== undefined) paragraph(fix, "→ ");
  }
  line();
  line(
    isSound
      ? "Everything is ok. Even if a plugin takes over the sandbox process, the kernel still contains it."
      : "FAIL. Fix what is marked ✗ before you run third-party plugins.",
  );
}
