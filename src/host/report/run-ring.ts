/**
 * Trusted side: the latest runs of a host, passes included, for readers who come later. It keeps references only; what a reader sees of
 * a run is worked out when asked for (run-record.ts, run-detail.ts). Bounded in number, and in the memory that it keeps alive.
 */
import { LIMITS } from "../../protocol/limits.ts";
import type { Outcome } from "../../protocol/outcome.ts";
import type { RunInput } from "../run/run-input.ts";

/** A run that has ended. */
export interface EndedRun {
  readonly seq: number;
  /** How many runs of this host had ended, with this one. */
  readonly number: number;
  readonly input: RunInput;
  /** Undefined: the gateway aborted it. */
  readonly outcome: Outcome | undefined;
  /** By performance.now(). */
  readonly endedMs: number;
  /** About how much memory it keeps alive. */
  readonly bytes: number;
}

/** The objects of a run, without its texts. */
const RUN_BYTES = 2_048;

export class RunRing {
  readonly #slots: (EndedRun | undefined)[];
  readonly #maxBytes: number;
  /** How many runs were added, and how many of them are gone. */
  #added = 0;
  #gone = 0;
  #bytes = 0;

  constructor(runs: number = LIMITS.report.runs, maxBytes: number = LIMITS.report.runsBytes) {
    this.#slots = Array.from({ length: runs });
    this.#maxBytes = maxBytes;
  }

  add(seq: number, input: RunInput, outcome: Outcome | undefined, endedMs: number): void {
    // Characters may take two bytes, and the event exists as an object as well.
    const bytes = RUN_BYTES + 4 * (input.eventText.length + input.contextText.length) + answerBytes(input);
    if (this.#added - this.#gone === this.#slots.length) this.#drop();
    this.#slots[this.#added % this.#slots.length] = { seq, number: this.#added + 1, input, outcome, endedMs, bytes };
    this.#added += 1;
    this.#bytes += bytes;
    while (this.#bytes > this.#maxBytes) this.#drop();
  }

  /** The latest first. */
  *latest(): Generator<EndedRun> {
    for (let at = this.#added - 1; at >= this.#gone; at--) yield this.#slots[at % this.#slots.length]!;
  }

  find(runId: string): EndedRun | undefined {
    for (const run of this.latest()) if (run.input.runId === runId) return run;
    return undefined;
  }

  #drop(): void {
    const at = this.#gone % this.#slots.length;
    this.#bytes -= this.#slots[at]!.bytes;
    this.#slots[at] = undefined;
    this.#gone += 1;
  }
}

/** A result exists as text and, merged, as an object. */
function answerBytes({ firstAnswers, later }: RunInput): number {
  let chars = 0;
  if (firstAnswers instanceof Map) for (const step of firstAnswers.values()) chars += step.body.length;
  else if (firstAnswers && "steps" in firstAnswers) for (const step of firstAnswers.steps) chars += step?.body.length ?? 0;
  if (later) for (const { answers } of later) for (const step of answers.steps) chars += step?.body.length ?? 0;
  return 4 * chars;
}
