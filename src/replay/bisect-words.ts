/** Pure: what a bisection has found, in sentences. The command and the console show the same. They hold words of third parties. */
import type { Bisection } from "./bisect.ts";
import type { Verdict } from "./verdict.ts";

/** Of a result; a person sees what it begins with. */
const RESULT_CHARS = 200;

export function bisectWords({ verdict, recorded, plugins, without, rewritten }: Omit<Bisection, "words">): string[] {
  const isOther = recorded.decision !== verdict.decision || recorded.by !== verdict.by;
  const caused = plugins.length === 0 ? "it happens without any plugin" : `caused by ${plugins.join(" and ")}`;
  return [
    ...(isOther ? [`it was recorded as ${verdictWords(recorded)}, but now it is ${verdictWords(verdict)}: this is about now`] : []),
    `${verdictWords(verdict)}${rewritten ? `, with ${shown(rewritten.result)}` : ""}: ${caused}` +
      (plugins.length === 0 ? "" : `; without, ${verdictWords(without)}${rewritten ? `, with ${shown(rewritten.without)}` : ""}`),
  ];
}

/** "block by guard: no". */
export function verdictWords({ decision, by, reason }: Verdict): string {
  return `${decision}${by === undefined ? "" : ` by ${by}`}${reason === undefined ? "" : `: ${reason}`}`;
}

function shown(result: unknown): string {
  const text = result === undefined ? "no result" : JSON.stringify(result);
  return text.length > RESULT_CHARS ? `${text.slice(0, RESULT_CHARS)}…` : text;
}
