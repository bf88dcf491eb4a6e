/** Trusted side: what starts and dies together: one sandbox process with all its lanes, or one thread. */
import type { Link } from "../../protocol/link.ts";
import type { HeldTurn } from "../../protocol/messages.ts";
import type { SyncPort } from "./sync-port.ts";

/** What is seen of a unit's lanes from a thread that runs no plugin code. */
export interface UnitWatcher {
  held(turn: HeldTurn): void;
  /** The answer to a ping. */
  beat(): void;
  /** It said something that is not in the protocol. */
  nonsense(why: string): void;
}

export interface LaneUnit {
  /** One per lane. */
  readonly links: readonly Link[];
  /** One per lane, for runs that the caller blocks on; undefined: not to be had on this system. */
  readonly syncPorts?: readonly (SyncPort | undefined)[];
  /** Of the process whose death is the end of it: Node itself, or the wrapper that dies with it. */
  readonly pid?: number;
  /** Memory of the sandbox process; undefined: it is starting or gone, or nobody says. Cheap enough to be asked every few milliseconds. */
  residentBytes?(): number | undefined;
  watch(watcher: UnitWatcher): void;
  /** Asks for a sign of life. Missing where the host would notice by itself. */
  ping?(): void;
  /** Settles once, with the reason, when the unit is gone. */
  readonly ended: Promise<string>;
  /** Ends it at once, whatever it is doing. */
  kill(): void;
  /** Ends it and waits until nothing of it is left. */
  close(): Promise<void>;
}

export type StartUnit = (lanes: number) => LaneUnit;
