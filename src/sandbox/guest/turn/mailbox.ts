/**
 * Inside the isolate: mail that the plugin leaves for the lane to fetch after the turn. Its format is in
 * protocol/messages/mail.ts.
 */
import { LIMITS } from "../../../protocol/limits.ts";
import { MAIL } from "../../../protocol/messages/mail.ts";
import { limits } from "../boot/world.ts";
import { sliceText } from "../boot/primordials.ts";

/**
 * The current turn. Everything up to the end of its microtasks belongs to `call`. `drainTicks` is set while callbacks
 * of `process.nextTick` wait (node/next-tick.ts): they run when the turn's own code has returned, before its promises.
 */
export const turn: { call: number; drainTicks: (() => void) | undefined } = { call: 0, drainTicks: undefined };

/** Starts a turn of that call, with a new allowance of log lines. */
export function beginTurn(call: number): void {
  turn.call = call;
  lines = 0;
}

let head = "";
let bodies = "";
let lines = 0;
let dropped = 0;

// SECURITY: only strings and numbers are concatenated here, so no plugin code can run. test/escape/prototypes.test.ts
export function post(kind: string, a: number, b: number, call: number, body = ""): void {
  head += `${kind}${a},${b},${call},${body.length};`;
  bodies += body;
}

export function postLog(level: number, text: string): void {
  if (lines >= limits.logLines) {
    dropped += 1;
    return;
  }
  lines += 1;
  post(MAIL.log, level, 0, turn.call, text.length > LIMITS.log.bytes ? `${sliceText(text, 0, LIMITS.log.bytes)}…` : text);
}

export function hasMail(): boolean {
  return head !== "";
}

/** Grows with every item posted. */
export function mailSize(): number {
  return head.length + bodies.length;
}

let takenHead = "";
let takenBodies = "";

/**
 * Empties the box for a turn that returns its mail. Keeps a copy: isolated-vm withholds what a turn returned if it left
 * a rejected promise.
 */
export function takeMail(): string {
  noteDropped();
  takenHead = head;
  takenBodies = bodies;
  return fetchMail()!;
}

/** Puts back what the last `takeMail` gave. */
export function restoreMail(): void {
  head = takenHead + head;
  bodies = takenBodies + bodies;
}

/** Empties the box. Undefined if it was empty. */
export function fetchMail(): string | undefined {
  noteDropped();
  if (head === "") return undefined;
  const mail = `${head}\n${bodies}`;
  head = "";
  bodies = "";
  return mail;
}

function noteDropped(): void {
  if (dropped > 0) post(MAIL.log, 2, 0, turn.call, `${dropped} more log lines of this turn were dropped; the limit is ${limits.logLines}`);
  dropped = 0;
}
