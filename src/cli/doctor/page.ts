/** The doctor's findings for people: a line per layer and per check, on or off, by what or why not, and what can be done. */
import { duration } from "../ui/duration.ts";
import { wrap } from "../ui/text.ts";
import type { Terminal } from "../ui/terminal.ts";
import type { Findings } from "./examine.ts";

const MARKS = { ok: "✓", warn: "–", broken: "✗" } as const;
const STYLES = { ok: "green", warn: "yellow", broken: "red" } as const;
const NAME = 13;
/** Before what is said about a layer: the mark and the name. */
const MARGIN = 4 + NAME;

export function page({ node, platform, wanted, layers, required, sandbox, checks, isSound }: Findings, terminal: Terminal): void {
  const { line, paint, width } = terminal;
  const paragraph = (text: string, lead = ""): void => {
    for (const [at, part] of wrap(text, width - MARGIN - lead.length).entries())
      line(`${" ".repeat(MARGIN)}${paint("gray", `${at === 0 ? lead : " ".repeat(lead.length)}${part}`)}`);
  };

  line(paint("bold", "The walls around the sandbox process"));
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
  if (sandbox.answers) line(`${paint("green", "✓")} a plugin answered from in there, ${duration(sandbox.startMs)} after it was asked for`);
  else line(`${paint("red", "✗")} no plugin answers from in there: ${sandbox.error}`);
  const missing = layers.filter(({ name, isOn }) => !isOn && required.includes(name)).map(({ name }) => name);
  if (missing.length > 0) line(`${paint("red", "✗")} missing of what matters most: ${missing.join(", ")}`);
  else line(`${paint("green", "✓")} what matters most is on: ${required.join(", ")}`);
  line();
  line(paint("bold", "What it stands on"));
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
      ? "Who takes over the sandbox process has the kernel's walls before him."
      : "Mend what is marked ✗ before you run a stranger's plugin.",
  );
}
