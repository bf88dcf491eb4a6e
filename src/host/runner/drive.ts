/** Trusted side: drives a run through its lanes: one promise for the gateway, none in between. */
import type { Outcome } from "../../protocol/outcome.ts";
import type { Answers, LaneClient, Receiver } from "../lanes/lane-client.ts";
import { fan } from "./observe.ts";
import type { Fan } from "./observe.ts";
import type { RunInput } from "./run-input.ts";
import { walk } from "./walk.ts";

export interface Settle {
  resolve(outcome: Outcome): void;
  /** Only when the signal is aborted: then nothing further is started and late answers are not heard. */
  reject(error: unknown): void;
}

export function drive(input: RunInput, signal: AbortSignal | undefined, settle: Settle): void {
  const running = signal ? new Running(signal, settle) : undefined;
  const isFan = input.hook.kind === "observe" || input.hook.kind === "evaluate";
  if (isFan) new SideBySide(input, running ?? settle, running).start();
  else new OneByOne(input, running ?? settle, running).start();
}

class OneByOne implements Receiver {
  readonly #steps: ReturnType<typeof walk>;
  readonly #settle: Settle;
  readonly #running: Running | undefined;

  constructor(input: RunInput, settle: Settle, running: Running | undefined) {
    this.#steps = walk(input);
    this.#settle = settle;
    this.#running = running;
  }

  start(): void {
    this.#go(this.#steps.next());
  }

  answered(answers: Answers, lane: LaneClient): void {
    this.#running?.lanes.delete(lane);
    try {
      this.#go(this.#steps.next(answers));
    } catch (error) {
      this.#settle.reject(error);
    }
  }

  #go(next: IteratorResult<{ lane: LaneClient; request: Parameters<LaneClient["run"]>[0] }, Outcome>): void {
    if (next.done) return this.#settle.resolve(next.value);
    const { lane, request } = next.value;
    const id = lane.run(request, this);
    this.#running?.lanes.set(lane, id);
  }
}

class SideBySide {
  readonly #fan: Fan;
  readonly #settle: Settle;
  readonly #running: Running | undefined;
  readonly #answers: Answers[] = [];
  #open: number;

  constructor(input: RunInput, settle: Settle, running: Running | undefined) {
    this.#fan = fan(input);
    this.#settle = settle;
    this.#running = running;
    this.#open = this.#fan.hops.length;
  }

  start(): void {
    if (this.#open === 0) return this.#settle.resolve(this.#fan.outcome([]));
    for (const [index, { lane, request }] of this.#fan.hops.entries()) {
      const id = lane.run(request, { answered: (answers) => this.#answered(index, lane, answers) });
      this.#running?.lanes.set(lane, id);
    }
  }

  #answered(index: number, lane: LaneClient, answers: Answers): void {
    this.#running?.lanes.delete(lane);
    this.#answers[index] = answers;
    this.#open -= 1;
    if (this.#open > 0) return;
    try {
      this.#settle.resolve(this.#fan.outcome(this.#answers));
    } catch (error) {
      this.#settle.reject(error);
    }
  }
}

/** What is in which lane now, so that an abort can cancel it. */
class Running implements Settle {
  readonly lanes = new Map<LaneClient, number>();
  readonly #signal: AbortSignal;
  readonly #settle: Settle;
  readonly #onAbort = (): void => {
    for (const [lane, id] of this.lanes) lane.cancel(id);
    this.#settle.reject(this.#signal.reason);
  };

  constructor(signal: AbortSignal, settle: Settle) {
    this.#signal = signal;
    this.#settle = settle;
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  resolve(outcome: Outcome): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#settle.resolve(outcome);
  }

  reject(error: unknown): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#settle.reject(error);
  }
}
