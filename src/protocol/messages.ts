/**
 * Every message between the host (trusted) and a lane (not trusted). A message is a header, described here, and
 * bodies, which are opaque JSON texts (see frame.ts); the two that every call needs, a run and its replies, have a cheaper
 * form (see hot.ts). The host numbers runs and cells; a lane answers a run with one or more replies, of which the last says so. A lane may stop a run early: the host then decides what the
 * result so far means and sends the rest again, as a new run. Nothing a lane sends is believed before its schema here
 * has passed it, and then only about cells and runs that live in that lane.
 */
import * as z from "zod";
import type { ChainRule } from "./chain-rule.ts";
import type { PluginLimits } from "./plugin-limits.ts";

/** Both ends must speak the same; they ship together, so a mismatch means a broken installation. */
export const PROTOCOL_VERSION = 1;

/* host → lane: trusted, so plain types */

/** The first message: `bodies` = [guest bootstrap code]. */
export interface Hello {
  kind: "hello";
  version: number;
  /** What the lane may decide by itself between two handlers, per hook. */
  rules: Record<string, ChainRule>;
}

/** Build a cell and load its plugin. `bodies` = [bundle, GuestFacts as JSON, the plugin's own files as JSON or nothing]. */
export interface Open {
  kind: "open";
  cell: number;
  plugin: string;
  limits: PluginLimits;
  hasFineClock: boolean;
  /** Every time its cell is built, it is asked for its volume. */
  hasVolume: boolean;
}

/** Dispose of a cell. */
export interface Drop {
  kind: "drop";
  cell: number;
}

/** [cell, handler, wallMs, cpuMs] */
export type Step = readonly [cell: number, handler: number, wallMs: number, cpuMs: number];

/** Handlers that are run together, told once and then named by number in every run (see hot.ts). */
export interface Route {
  kind: "route";
  route: number;
  hook: string;
  /** chain: one after the other, each sees the event as it stands; fan: side by side; gather: as fan, and results count; sync: a chain whose handlers may not wait. */
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

/** Serve the second link from now on, on which the host blocks. Comes after what its runs need. */
export interface Sync {
  kind: "sync";
}

/** The answer to an `ask`. `bodies` = [value, or { code, message }]. */
export interface Tell {
  kind: "tell";
  cell: number;
  ask: number;
  ok: boolean;
}

/** The answer to a `volume`. `bodies` = [SentVolume as JSON, or an error]. */
export interface VolumeAnswer {
  kind: "volume";
  cell: number;
  ok: boolean;
}

export type HostMessage = Hello | Open | Drop | Route | Invoke | Cancel | Sync | Tell | VolumeAnswer;

/* lane → host: not trusted, so schemas */

export const CALL_STATUSES = ["ok", "skipped", "failed", "timeout", "cpu", "memory", "crashed", "recursion", "quarantined"] as const;
export type CallStatus = (typeof CALL_STATUSES)[number];

const count = z.int().nonnegative();
const sizes = z.array(count);

/** The lane is up. */
const ready = z.object({ kind: z.literal("ready"), version: z.int(), sizes });

/** A cell has loaded, or failed to. `bodies` = [what the plugin registered, or the error]. */
const opened = z.object({ kind: z.literal("opened"), cell: count, ok: z.boolean(), loadMs: z.number().nonnegative(), sizes });

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
/** A plugin wrote a line. `bodies` = [text]. */
const log = z.object({ kind: z.literal("log"), cell: count, level: z.enum(LOG_LEVELS), run: count.optional(), sizes });

/** A cell had to be disposed of; an `opened` for its replacement follows. `bodies` = [error]. */
const fault = z.object({ kind: z.literal("fault"), cell: count, sizes });

/** A cell has taken so much CPU time since it last said so. */
const spent = z.object({ kind: z.literal("spent"), cell: count, us: count, sizes });

/** A plugin wants something of the host. `run` is the cause of the run it happened in. `bodies` = [service, arguments]. */
const ask = z.object({ kind: z.literal("ask"), cell: count, ask: count, run: count, sizes });

/** A cell is to be built, and needs its volume as it is after all that was asked before. */
const volume = z.object({ kind: z.literal("volume"), cell: count, sizes });

export const laneMessage = z.discriminatedUnion("kind", [log, ask, ready, opened, fault, spent, volume]);
export type LaneMessage = z.infer<typeof laneMessage>;

/** A turn that lasts: the lane is inside a cell, and was there the last time somebody looked. */
const held = z.object({
  kind: z.literal("held"),
  lane: count,
  cell: count,
  /** See gauge.ts. */
  run: z.int(),
  step: count,
  begun: count,
  limitMs: z.number().nonnegative(),
  heldMs: z.number().nonnegative(),
  /** Of the thread, since it was first seen there; missing where the kernel does not say. */
  cpuMs: z.number().nonnegative().optional(),
  isAsleep: z.boolean().optional(),
});
export type HeldTurn = z.infer<typeof held>;

/** From the sandbox process's own main thread, on the control pipe: a lane's turn lasts; the answer to a ping; last words. */
export const unitMessage = z.discriminatedUnion("kind", [
  held,
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
