/** Trusted side: drives a run through its lanes with callbacks: one promise for the gateway, none in between. */
import type { Outcome } from "../../protocol/outcome.ts";
import type { Answers, LaneClient } from "../lanes/lane-client.ts";
import { fan } from "./observe.ts";
import type { RunInput } from "./run-input.ts";
import { walk } from "./walk.ts";

interface Settle {
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Rejects only when the signal is aborted: then nothing further is started and late answers are not heard. */
export function drive(input: RunInput, signal: AbortSignal | undefined, settle: Settle): void {
  const running = signal ? abortable(signal, settle) : { ...settle, running: undefined };
  try {
    if (input.hook.kind === "observe" || input.hook.kind === "evaluate") sideBySide(input, running);
    else oneByOne(input, running);
  } catch (error) {
    running.reject(error);
  }
}

/** What is running now, so that an abort can cancel it. */
interface Running extends Settle {
  running: Map<LaneClient, number> | undefined;
}

function oneByOne(input: RunInput, settle: Running): void {
  const steps = walk(input);
  const go = (next: ReturnType<typeof steps.next>): void => {
    if (next.done) return settle.resolve(next.value);
    const { lane, request } = next.value;
    const id = lane.run(request, (answers) => {
      settle.running?.delete(lane);
      try {
        go(steps.next(answers));
      } catch (error) {
        settle.reject(error);
      }
    });
    settle.running?.set(lane, id);
  };
  go(steps.next());
}

function sideBySide(input: RunInput, settle: Running): void {
  const together = fan(input);
  const { hops } = together;
  const answers: Answers[] = [];
  let open = hops.length;
  if (open === 0) return settle.resolve(together.outcome(answers));
  for (const [index, { lane, request }] of hops.entries()) {
    const id = lane.run(request, (given) => {
      answers[index] = given;
      open -= 1;
      if (open === 0) settle.resolve(together.outcome(answers));
    });
    settle.running?.set(lane, id);
  }
}

function abortable(signal: AbortSignal, { resolve, reject }: Settle): Running {
  const running = new Map<LaneClient, number>();
  const onAbort = (): void => {
    for (const [lane, id] of running) lane.cancel(id);
    reject(signal.reason);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  const done = (): void => signal.removeEventListener("abort", onAbort);
  return {
    running,
    resolve: (outcome) => {
      done();
      resolve(outcome);
    },
    reject: (error) => {
      done();
      reject(error);
    },
  };
}
