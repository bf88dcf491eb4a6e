/**
 * The two messages on the path of every call, as text that costs next to nothing to write and read: numbers, commas and the
 * lengths of the JSON bodies that follow the line break. What they mean is in messages.ts. All other messages are frames of
 * frame.ts, which start with a brace; these start with a letter.
 */

import type { Frame } from "./frame.ts";
import { Numbers } from "./numbers.ts";

/** How a step of a run can end inside a lane; a call's status has a few more. */
export const STEP_STATUSES = ["ok", "failed", "timeout", "cpu", "memory", "crashed"] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

/** Host → lane: run the handlers of a route, from a step of it on. */
export interface HotRun {
  /** The lane's number for it. */
  readonly id: number;
  /** The host's run that this is part of; comes back with everything the handlers do. */
  readonly cause: number;
  /** Which handlers, as announced by a `route` message. */
  readonly route: number;
  readonly from: number;
  /** False once rewrites are frozen: results no longer change what later handlers see. */
  readonly chains: boolean;
  /** Wall time that an earlier attempt at the first step has used up. */
  readonly spentMs: number;
  readonly event: string;
  readonly context: string;
}

/** Lane → host: how one step ended. The body is a result, an error, or empty. */
export interface StepReply {
  /** Position in the route. */
  readonly step: number;
  readonly status: StepStatus;
  readonly wallUs: number;
  readonly cpuUs: number;
  readonly body: string;
}

/** Lane → host: steps that have ended. The last reply of a run says so; a lane may leave later steps to the host. */
export interface HotReply {
  readonly id: number;
  readonly isLast: boolean;
  readonly steps: readonly StepReply[];
}

const RUN = "R";
const REPLY = "A";
const RUN_CODE = RUN.charCodeAt(0);
const REPLY_CODE = REPLY.charCodeAt(0);

/** Where strings become too long for V8's ordinary memory, whatever they are made of. */
const LONG_CHARS = 64 * 1024;

export function isHot(frame: string): boolean {
  const first = frame.charCodeAt(0);
  return first === RUN_CODE || first === REPLY_CODE;
}

export function writeRun(id: number, route: number, run: Omit<HotRun, "id" | "route">): string {
  return `${headOf(id, route, run)}${run.event}${run.context}`;
}

/** As `writeRun`; in parts if the event is long. */
export function runFrame(id: number, route: number, run: Omit<HotRun, "id" | "route">): Frame {
  if (run.event.length < LONG_CHARS) return writeRun(id, route, run);
  return [headOf(id, route, run), run.event, run.context];
}

function headOf(id: number, route: number, { cause, from, chains, spentMs, event }: Omit<HotRun, "id" | "route">): string {
  return `${RUN}${id},${cause},${route},${from},${chains ? 1 : 0},${spentMs},${event.length}\n`;
}

/** Trusted: only a host writes runs. */
export function readRun(frame: Frame): HotRun {
  const head = typeof frame === "string" ? frame : frame[0]!;
  const numbers = new Numbers(head, 1);
  const id = numbers.next();
  const cause = numbers.next();
  const route = numbers.next();
  const from = numbers.next();
  const chains = numbers.next() === 1;
  const spentMs = numbers.next();
  const length = numbers.next();
  const middle = numbers.at + length;
  const [event, context] = typeof frame === "string" ? [frame.slice(numbers.at, middle), frame.slice(middle)] : [frame[1]!, frame[2]!];
  return { id, cause, route, from, chains, spentMs, event, context };
}

export function writeReply(id: number, isLast: boolean, steps: readonly StepReply[]): string {
  let head = `${REPLY}${id},${isLast ? 1 : 0}`;
  let bodies = "";
  for (const { step, status, wallUs, cpuUs, body } of steps) {
    head += `;${step},${STEP_STATUSES.indexOf(status)},${wallUs},${cpuUs},${body.length}`;
    bodies += body;
  }
  return `${head}\n${bodies}`;
}

// SECURITY: comes from the sandbox, so every number is checked. Throws a RangeError. test/protocol/hot.test.ts
export function readReply(frame: string): HotReply {
  const end = frame.indexOf("\n");
  if (frame[0] !== REPLY || end < 0) throw new RangeError("not a reply");
  const numbers = new Numbers(frame, 1);
  const id = numbers.next();
  const last = numbers.next();
  const steps: StepReply[] = [];
  let body = end + 1;
  while (numbers.at <= end) {
    const step = numbers.next();
    const status = STEP_STATUSES[numbers.next()];
    const wallUs = numbers.next();
    const cpuUs = numbers.next();
    const length = numbers.next();
    if (status === undefined) throw new RangeError("a reply with an unknown status");
    steps.push({ step, status, wallUs, cpuUs, body: frame.slice(body, (body += length)) });
  }
  if (numbers.at !== end + 1 || body !== frame.length || last > 1) throw new RangeError("a reply whose sizes do not add up");
  return { id, isLast: last === 1, steps };
}
