/**
 * What crosses between a lane and the guest bootstrap inside a cell. The lane calls in; the guest never calls out,
 * because no function of the host exists inside a cell. What a plugin wants from outside (an answer to a call, a log
 * line, a timer) it leaves in its mailbox, which the lane empties after the turn. Mail is one text: `kind
 * a,b,call,length;` for each item, a newline, then the bodies. `call` is the call in whose turn the item was left, 0
 * for the load. It is built from numbers and strings only, so that nothing a plugin did to prototypes (a `toJSON`, a
 * setter) can run while it is built or read.
 */

import { NumberReader } from "./number-reader.ts";

/**
 * The lane's entries into a cell beside calls and mail: the first argument of `enter`.
 * src/sandbox/guest/boot/entries.ts lists them in this order.
 */
export const ENTRY = { load: 0, dispatchSync: 1, invoke: 2, tick: 3, response: 4, abandon: 5, drainMail: 6 } as const;

/**
 * What entering a cell returns at once. A text that starts with "!" is an error, any other is the result's JSON. A
 * space before it says that there is mail already; `nothingButMail` says so where there is no result.
 */
export const RETURNED = { nothing: 0, pending: 1, nothingButMail: 2 } as const;
export const MAIL_MARK = " ";
export const ERROR_MARK = "!";

/**
 * A call's number says which run and which handler it belongs to, since a run calls a handler once. The slot after the
 * last handler is for functions that a plugin handed out. 0 is the load itself.
 */
const SLOTS = 1024;
export const INVOKED = SLOTS - 1;
export const callNumber = (cause: number, handler: number): number => cause * SLOTS + handler;
export const causeOf = (call: number): number => (call - (call % SLOTS)) / SLOTS;
export const handlerOf = (call: number): number => call % SLOTS;

/** Mail names a level by its position here. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

export const MAIL = {
  /** body = result JSON */
  result: "r",
  nothing: "v",
  /** body = error JSON */
  error: "e",
  /** a = index in LOG_LEVELS; body = text */
  log: "l",
  /** a = timer, b = delay in ms */
  timer: "t",
  /** a = timer */
  clear: "c",
  /** a = request; body = service, newline, arguments as JSON */
  request: "q",
} as const;

export interface MailItem {
  kind: string;
  a: number;
  b: number;
  call: number;
  body: string;
}

/** Throws a SyntaxError on anything that is not mail: the text comes from inside a cell. */
export function readMail(text: string): MailItem[] {
  try {
    return readItems(text);
  } catch {
    throw new SyntaxError("not mail");
  }
}

function readItems(text: string): MailItem[] {
  const items: MailItem[] = [];
  const end = text.indexOf("\n");
  const numbers = new NumberReader(text, 0);
  let from = end + 1;
  while (numbers.at < end) {
    const kind = text[numbers.at++]!;
    const [a, b, call] = [numbers.upTo(","), numbers.upTo(","), numbers.upTo(",")];
    const to = from + numbers.upTo(";");
    items.push({ kind, a, b, call, body: text.slice(from, to) });
    from = to;
  }
  if (end < 0 || from !== text.length) throw new RangeError("sizes that do not add up");
  return items;
}
