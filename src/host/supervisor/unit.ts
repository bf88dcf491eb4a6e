/**
 * Trusted side: a unit is a failure domain, which starts and dies as one: a sandbox process with all its lanes, or one
 * thread.
 */
import type { Link } from "../../transport/link.ts";
import type { Grown, StalledTurn } from "../../protocol/messages/host-lane.ts";
import type { SyncPort } from "./sync/sync-port.ts";

/** What the unit's stall detector reports, from a thread that runs no plugin code. */
export interface UnitEvents {
  stalled(turn: StalledTurn): void;
  grown(growth: Grown): void;
  /** The answer to a ping. */
  beat(): void;
  /** It sent something that is not in the protocol. */
  protocolError(why: string): void;
}

export interface LaneUnit {
  /** One per lane. */
  readonly links: readonly Link[];
  /** One per lane, for runs that the caller blocks on; undefined: this system has none. */
  readonly syncPorts?: readonly (SyncPort | undefined)[];
  /** The process that was started: Node itself, or the outermost wrapper, which ends with it. */
  readonly pid?: number;
  /**
   * Resident memory of the sandbox process; undefined: it is starting or gone, or the system does not say. Cheap enough
   * to call every few milliseconds.
   */
  rssBytes?(): number | undefined;
  observe(events: UnitEvents): void;
  /** Asks for a beat. Missing where the unit shares the host's process. */
  ping?(): void;
  /** Memory is tight: lanes report from now on which cells grow. */
  tighten?(): void;
  /** Tells of the end of the control link and of links for blocked callers. Missing: they end with the unit. */
  onLinkEnd?(listener: (why: string, isBroken: boolean) => void): void;
  /** Whether it keeps the gateway's process alive. Missing: it does, always. */
  setRef?(isHeld: boolean): void;
  /** The end of what it wrote to stderr. Missing: it shares the gateway's. */
  said?(): string;
  /** Settles with the reason when the unit is gone. */
  readonly ended: Promise<string>;
  /** Ends it at once, whatever it is doing. */
  kill(): void;
  /** Ends it and waits until nothing of it is left. */
  close(): Promise<void>;
}

export type StartUnit = (lanes: number) => LaneUnit;
