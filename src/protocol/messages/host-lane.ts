/**
 * Every message between the host (trusted) and a lane (not trusted). A message is a header, described here, and bodies,
 * which are opaque JSON texts (see frames.ts). The two that every call needs, a run and its replies, have a cheaper
 * form (see call-frames.ts). The host numbers runs and cells. A lane answers a run with one or more replies and marks
 * the last one. A lane may stop a run early: the host then decides what the result so far means and sends the rest
 * again, as a new run. The host believes nothing that a lane sends before it has passed its schema here, and then only
 * about cells and runs that live in that lane.
 */
import * as z from "zod";
import { LOG_LEVELS } from "./mail.ts";
import type { ChainRule } from "../rules/chain-rule.ts";
import type { PluginLimits } from "../config/plugin-limits.ts";

/** Both ends must have the same version. They ship together, so a mismatch means a broken installation. */
export const PROTOCOL_VERSION = 1;

/* host → lane: trusted, so plain types */

/** The first message: `bodies` = [guest bootstrap code]. */
export interface Hello {
  kind: "hello";
  version: number;
  /** What the lane may decide by itself between two handlers, per hook. */
  rules: Record<string, ChainRule>;
  /** In an author's test: time stands still there until `advance`. Milliseconds since 1970. */
  clockMs?: number;
}

/**
 * Build a cell and load its plugin. `bodies` = [bundle, GuestFacts as JSON, the plugin's own files as JSON or nothing].
 */
export interface Open {
  kind: "open";
  cell: number;
  plugin: string;
  limits: PluginLimits;
  hasFineClock: boolean;
  /** The lane requests the volume every time it builds the cell. */
  hasVolume: boolean;
  /** See Pause. */
  isPaused: boolean;
  /** The cell is entered asynchronously, so that a debugger can stop it; see cell/debug-slot.ts. */
  isInspected?: boolean;
}

/** Dispose of a cell. */
export interface Drop {
  kind: "drop";
  cell: number;
}

/**
 * A plugin's breaker has opened: its cell runs no timers and gets no responses, except for calls that wait. What is due
 * meanwhile waits until the cell is resumed.
 */
export interface Pause {
  kind: "pause";
  cell: number;
  isPaused: boolean;
}

/** One handler of a route, its budgets, and the longest result that it may give. */
export type Step = readonly [cell: number, handler: number, wallMs: number, cpuMs: number, bytesOut: number];

/**
 * Handlers that run one after the other or side by side, announced once and then named by number in every run (see
 * call-frames.ts).
 */
export interface Route {
  kind: "route";
  route: number;
  hook: string;
  /**
   * chain: one after the other, each sees the event as earlier ones left it. fan: side by side. gather: as fan, and
   * results count. sync: a chain whose handlers may not wait.
   */
  mode: "chain" | "fan" | "gather" | "sync";
  steps: readonly Step[];
}

/** Call a function that a plugin handed out in a result, by its handle. `bodies` = [its argument]. */
export interface Invoke {
  kind: "invoke";
  cell: number;
  handle: number;
  cause: number;
}

/** The gateway gave up on a run: start no further handler of it. */
export interface Cancel {
  kind: "cancel";
  id: number;
}

/** From now on serve the second link, on which the host blocks. It follows the messages that its runs need. */
export interface Sync {
  kind: "sync";
}

/** The response to a `request`. `bodies` = [value, or { code, message }]. */
export interface Response {
  kind: "response";
  cell: number;
  request: number;
  ok: boolean;
}

/** The response to a `volume`. `bodies` = [SentVolume as JSON, or an error]. */
export interface VolumeAnswer {
  kind: "volume";
  cell: number;
  ok: boolean;
}

/** To an inspected cell: open its debugger session, close it (a paused turn goes on), or load the plugin, which waits for this. */
export interface Inspect {
  kind: "inspect";
  cell: number;
  action: "attach" | "detach" | "go";
}

/** To an inspected cell: a message of the debugger's. `bodies` = [message of the Chrome DevTools Protocol]. */
export interface Cdp {
  kind: "cdp";
  cell: number;
}

/** In an author's test: it is that time now. The lane answers with `clock`. */
export interface Advance {
  kind: "advance";
  toMs: number;
}

export type HostMessage = Hello | Open | Drop | Pause | Route | Invoke | Cancel | Sync | Response | VolumeAnswer | Inspect | Cdp | Advance;

/* lane → host: not trusted, so schemas */

export const CALL_STATUSES = ["ok", "skipped", "failed", "timeout", "cpu", "memory", "crashed", "recursion", "quarantined"] as const;
export type CallStatus = (typeof CALL_STATUSES)[number];

