/**
 * Untrusted side, lane thread: what a cell slot gets from its lane, and what a lane needs of a slot. Types only, so
 * that the parts of a slot need not import each other.
 */
import type { Step } from "../../../protocol/messages/host-lane.ts";
import type { LaneStatus } from "../../../transport/lane-status.ts";
import type { Answer } from "../answer.ts";
import type { LaneClock } from "../lane-clock.ts";
import type { QueuedTurns } from "../queued-turns.ts";
import type { Caller, Entry } from "./calls.ts";
import type { GuestCode } from "./cell.ts";
import type { Prewarm } from "./prewarm.ts";
import type { Stopper } from "./stopper.ts";

/** What a slot tells its lane. `cell` is the host's number of the slot. */
export interface SlotEvents {
  opened(cell: number, isOk: boolean, loadMs: number, body: string): void;
  log(cell: number, level: string, run: number, text: string): void;
  request(cell: number, request: number, run: number, service: string, args: string): void;
  /** `run`: the cause of the turn; 0: none is known. */
  fault(cell: number, run: number, why: string): void;
  /** The plugin has a volume: the host must send its files before the cell can be built. */
  volume(cell: number): void;
  /** CPU time since the last report, and how long the cell kept its neighbours waiting meanwhile. */
  spent(cell: number, us: number, heldUs: number, ownUs: number): void;
  /** A turn was long: the lane reads its links before it does anything else. */
  long(): void;
  /** True from a long turn until the lane reads its links. */
  wasLong(): boolean;
  /** Sends the answers that are ready. */
  flush(): void;
  /** The isolate of an inspected cell is there; the host says when to load the plugin. */
  inspectable(cell: number): void;
  /** A message of an inspected cell to its debugger. */
  cdp(cell: number, message: string): void;
}

/** A plugin's slot in a lane: cell-slot.ts, or debug-slot.ts for a plugin that is inspected. */
export interface Slot {
  /** The last turn was short. */
  readonly isQuick: boolean;
  readonly mayHaveMail: boolean;
  readonly hasMail: boolean;
  /** Its cell is entered, and the lane does not wait for it. */
  readonly isEntered?: boolean;
  /** Undefined: there is no cell, or it was measured less than a second ago. */
  heapBytes?(): number | undefined;
  load(): void;
  setPaused(isPaused: boolean): void;
  provideFiles(isOk: boolean, text: string): void;
  /** Undefined: the answer comes through the caller's `settle`. */
  call(caller: Caller, at: number, step: Step, event: string, context: string, entry: Entry): Answer | undefined;
  /** Charges the cell for work that the lane has done because of it since then. */
  chargeSince(startedMs: number): void;
  invoke(handle: number, cause: number, argument: string): void;
  respond(request: number, isOk: boolean, text: string): void;
  abandon(caller: Caller): void;
  sweep(): void;
  /** A promise: something of it is still under way until then. */
  dispose(): void | Promise<void>;
}

/** What all slots of a lane share. */
export interface SlotLane {
  readonly guest: GuestCode;
  readonly prewarm: Prewarm;
  readonly status: LaneStatus;
  readonly stopper: Stopper;
  readonly clock: LaneClock;
  readonly turns: QueuedTurns;
  readonly events: SlotEvents;
}
