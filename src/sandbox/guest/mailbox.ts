/** Inside the isolate: what the plugin leaves for the lane to fetch after the turn. Format in protocol/mail.ts. */
import { LIMITS } from "../../protocol/limits.ts";
import { MAIL } from "../../protocol/mail.ts";
import { limits } from "./limits.ts";
import { sliceText } from "./primordials.ts";

/** The call that the current turn belongs to. Everything up to the end of its microtasks is its doing. */
export const turn = { call: 0 };

/** A turn begins: from here on everything is that call's doing, and it has its own allowance of log lines. */
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
  post(MAIL.log, level, 0, turn.call, text.length > LIMITS.logBytes ? `${sliceText(text, 0, LIMITS.logBytes)}…` : text);
}

export function hasMail(): boolean {
  return head !== "";
}

/** Grows with everything that is posted. */
export function mailSize(): number {
  return head.length + bodies.length;
}

let saidHead = "";
let saidBodies = "";

/** Empties the box, for a turn that returns what was in it: isolated-vm withholds that when the turn also left a rejected promise behind. */
export function sayMail(): string {
  noteDropped();
  saidHead = head;
  saidBodies = bodies;
  return fetchMail()!;
}

/** Puts back what the last `sayMail` gave. */
export function sayAgain(): void {
  head = saidHead + head;
  bodies = saidBodies + bodies;
}

/** Empties the box. Undefined when there is nothing in it. */
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
