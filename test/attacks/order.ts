/** What the runner tells a gateway process to do, and what that says of it. Both are ours: plain types are enough. */
import type { Budget } from "./stage.ts";
import type { Trial } from "./trial.ts";

export interface Order {
  readonly isolation: "process" | "thread";
  readonly slots: readonly {
    readonly id: string;
    readonly attack: string;
    readonly budget: Budget;
    readonly stayMs: number;
    readonly isForced: boolean;
    readonly clockRoom?: number;
  }[];
  /** Go on with the load until so many calls were sent. */
  readonly calls: number;
}

/** Something at rest: a lane that looks around now and then, nothing that still computes. */
export const RESTING_SHARE = 0.15;

/** What is left of it when the load has ended. */
export interface Residue {
  /** Processor time of the gateway and its children, of one core, when nothing is asked of them any more. */
  readonly cpuShare: number;
  /** Child processes that are still there when the host is closed. */
  readonly strays: number;
}

export type Report =
  | { readonly kind: "begin"; readonly id: string; readonly pids: readonly number[] }
  | { readonly kind: "beat" }
  | { readonly kind: "trial"; readonly trial: Trial }
  /** The trials once more, now that every call is answered or lost; `rest` counts the calls before the first and after the last. */
  | { readonly kind: "end"; readonly trials: readonly Trial[]; readonly rest: Trial["benign"]; readonly residue: Residue };
