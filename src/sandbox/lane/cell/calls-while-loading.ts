/** Untrusted side, lane thread: calls that arrived while their plugin was loading. Their wall clocks run meanwhile. */
import type { Step } from "../../../protocol/messages/host-lane.ts";
import { answered, errorJson } from "../answer.ts";
import type { Caller, Entry } from "./calls.ts";

export interface WaitingCall {
  readonly caller: Caller;
  readonly at: number;
  readonly step: Step;
  readonly event: string;
  readonly context: string;
  readonly entry: Entry;
}

export class CallsWhileLoading {
  readonly #calls = new Map<WaitingCall, NodeJS.Timeout>();

  add(call: WaitingCall): void {
    const [, , wallMs] = call.step;
    const deadline = setTimeout(() => {
      this.#calls.delete(call);
      call.caller.settle(call.at, { ...answered("timeout", errorJson("ERR_CALL_TIMEOUT", { ms: wallMs })), wallMs });
    }, wallMs);
    this.#calls.set(call, deadline);
  }

  /** Takes the oldest call out; its clock stops. */
  next(): WaitingCall | undefined {
    for (const [call, deadline] of this.#calls) {
      clearTimeout(deadline);
      this.#calls.delete(call);
      return call;
    }
    return undefined;
  }

  /** Takes all calls out; their clocks stop. */
  takeAll(): WaitingCall[] {
    const calls = [...this.#calls.keys()];
    for (const deadline of this.#calls.values()) clearTimeout(deadline);
    this.#calls.clear();
    return calls;
  }

  /** The caller no longer wants its answers. */
  abandon(caller: Caller): void {
    for (const [call, deadline] of this.#calls) {
      if (call.caller !== caller) continue;
      clearTimeout(deadline);
      this.#calls.delete(call);
    }
  }
}
