/** `npm run bench:gate`: has Creel become slower? A few ratios to floors, in half a minute, each against its recorded bound. Part of `npm test`. */
import { among } from "../case.ts";
import { short } from "../report/numbers.ts";
import type { Effort, Step } from "../../src/cli/bench/measure.ts";
import { Progress } from "../../src/cli/bench/progress.ts";
import { estimate } from "../../src/cli/bench/statistics.ts";
import type { Terminal } from "../../src/cli/ui/terminal.ts";
import { CHECKS } from "./checks.ts";
import type { Check } from "./checks.ts";
import { boundOf, decide, isCrowded } from "./decide.ts";
import type { Finding } from "./decide.ts";
import { Weather } from "./weather.ts";

const EFFORT: Effort = { rounds: 60, warmUpCalls: 20_000, warmUpMs: 1_500, roundsMs: 3_000 };

/** The exit code. */
export async function gate(out: Terminal, err: Terminal): Promise<number> {
  const progress = new Progress(err);
  const slower: string[] = [];
  for (const check of CHECKS) {
    if (err.rewrite) progress.begin(check.name);
    const { verdict, findings } = await decide(check.bounds, (attempt) => look(check, attempt, progress.step));
    if (verdict === "slower") slower.push(check.name);
    progress.clear();
    for (const finding of findings) out.line(lineOf(check, finding, out));
  }
  out.line(
    slower.length === 0
      ? out.paint("green", "no slower than its bounds")
      : out.paint(
          "red",
          `slower than its bounds, twice: ${slower.join(", ")}; "npm run bench" says more, the bounds are in bench/gate/checks.ts`,
        ),
  );
  return slower.length === 0 ? 0 : 1;
}

/** The second look is twice as long. */
async function look({ open, measure }: Check, attempt: number, tell: (step: Step) => void): Promise<Finding> {
  const weather = new Weather();
  const effort: Effort = {
    ...EFFORT,
    rounds: EFFORT.rounds * attempt,
    roundsMs: EFFORT.roundsMs * attempt,
    tell: (step) => {
      if (step.phase === "round") weather.look();
      tell(step);
    },
  };
  return among(open, async ([subject, floor]) => {
    const perRound = await measure([subject, floor], effort);
    return { ...estimate(perRound), crowd: weather.crowd };
  });
}

function lineOf(check: Check, finding: Finding, { paint }: Terminal): string {
  const bound = boundOf(check.bounds, finding);
  const mark = finding.low > bound ? paint("red", "✗") : paint("green", "✓");
  const crowd = isCrowded(finding) ? paint("yellow", `  (crowded: ${short(finding.crowd)} threads per core; the wider bound holds)`) : "";
  return `${mark} ${check.name.padEnd(22)} ${`${short(finding.value)} ×`.padStart(7)} [${short(finding.low)} … ${short(finding.high)}]  at most ${short(bound)} × its floor${crowd}`;
}
