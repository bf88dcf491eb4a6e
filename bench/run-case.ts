/**
 * One case in a process of its own, which run.ts starts: what a case leaves behind (threads, heaps, code that was optimized for other shapes) is no
 * other's weather, and one that dies takes nobody along. Progress and the result go up as messages.
 */
import { loadavg } from "node:os";
import type { Case } from "./case.ts";
import type { CaseData } from "./report/data.ts";
import { summarized } from "./report/data.ts";
import { processorMs } from "./processor-time.ts";
import { FULL, QUICK } from "../src/cli/bench/measure.ts";
import type { Step } from "../src/cli/bench/measure.ts";

export type CaseMessage =
  | { readonly kind: "step"; readonly step: Step }
  | { readonly kind: "done"; readonly data: Omit<CaseData, "name" | "date"> };

const [name = "", effort] = process.argv.slice(2);
const started = performance.now();

/** Messages take the time of what is measured. */
const EVERY_MS = 250;
let toldMs = -Infinity;

function tell(step: Step): void {
  if (performance.now() - toldMs < EVERY_MS) return;
  toldMs = performance.now();
  process.send?.({ kind: "step", step } satisfies CaseMessage);
}

const { default: bench } = (await import(`./cases/${name}/case.ts`)) as { default: Case };
const result = await bench.run({ ...(effort === "quick" ? QUICK : FULL), tell, processorMs });
const seconds = Math.round((performance.now() - started) / 100) / 10;
const load = Math.round(loadavg()[0]! * 100) / 100;
const message: CaseMessage = { kind: "done", data: { question: bench.question, seconds, load, ...summarized(result) } };
// A contestant that left something open does not keep the next case waiting.
process.send?.(message, () => process.exit());
