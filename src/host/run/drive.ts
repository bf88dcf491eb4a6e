/** Trusted side: drives a run through its lanes: one promise for the gateway, none in between. */
import type { Outcome } from "../../protocol/outcome.ts";
import type { AnyHook } from "../../protocol/catalog.ts";
import type { Answers, LaneClient, Receiver, StepAnswer } from "../supervisor/lane-client.ts";
import type { Handler } from "../plugins/registry.ts";
import { fan, retryHops } from "./observe.ts";
import type { Fan, FanHop } from "./observe.ts";
import type { RunInput } from "./run-input.ts";
import { Walk } from "./walk.ts";
import type { HopRequest } from "./walk.ts";

export interface Settle {
  resolve(outcome: Outcome): void;
  /** Only when the signal is aborted: then no further hop starts, and late answers are ignored. */
  reject(error: unknown): void;
}

export function drive(input: RunInput, signal: AbortSignal | undefined, settle: Settle): void {
  const running = signal ? new Running(signal, settle) : undefined;
  const isFan = input.hook.kind === "observe" || input.hook.kind === "evaluate";
  if (isFan) new ParallelRun(input, running ?? settle, running).start();
  else new SequentialRun(input, running ?? settle, running).start();
}

class SequentialRun implements Receiver {
  readonly input: RunInput;
  readonly #walk: Walk;
  readonly #settle: Settle;
  readonly #running: Running | undefined;
  #id = 0;

  constructor(input: RunInput, settle: Settle, running: Running | undefined) {
    this.input = input;
    this.#walk = new Walk(input);
    this.#settle = settle;
    this.#running = running;
  }

  start(): void {
    this.#go(this.#walk.next());
  }

  answered(answers: Answers, lane: LaneClient): void {
    this.#running?.ended(lane, this.#id);
    try {
      this.#go(this.#walk.next(answers));
    } catch (error) {
      this.#settle.reject(error);
    }
  }

  #go(hop: HopRequest | undefined): void {
    if (!hop) return this.#settle.resolve(this.#walk.outcome!);
    this.#id = hop.lane.run(hop.request, this);
    this.#running?.began(hop.lane, this.#id);
  }
}

class ParallelRun {
  readonly #input: RunInput;
  readonly #fan: Fan;
  readonly #hook: AnyHook;
  readonly #settle: Settle;
  readonly #running: Running | undefined;
  readonly #answers = new Map<Handler, StepAnswer>();
  #open = 0;

  constructor(input: RunInput, settle: Settle, running: Running | undefined) {
    this.#input = input;
    this.#fan = fan(input);
    this.#hook = input.hook;
    this.#settle = settle;
    this.#running = running;
  }

  start(): void {
    const { hops } = this.#fan;
    if (hops.length === 0) return this.#settle.resolve(this.#fan.outcome(this.#answers));
    this.#open = hops.length;
    for (const hop of hops) this.#go(hop);
  }

  #go(hop: FanHop): void {
    const { lane, request } = hop;
    const id = lane.run(request, {
      input: this.#input,
      answered: (answers) => {
        this.#running?.ended(lane, id);
        this.#answered(hop, answers);
      },
    });
    this.#running?.began(lane, id);
  }

  #answered(hop: FanHop, answers: Answers): void {
    for (const [at, handler] of hop.handlers.entries()) {
      const step = answers.steps[at];
      if (step) this.#answers.set(handler, step);
    }
    const isOnly = this.#fan.hops.length === 1 && !answers.retry;
    const endedMs = isOnly ? undefined : performance.now();
    (this.#input.fanned ??= []).push({ answers, handlers: hop.handlers, endedMs });
    const rest = answers.retry ? retryHops(this.#hook, hop, answers) : [];
    this.#open += rest.length - 1;
    for (const next of rest) this.#go(next);
    if (this.#open > 0) return;
    try {
      this.#settle.resolve(this.#fan.outcome(this.#answers));
    } catch (error) {
      this.#settle.reject(error);
    }
  }
}

/** The hops in flight, so that an abort can cancel them. */
class Running implements Settle {
  readonly #hops = new Map<string, () => void>();
  readonly #signal: AbortSignal;
  readonly #settle: Settle;
  readonly #onAbort = (): void => {
    for (const cancel of this.#hops.values()) cancel();
    this.#settle.reject(this.#signal.reason);
  };

  constructor(signal: AbortSignal, settle: Settle) {
    this.#signal = signal;
    this.#settle = settle;
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  began(lane: LaneClient, id: number): void {
    this.#hops.set(`${lane.index} ${id}`, () => lane.cancel(id));
  }

  ended(lane: LaneClient, id: number): void {
    this.#hops.delete(`${lane.index} ${id}`);
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
