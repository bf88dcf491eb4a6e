/** Untrusted side, lane thread: the calls that are pending in a cell, with their clocks and their costs so far. */
import type { StepStatus } from "../../../transport/call-frames.ts";
import type { Step } from "../../../protocol/messages/host-lane.ts";
import { errorJson } from "../answer.ts";
import type { Answer } from "../answer.ts";

/**
 * How a handler is entered: its result counts, or is ignored, or it must return at once (for `echo`, see
 * HookDefinition).
 */
export type Entry = { readonly as: "result" } | { readonly as: "observer" } | { readonly as: "sync"; readonly echo: string | undefined };

/** Started a call, and gets its answer here if the call did not answer at once. */
export interface Caller {
  /** As the lane status shows it. */
  readonly run: number;
  readonly cause: number;
  settle(step: number, answer: Answer): void;
}

export interface PendingCall {
  readonly number: number;
  readonly caller: Caller;
  /** The caller's number for it: the step of the route. */
  readonly at: number;
  readonly step: Step;
  readonly startedMs: number;
  cpuUs: number;
  /** Requests and log lines so far. */
  requests: number;
  lines: number;
  deadline: NodeJS.Timeout | undefined;
  /** Set if the call is answered in the turn that started it: `CellTurns.call` returns it. */
  early: Answer | undefined;
  isStarting: boolean;
}

/** What a call has that has just begun. */
export const NEW_CALL = { requests: 0, lines: 0, deadline: undefined, early: undefined, isStarting: false };

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

  /** Its turn is over without an answer: its wall clock starts. */
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

/**
 * V8 stopped a turn by its wall clock: which budget was exceeded? On a busy machine the thread may have had little CPU
 * time.
 */
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

export const UNUSABLE = errorJson("ERR_CALL_REPLACED", { detail: "its bootstrap did not answer" });
