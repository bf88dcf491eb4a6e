/**
 * The two messages on the path of every call, as text that costs next to nothing to write and read: numbers, commas and the
 * lengths of the JSON bodies that follow the line break. What they mean is in messages.ts. All other messages are frames of
 * frame.ts, which start with a brace; these start with a letter.
 */

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

export function isHot(frame: string): boolean {
  return frame[0] === RUN || frame[0] === REPLY;
}

export function writeRun({ id, cause, route, from, chains, event, context }: HotRun): string {
  return `${RUN}${id},${cause},${route},${from},${chains ? 1 : 0},${event.length}\n${event}${context}`;
}

/** Trusted: only a host writes runs. */
export function readRun(frame: string): HotRun {
  const end = frame.indexOf("\n");
  const [id, cause, route, from, chains, length] = frame.slice(1, end).split(",").map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const middle = end + 1 + length;
  return { id, cause, route, from, chains: chains === 1, event: frame.slice(end + 1, middle), context: frame.slice(middle) };
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
  const entries = frame.slice(1, end).split(";");
  const [id, last] = numbers(entries[0]!, 2) as [number, number];
  const steps: StepReply[] = [];
  let at = end + 1;
  for (let index = 1; index < entries.length; index++) {
    const [step, code, wallUs, cpuUs, length] = numbers(entries[index]!, 5) as [number, number, number, number, number];
    const status = STEP_STATUSES[code];
    if (status === undefined) throw new RangeError("a reply with an unknown status");
    steps.push({ step, status, wallUs, cpuUs, body: frame.slice(at, (at += length)) });
  }
  if (at !== frame.length || last > 1) throw new RangeError("a reply whose sizes do not add up");
  return { id, isLast: last === 1, steps };
}

function numbers(text: string, count: number): number[] {
  const found = text.split(",").map(Number);
  if (found.length !== count) throw new RangeError("a reply with a field too many or too few");
  for (const number of found) if (!Number.isSafeInteger(number) || number < 0) throw new RangeError("a reply with an impossible number");
  return found;
}
