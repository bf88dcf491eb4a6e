/** Inside the isolate: timers. The lane keeps the clock; a timer that is due comes back as a turn of its own. */
import { MAIL } from "../../../protocol/messages/mail.ts";
import { limits, world } from "../boot/world.ts";
import { beginTurn, post, turn } from "./mailbox.ts";
import {
  call as invoke,
  mapDelete,
  mapEach,
  mapGet,
  mapSet,
  NativeError,
  NativeFloor,
  NativeMap,
  NativeNumber,
  NativeTypeError,
} from "../boot/primordials.ts";

interface Entry {
  run: () => void;
  /** Undefined: it fires once. */
  everyMs: number | undefined;
  /** The call that started it: what the timer does belongs to that call. */
  call: number;
}

const entries = new NativeMap<number, Entry>();
let next = 1;
let pending = 0;
/** The delay of setImmediate. */
const NOW = Symbol("now");

/** What Node's setTimeout returns: has ref/unref and becomes a number where one is wanted. */
class Timeout {
  readonly #id: number;
  constructor(id: number) {
    this.#id = id;
  }
  /** Checks the private field, not the prototype, so that a plugin cannot forge one. */
  static idOf(this: void, timer: unknown): number | undefined {
    return typeof timer === "object" && timer !== null && #id in timer ? timer.#id : undefined;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return false;
  }
  [Symbol.toPrimitive](): number {
    return this.#id;
  }
}

/** Node's own message. */
export function notCallable(got: unknown): Error {
  const message = `The "callback" argument must be of type function. Received ${got === undefined ? "undefined" : `type ${typeof got}`}`;
  const error = new NativeTypeError(message) as TypeError & { code: string };
  error.code = "ERR_INVALID_ARG_TYPE";
  return error;
}

/** Where time stands still, in an author's test, this does not wait for it. */
function soonMs(): number {
  return world.date === undefined ? 1 : 0;
}

function start(fn: unknown, delay: unknown, repeats: boolean, args: unknown[]): Timeout {
  if (typeof fn !== "function") throw notCallable(fn);
  if (pending >= limits.timers) throw new NativeError(`a plugin may have ${limits.timers} timers pending`);
  const wanted = delay === NOW ? 1 : NativeFloor(NativeNumber(delay));
  // Node's own rule: anything outside 1 … 2^31 - 1 means 1.
  const ms = delay === NOW ? soonMs() : wanted >= 1 && wanted <= 2147483647 ? wanted : 1;
  const id = next++;
  pending += 1;
  mapSet(entries, id, {
    run: () => invoke(fn as () => void, undefined, args),
    everyMs: repeats ? ms : undefined,
    call: turn.call,
  });
  post(MAIL.timer, id, ms, turn.call);
  return new Timeout(id);
}

const { idOf } = Timeout;

function stop(timer: unknown): void {
  stopId(idOf(timer) ?? NativeNumber(timer));
}

// SECURITY: also runs on behalf of the lane; no plugin code may. test/escape/prototypes.test.ts
function stopId(id: number): void {
  if (!mapDelete(entries, id)) return;
  pending -= 1;
  post(MAIL.clear, id, 0, turn.call);
}

export const timerGlobals = {
  setTimeout: (fn: unknown, delay?: unknown, ...args: unknown[]): Timeout => start(fn, delay, false, args),
  setInterval: (fn: unknown, delay?: unknown, ...args: unknown[]): Timeout => start(fn, delay, true, args),
  setImmediate: (fn: unknown, ...args: unknown[]): Timeout => start(fn, NOW, false, args),
  clearTimeout: stop,
  clearInterval: stop,
  clearImmediate: stop,
};

/** Runs a function of the bootstrap in a turn of its own, for a call that may be over. */
// SECURITY: also runs on behalf of the lane; no plugin code may. test/escape/prototypes.test.ts
export function soon(call: number, run: () => void): void {
  const id = next++;
  pending += 1;
  mapSet(entries, id, { run, everyMs: undefined, call });
  post(MAIL.timer, id, soonMs(), call);
}

/** The lane says that a timer is due. */
export function fire(id: number): void {
  const entry = mapGet(entries, id);
  if (!entry) return;
  beginTurn(entry.call);
  if (entry.everyMs === undefined) {
    mapDelete(entries, id);
    pending -= 1;
  } else {
    post(MAIL.timer, id, entry.everyMs, entry.call);
  }
  entry.run();
  if (turn.drainTicks !== undefined) turn.drainTicks();
}

/** A call ran out of time: its timers are dropped. */
export function dropTimersOf(call: number): void {
  mapEach(entries, (entry, id) => {
    if (entry.call === call) stopId(id);
  });
}
