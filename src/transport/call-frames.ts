/**
 * Both sides: the two messages that every call needs, in a form that costs next to nothing to write and read: numbers,
 * commas, the lengths of the JSON bodies, a line break, and the bodies. Their meaning is in host-lane.ts. All other
 * messages are frames of frames.ts, which start with a brace; these start with a capital.
 */

import type { Frame } from "./frames.ts";
import { LIMITS } from "../protocol/limits.ts";
import { NumberReader } from "../protocol/messages/number-reader.ts";

/** How a step of a run can end inside a lane. The status of a call has a few more values. */
export const STEP_STATUSES = ["ok", "failed", "timeout", "cpu", "memory", "crashed"] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

/** Host → lane: run the handlers of a route, from one of its steps on. */
export interface CallRequest {
  /** Unique per link. */
  readonly id: number;
  /** The host's run that this is part of. The lane sends it back with everything the handlers do. */
  readonly cause: number;
  /** The handlers, as announced by a `route` message. */
  readonly route: number;
  readonly from: number;
  /** False once rewrites are frozen: results no longer change what later handlers see. */
  readonly chains: boolean;
  /** Wall time that an earlier attempt at the first step has used. */
  readonly spentMs: number;
  readonly event: string;
  readonly context: string;
}

/** How one step ended. The body is a result, an error, or empty. */
export interface StepReply {
  /** Position in the route. */
  readonly step: number;
  readonly status: StepStatus;
  readonly wallUs: number;
  readonly cpuUs: number;
  readonly body: string;
}

/**
 * Lane → host: steps that have ended. `isLast`: no further reply follows; the lane may leave later steps to the host.
 */
export interface CallReply {
  readonly id: number;
  readonly isLast: boolean;
  readonly steps: readonly StepReply[];
}

const RUN = "R";
const REPLY = "A";
const RUN_CODE = RUN.charCodeAt(0);
export const REPLY_CODE = REPLY.charCodeAt(0);

/** From here on V8 keeps a string outside its ordinary heap pages, whatever its characters are. */
const LONG_CHARS = 64 * 1024;

export function isCallFrame(frame: string): boolean {
  const first = frame.charCodeAt(0);
  return first === RUN_CODE || first === REPLY_CODE;
}

export function writeCallRequest(id: number, route: number, run: Omit<CallRequest, "id" | "route">): string {
  return `${headOf(id, route, run)}${run.event}${run.context}`;
}

/** As `writeCallRequest`, in parts if the event is long. */
export function callFrame(id: number, route: number, run: Omit<CallRequest, "id" | "route">): Frame {
  if (run.event.length < LONG_CHARS) return writeCallRequest(id, route, run);
  return [headOf(id, route, run), run.event, run.context];
}

function headOf(id: number, route: number, { cause, from, chains, spentMs, event }: Omit<CallRequest, "id" | "route">): string {
  return `${RUN}${id},${cause},${route},${from},${chains ? 1 : 0},${spentMs},${event.length}\n`;
}

/** Needs no checks: only the host writes requests. */
export function readCallRequest(frame: Frame): CallRequest {
  const head = typeof frame === "string" ? frame : frame[0]!;
  const numbers = new NumberReader(head, 1);
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

// SECURITY: comes from the sandbox, so every number is checked; throws a RangeError. test/transport/call-frames.test.ts
export function readReply(frame: string): CallReply {
  const end = frame.indexOf("\n");
  if (frame[0] !== REPLY || end < 0 || end > LIMITS.frames.replyHeadChars) throw new RangeError("not a reply");
  const numbers = new NumberReader(frame, 1);
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
