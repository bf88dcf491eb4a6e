/** Untrusted side: a plugin's place in a lane. Its cell may be replaced; calls, timers and those who wait belong to the place. */
import type { Cell, CellSpec } from "./cell.ts";
import type { Hop } from "./hop.ts";

/** A call that has not been answered yet. */
export interface PendingCall {
  readonly number: number;
  readonly hop: Hop;
  /** Position in the hop's steps. */
  readonly step: number;
  readonly startedMs: number;
  cpuUs: number;
  deadline: NodeJS.Timeout | undefined;
}

export class Resident {
  readonly id: number;
  readonly spec: CellSpec;
  cell: Cell | undefined;
  state: "loading" | "ready" | "failed" = "loading";
  /** Why it failed, as error JSON. */
  failure = "";
  readonly pending = new Map<number, PendingCall>();
  readonly timers = new Map<number, { handle: NodeJS.Timeout; call: number }>();
  /** Steps that met the cell while it was loading. */
  readonly waiting: { hop: Hop; step: number }[] = [];
  loadDeadline: NodeJS.Timeout | undefined;
  loadStartedMs = 0;

  constructor(id: number, spec: CellSpec) {
    this.id = id;
    this.spec = spec;
  }

  clearTimers(): void {
    for (const { handle } of this.timers.values()) clearTimeout(handle);
    this.timers.clear();
    clearTimeout(this.loadDeadline);
  }

  dispose(): void {
    this.clearTimers();
    for (const call of this.pending.values()) clearTimeout(call.deadline);
    this.pending.clear();
    this.cell?.dispose();
    this.cell = undefined;
  }
}
