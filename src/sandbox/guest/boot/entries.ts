/**
 * Inside the isolate: the entries by which the lane calls into the cell. Each call is one turn: the plugin's code runs,
 * and what it returned comes back at once or later by mail.
 */
import { handlers } from "../api/declared.ts";
import { abortCall } from "../turn/abortable.ts";
import { take } from "../turn/handles.ts";
import { endInvocation } from "../turn/invocation.ts";
import { beginTurn, failure, fetchMail, hasMail, noResult, postReturned, resultText, settle, turn as current } from "../turn/mailbox.ts";
import type { Returned } from "../turn/mailbox.ts";
import { dropRequestsOf, responded } from "../turn/requests.ts";
import { dropTimersOf, fire } from "../turn/timers.ts";
import type { GuestFacts } from "../../../protocol/guest-surface/world.ts";
import { ERROR_MARK, handlerOf, MAIL_MARK, RETURNED } from "../../../protocol/messages/mail.ts";
import { bootstrapError, describeError } from "./describe.ts";
import { restoreWasm } from "./globals.ts";
import { part, setLibraryText } from "./library.ts";
import { register } from "./load.ts";
import type { Factory } from "./load.ts";
import { bare, call, isThenable, NativePromise, parse, promiseThen, stringify } from "./primordials.ts";
import { mounts, setLimits, setWorld, world } from "./world.ts";

/** What the last turn returned: isolated-vm withholds it when the turn also left a rejected promise behind. */
let returned: Returned | undefined;

/** Call number 0 is the load itself. `seed`, `now` and `date` are as in world.ts. */
function load(
  factory: Factory,
  factsText: string,
  limitsText: string,
  seed: string,
  library: string,
  files: string | undefined,
  volume: string | undefined,
  now?: () => number,
  date?: () => number,
): Returned {
  setLimits(limitsText);
  setLibraryText(library);
  mounts.files = files;
  mounts.volume = volume;
  const facts = parse(factsText) as GuestFacts;
  setWorld(facts.world, seed, now, date);
  if (date) (part("boot/manual-date") as { installDate(now: () => number): void }).installDate(date);
  if (world.wasm) restoreWasm();
  return turn(0, () => register(factory, facts.api));
}

/** The hot path: no closure, and as few arguments as possible, since each is copied into the isolate. */
export function dispatch(number: number, eventText: string, contextText: string): Returned {
  const answer = answerTo(number, eventText, contextText);
  return hasMail() ? marked(answer) : answer;
}

function answerTo(number: number, eventText: string, contextText: string): Returned {
  returned = undefined;
  beginTurn(number);
  try {
    returned = settle(callHandler(handlerOf(number), eventText, contextText), number, resultText);
    if (current.drainTicks !== undefined) current.drainTicks();
  } catch (error) {
    returned = failure(error);
  }
  return returned;
}

/** As dispatch, for a handler whose result the host does not read. */
export function observe(number: number, eventText: string, contextText: string): Returned {
  return turn(number, () => settle(callHandler(handlerOf(number), eventText, contextText), number, noResult));
}

function callHandler(at: number, eventText: string, contextText: string): unknown {
  // SECURITY: called on its own, not as a member: `this` must not be the list of handlers. test/escape/prototypes.test.ts
  const handler = handlers[at]!;
  return handler(parse(eventText), parse(contextText));
}

function marked(answer: Returned): Returned {
  if (typeof answer === "string") return MAIL_MARK + answer;
  return answer === RETURNED.nothing ? RETURNED.nothingButMail : answer;
}

/**
 * For hooks whose gateway cannot wait. `echo` names the event field that counts as the result when the handler changed
 * it in place.
 */
function dispatchSync(number: number, eventText: string, contextText: string, echo?: string): Returned {
  return turn(number, () => {
    const event = parse(eventText) as Record<string, unknown>;
    const value = call(handlers[handlerOf(number)]!, undefined, [event, parse(contextText)]);
    if (isThenable(value)) {
      if (value instanceof NativePromise) void call(promiseThen, value, [undefined, () => {}]);
      throw bootstrapError("ERR_CALL_ASYNC", "the handler returned a promise on a synchronous hook; it was ignored");
    }
    if (value === undefined && echo !== undefined && stringify(event) !== eventText) return resultText(bare({ [echo]: event[echo] }));
    return resultText(value);
  });
}

/** Calls a function that the plugin handed out. */
function invoke(number: number, handle: number, argument: string): Returned {
  return turn(number, () => settle(kept(handle)(parse(argument)), number, resultText));
}

function kept(handle: number): (value: unknown) => unknown {
  const fn = take(handle);
  if (!fn) throw bootstrapError("ERR_CALL_REPLACED", "the function is gone: the plugin's cell was replaced meanwhile");
  return fn;
}

/** A timer is due. What it does belongs to the call that started it. */
function tick(timer: number): Returned {
  returned = undefined;
  try {
    fire(timer);
    return RETURNED.nothing;
  } catch (error) {
    return ERROR_MARK + describeError(error);
  }
}

/** The host has answered a request. What follows belongs to the call that made it. */
function respond(request: number, isOk: boolean, response: string): Returned {
  returned = undefined;
  try {
    responded(request, isOk, response);
    return RETURNED.nothing;
  } catch (error) {
    return ERROR_MARK + describeError(error);
  }
}

/** The lane gave up on a call. */
function abandon(number: number): void {
  dropTimersOf(number);
  dropRequestsOf(number);
  endInvocation(number);
  abortCall(number);
}

export function mail(): string | undefined {
  return fetchMail();
}

/** After a turn that isolated-vm reported as failed although its code had returned. */
function drainMail(): string | undefined {
  if (returned !== undefined) postReturned(current.call, returned);
  returned = undefined;
  return fetchMail();
}

/**
 * Every entry that is not used with each call: an entry that the lane takes by reference costs a cell 5 to 8 µs of its
 * start.
 */
export function enter(entry: number, ...args: never[]): Returned | undefined {
  return call(RARE[entry] as () => Returned | undefined, undefined, args);
}

/** By ENTRY, in its order. */
const RARE: readonly unknown[] = [load, dispatchSync, invoke, tick, respond, abandon, drainMail];

function turn(number: number, body: () => Returned): Returned {
  returned = undefined;
  beginTurn(number);
  try {
    returned = body();
    if (current.drainTicks !== undefined) current.drainTicks();
  } catch (error) {
    returned = failure(error);
  }
  return hasMail() ? marked(returned) : returned;
}
