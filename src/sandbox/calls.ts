/** Untrusted side, lane thread: the calls that wait inside a cell, with their clocks and what they have cost so far. */
import type { StepStatus } from "../protocol/hot.ts";
import type { Step } from "../protocol/messages.ts";
import { errorJson } from "./answer.ts";
import type { Answer } from "./answer.ts";

/** Whoever asked for a call: told the answer when it could not be given at once. */
export interface Caller {
  /** As the gauge shows it. */
  readonly run: number;
  readonly cause: number;
  settle(step: number, answer: Answer): void;
}

export interface PendingCall {
  readonly number: number;
  readonly caller: Caller;
  /** The caller's own number for it. */
  readonly at: number;
  readonly step: Step;
  readonly startedMs: number;
  cpuUs: number;
  /** Questions and log lines so far. */
  asks: number;
  lines: number;
  deadline: NodeJS.Timeout | undefined;
  /** Set when the call is answered in the very turn that started it: whoever started it takes the answer from here. */
  early: Answer | undefined;
  isStarting: boolean;
}

export class Calls {
  readonly #pending = new Map<number, PendingCall>();

  get size(): number {
    return this.#pending.size;
  }

  get(number: number): PendingCall | undefined {
    return this.#pending.get(number);
  }

  all(): Iterable<PendingCall> {
    return this.#pending.values();
  }

  add(call: PendingCall): void {
    this.#pending.set(call.number, call);
  }

  /** Its turn is over and it was not answered: from now on its wall clock runs. */
  await(call: PendingCall, outOfTime: (call: PendingCall) => void): void {
    const leftMs = call.step[2] - (performance.now() - call.startedMs);
    call.deadline = setTimeout(() => outOfTime(call), Math.max(0, leftMs));
  }

  forget(call: PendingCall): void {
    clearTimeout(call.deadline);
    this.#pending.delete(call.number);
  }

  settle(call: PendingCall, status: StepStatus, body: string): void {
    this.forget(call);
    const answer = { status, wallMs: performance.now() - call.startedMs, cpuUs: call.cpuUs, body };
    if (call.isStarting) call.early = answer;
    else call.caller.settle(call.at, answer);
  }
}

/** A turn that V8 has ended: which budget was it? A thread that hardly ran has not used up its CPU time. */
export function overrun(cpuMs: number, spentUs: number, call: PendingCall | undefined): [status: StepStatus, why: string] {
  if (spentUs >= cpuMs * 1000) return ["cpu", outOfCpu(cpuMs)];
  const wallMs = call?.step[2];
  if (wallMs !== undefined && performance.now() - call!.startedMs >= wallMs)
    return ["timeout", errorJson("ERR_CALL_TIMEOUT", { ms: wallMs })];
  return ["timeout", errorJson("ERR_CALL_TURN", { budgetMs: cpuMs, cpuMs: Math.round(spentUs / 1000) })];
}

export function outOfCpu(ms: number): string {
  return errorJson("ERR_CALL_CPU", { ms });
}