const count = z.int().nonnegative();
const sizes = z.array(count);
/** Memory of the cell, measured now and then. */
const heapBytes = count.optional();

/** The lane is up. */
const ready = z.object({ kind: z.literal("ready"), version: z.int(), sizes });

/** A cell has loaded, or failed to. `bodies` = [what the plugin registered, or the error]. */
const opened = z.object({ kind: z.literal("opened"), cell: count, ok: z.boolean(), loadMs: z.number().nonnegative(), heapBytes, sizes });

/** A plugin wrote a line. `bodies` = [text]. */
const log = z.object({ kind: z.literal("log"), cell: count, level: z.enum(LOG_LEVELS), run: count.optional(), sizes });

/** A cell had to be disposed of; an `opened` for its replacement follows. `run`: the cause of its last turn, if known. `bodies` = [error]. */
const fault = z.object({ kind: z.literal("fault"), cell: count, run: count.optional(), sizes });

/**
 * The CPU time that a cell has used since its last report. `heldUs`: how long other cells had to wait for it, in turns
 * that last or that no call waits for. `ownUs`: the part of it that no call waited for.
 */
const spent = z.object({ kind: z.literal("spent"), cell: count, us: count, heldUs: count, ownUs: count, heapBytes, sizes });

/** A plugin's request to the host. `run` is the cause of the run that it came from. `bodies` = [service, arguments]. */
const request = z.object({ kind: z.literal("request"), cell: count, request: count, run: count, sizes });

/** The lane builds a cell and needs its volume, with all changes that were requested before. */
const volume = z.object({ kind: z.literal("volume"), cell: count, sizes });

/** The isolate of an inspected cell is there, without its plugin. The lane waits for `inspect`. */
const inspectable = z.object({ kind: z.literal("inspectable"), cell: count, sizes });

/** From an inspected cell, for the debugger. `bodies` = [message of the Chrome DevTools Protocol]. */
const cdp = z.object({ kind: z.literal("cdp"), cell: count, sizes });

/** The turns that were due at the time of an `advance` are over. `nextMs`: when the next timer is due. */
const clock = z.object({ kind: z.literal("clock"), nextMs: z.number().nonnegative().optional(), sizes });

export const laneMessage = z.discriminatedUnion("kind", [log, request, ready, opened, fault, spent, volume, inspectable, cdp, clock]);
export type LaneMessage = z.infer<typeof laneMessage>;

/** A stalled turn: the lane is inside a cell, and was there at the previous check. */
const stalled = z.object({
  kind: z.literal("stalled"),
  lane: count,
  cell: count,
  /** Tells one turn from the next. */
  turn: count,
  /** See lane-status.ts. */
  run: z.int(),
  step: count,
  begun: count,
  limitMs: z.number().nonnegative(),
  stalledMs: z.number().nonnegative(),
  /** CPU time of the thread since it was first seen there. Missing if the kernel does not report it. */
  cpuMs: z.number().nonnegative().optional(),
  isAsleep: z.boolean().optional(),
  /** Its CPU time was over, and it was told to stop. */
  isStopped: z.boolean().optional(),
  /** Memory that the thread touched for the first time in this turn, by the kernel's count of page faults. */
  touchedBytes: count.optional(),
});
export type StalledTurn = z.infer<typeof stalled>;

/**
 * While memory is tight: which cell of a lane has taken most since then, how much, and how much the lane's other cells
 * took.
 */
const grown = z.object({ kind: z.literal("grown"), lane: count, cell: count, bytes: count, others: count });
export type Grown = z.infer<typeof grown>;

/** Host → sandbox process, on the control pipe: a ping, or a request to report memory. */
export type ControlMessage = { readonly kind: "ping" } | { readonly kind: "tight" };

/**
 * Main thread of the sandbox process → host, on the control pipe: a stalled turn, whose memory it is, the answer to a
 * ping, a last message.
 */
export const unitMessage = z.discriminatedUnion("kind", [
  stalled,
  grown,
  z.object({ kind: z.literal("beat") }),
  z.object({ kind: z.literal("ended"), why: z.string().max(2_000) }),
]);
export type UnitMessage = z.infer<typeof unitMessage>;

/** An error as a guest's bootstrap or a lane describes it: text only. */
export const errorText = z.object({
  code: z.string().max(64).optional(),
  name: z.string().optional(),
  message: z.string(),
  stack: z.string().optional(),
});
export type ErrorText = z.infer<typeof errorText>;
