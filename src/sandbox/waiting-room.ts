/** Untrusted side: calls that met a cell while it was loading. Their wall clocks run meanwhile. */
import type { Step } from "../protocol/messages.ts";
import { answered, errorJson } from "./answer.ts";
import type { Caller } from "./calls.ts";
import type { Entry } from "./resident.ts";

export interface WaitingCall {
  readonly caller: Caller;
  readonly at: number;
  readonly step: Step;
  readonly event: string;
  readonly context: string;
  readonly entry: Entry;
}

export class WaitingRoom {
  readonly #calls = new Map<WaitingCall, NodeJS.Timeout>();

  add(call: WaitingCall): void {
    const [, , wallMs] = call.step;
    const deadline = setTimeout(() => {
      this.#calls.delete(call);
      call.caller.settle(call.at, { ...answered("timeout", errorJson("ERR_CALL_TIMEOUT", { ms: wallMs })), wallMs });
    }, wallMs);
    this.#calls.set(call, deadline);
  }

  /** Empties the room; the clocks of those who leave stop. */
  leave(): WaitingCall[] {
    const calls = [...this.#calls.keys()];
    for (const deadline of this.#calls.values()) clearTimeout(deadline);
    this.#calls.clear();
    return calls;
  }

  /** The caller does not want its answers any more. */
  abandon(caller: Caller): void {
    for (const [call, deadline] of this.#calls) {
      if (call.caller !== caller) continue;
      clearTimeout(deadline);
      this.#calls.delete(call);
    }
  }
}
