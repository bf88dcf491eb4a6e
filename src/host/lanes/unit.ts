/** Trusted side: what starts and dies together: one sandbox process with all its lanes, or one thread. */
import type { MessagePort } from "node:worker_threads";
import type { Link } from "../../protocol/link.ts";

/** The host's end of a thread's link for synchronous runs. */
export interface SyncPort {
  readonly port: MessagePort;
  /** Counts up with every answer. */
  readonly notify: Int32Array;
}

export interface LaneUnit {
  /** One per lane. */
  readonly links: readonly Link[];
  /** Thread isolation has a port per lane; process isolation dials in through the bridge. */
  readonly syncPorts?: readonly SyncPort[];
  /** Of the process whose death is the end of it: Node itself, or the wrapper that dies with it. */
  readonly pid?: number;
  /** Memory of the sandbox process; undefined: it is starting or gone, or nobody says. Cheap enough to be asked every few milliseconds. */
  residentBytes?(): number | undefined;
  /** Settles once, with the reason, when the unit is gone. */
  readonly ended: Promise<string>;
  /** Ends it at once, whatever it is doing. */
  kill(): void;
  /** Ends it and waits until nothing of it is left. */
  close(): Promise<void>;
}

export type StartUnit = (lanes: number) => LaneUnit;
