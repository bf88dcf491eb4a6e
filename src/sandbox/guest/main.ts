/**
 * Inside the isolate: the bootstrap. Untrusted side, and on the plugin's own heap: it keeps the plugin's handlers, turns
 * values into text and back, and leaves mail. It protects a plugin from surprises, not the host from the plugin: the lane
 * and the host check everything that comes out of here.
 */
import { LIMITS } from "../../protocol/limits.ts";
import { fixBuffers } from "./buffers.ts";
import { limits, setLimits } from "./limits.ts";
import { ERROR_MARK, handlerOf, MAIL, MAIL_MARK, RETURNED } from "../../protocol/mail.ts";
import { createApi } from "./api.ts";
import { abortCall } from "./abortable.ts";
import { answered, dropQuestionsOf } from "./asks.ts";
import { declared, endRegistration, handlers, seen } from "./declared.ts";
import { describeError } from "./describe.ts";
import { keep, take } from "./handles.ts";
import { given } from "./given.ts";
import { endInvocation } from "./invocation.ts";
import { moduleNamed, openLibrary, part } from "./library.ts";
import { touched } from "./members.ts";
import type { LoadChunk } from "./library.ts";
import { coded, codeOf } from "./own-errors.ts";
import { beginTurn, fetchMail, hasMail, mailSize, post, sayAgain, sayMail, turn as current } from "./mailbox.ts";
import { bare, call, currentMs, isThenable, NativeError, NativePromise, parse, promiseThen, stringify } from "./primordials.ts";
import { dropTimersOf, fire, notCallable, timerGlobals } from "./timers.ts";
import { ticks } from "./ticks.ts";
import { setWorld, world } from "./world.ts";
import type { GuestFacts } from "../../protocol/guest-world.ts";

/** Entry points return one of RETURNED, a result's JSON, or ERROR_MARK and an error's JSON. */
type Returned = string | number;

/** What the last turn returned: isolated-vm withholds it when the turn also left a rejected promise behind. */
let returned: Returned | undefined;

/** Call number 0 is the load itself. `seed` is as in world.ts; `now` is an exact clock, for plugins that were granted one. */
function load(
  factory: (exports: object, module: { exports: unknown }, require: (name: string) => unknown) => void,
  factsText: string,
  limitsText: string,
  seed: string,
  library: string,
  files: string | undefined,
  volume: string | undefined,
  now?: () => number,
): Returned {
  setLimits(limitsText);
  setLibrary(library);
  given.files = files;
  given.volume = volume;
  const facts = parse(factsText) as GuestFacts;
  setWorld(facts.world, seed, now);
  if (world.wasm) restoreWasm();
  return turn(0, () => {
    const module = { exports: {} as unknown };
    factory(module.exports as object, module, requireModule);
    const exported = module.exports as { default?: unknown };
    const plugin = (exported.default ?? exported) as {
      register?: unknown;
      activate?: unknown;
      id?: unknown;
      name?: unknown;
      version?: unknown;
    };
    const register = typeof plugin === "function" ? plugin : (plugin.register ?? plugin.activate);
    if (typeof register !== "function") {
      throw coded(
        "ERR_PLUGIN_EXPORT",
        `the plugin's default export is ${register === undefined ? "neither a function nor an object with register" : `an object whose register is a ${typeof register}`}`,
      );
    }
    const api = createApi(facts.api);
    return settle(call(register as () => unknown, typeof plugin === "function" ? undefined : plugin, [api]), 0, () => {
      endRegistration();
      const named: { id?: unknown; name?: unknown; version?: unknown } = typeof plugin === "function" ? bare({}) : plugin;
      return stringify(bare({ id: text(named.id), name: text(named.name), version: text(named.version), handlers: declared, touched }));
    });
  });
}

/** What a bundle imports that was not bundled into it. */
function requireModule(name: string): unknown {
  const found = moduleNamed(name);
  if (!found) throw coded("ERR_PLUGIN_MODULE", (part("node/absent") as { absentSentence(name: string): string }).absentSentence(name));
  return found.exports;
}

/** The hot path: no closure, and as few arguments as possible, since each is copied into the isolate. */
function dispatch(number: number, eventText: string, contextText: string): Returned {
  const answer = answerTo(number, eventText, contextText);
  return hasMail() ? marked(answer) : answer;
}

function answerTo(number: number, eventText: string, contextText: string): Returned {
  returned = undefined;
  beginTurn(number);
  try {
    returned = settle(callHandler(handlerOf(number), eventText, contextText), number, resultText);
    if (ticks.drain !== undefined) ticks.drain();
  } catch (error) {
    returned = ERROR_MARK + describeError(error, codeOf(error));
  }
  return returned;
}

/** How many of the calls of a shared turn were begun, while it lasts. */
let begun = 0;

/**
 * Several calls in one turn: their numbers, events and contexts. Their answers are mail. It ends early behind a call that is not plain, since what that has set going
 * (its promises, when the turn is over) would count as a later one's; and when the clock has ticked, so that only the last of them can have taken long.
 */
function together(...calls: (number | string)[]): string {
  const startedMs = currentMs();
  begun = 0;
  for (let at = 0, isPlain = true; at < calls.length && isPlain; at += 3) {
    const number = calls[at] as number;
    const mailed = mailSize();
    begun += 1;
    const answer = answerTo(number, calls[at + 1] as string, calls[at + 2] as string);
    isPlain = answer !== RETURNED.pending && mailSize() === mailed && mailed < LIMITS.togetherBytes && currentMs() === startedMs;
    postReturned(number, answer);
    returned = undefined;
  }
  post(MAIL.begun, begun, 0, 0);
  begun = 0;
  return sayMail();
}

function marked(answer: Returned): Returned {
  if (typeof answer === "string") return MAIL_MARK + answer;
  return answer === RETURNED.nothing ? RETURNED.nothingButMail : answer;
}

/** As dispatch, for a handler whose result nobody reads: it need not even be data. */
function observe(number: number, eventText: string, contextText: string): Returned {
  return turn(number, () => settle(callHandler(handlerOf(number), eventText, contextText), number, noResult));
}

/** What it cannot see is not parsed. */
function callHandler(at: number, eventText: string, contextText: string): unknown {
  const handler = handlers[at]!;
  const sees = seen[at]!;
  return handler(sees > 0 ? parse(eventText) : undefined, sees > 1 ? parse(contextText) : undefined);
}

function noResult(): Returned {
  return RETURNED.nothing;
}

/** For hooks whose gateway cannot wait. `echo` is the event field that counts as the result when it was changed in place. */
function dispatchSync(number: number, eventText: string, contextText: string, echo?: string): Returned {
  return turn(number, () => {
    const event = parse(eventText) as Record<string, unknown>;
    const value = call(handlers[handlerOf(number)]!, undefined, [event, parse(contextText)]);
    if (isThenable(value)) {
      if (value instanceof NativePromise) void call(promiseThen, value, [undefined, () => {}]);
      throw coded("ERR_CALL_ASYNC", "the handler returned a promise on a synchronous hook; it was ignored");
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
  if (!fn) throw coded("ERR_CALL_REPLACED", "the function is gone: the plugin's cell was replaced meanwhile");
  return fn;
}

/** A timer is due. */
function tick(timer: number): Returned {
  returned = undefined;
  try {
    fire(timer);
    return RETURNED.nothing;
  } catch (error) {
    return ERROR_MARK + describeError(error);
  }
}

/** The host has answered a question. */
function tell(question: number, isOk: boolean, answer: string): Returned {
  returned = undefined;
  try {
    answered(question, isOk, answer);
    return RETURNED.nothing;
  } catch (error) {
    return ERROR_MARK + describeError(error);
  }
}

/** The lane gave up on a call. */
function abandon(number: number): void {
  dropTimersOf(number);
  dropQuestionsOf(number);
  endInvocation(number);
  abortCall(number);
}

function mail(): string | undefined {
  return fetchMail();
}

/** After a turn that isolated-vm reported as failed although its code had returned, and after a shared one that was stopped. */
function lastWords(isShared?: boolean): string | undefined {
  if (returned !== undefined) postReturned(current.call, returned);
  returned = undefined;
  if (isShared) {
    if (begun === 0) sayAgain();
    else post(MAIL.begun, begun, 0, 0);
  }
  begun = 0;
  return fetchMail();
}

/** All that is not asked for with every call: an entry that the lane takes by reference costs a cell 5 to 8 µs of its start. */
function enter(entry: number, ...args: never[]): Returned | undefined {
  return call(RARE[entry] as () => Returned | undefined, undefined, args);
}

/** By ENTRY, in its order. */
const RARE: readonly unknown[] = [load, dispatchSync, invoke, tick, tell, abandon, lastWords, together];

function turn(number: number, body: () => Returned): Returned {
  returned = undefined;
  beginTurn(number);
  try {
    returned = body();
    if (ticks.drain !== undefined) ticks.drain();
  } catch (error) {
    returned = ERROR_MARK + describeError(error, codeOf(error));
  }
  return hasMail() ? marked(returned) : returned;
}

/** The value itself if it is there, else pending, and the answer follows by mail. */
function settle(value: unknown, number: number, toText: (value: unknown) => Returned): Returned {
  if (!isThenable(value)) return toText(value);
  const promise = value instanceof NativePromise ? value : new NativePromise((resolve) => resolve(value));
  void call(promiseThen, promise, [
    (settled: unknown) => {
      let answer: Returned;
      try {
        answer = toText(settled);
      } catch (error) {
        answer = ERROR_MARK + describeError(error, codeOf(error));
      }
      postReturned(number, answer);
    },
    (error: unknown) => postReturned(number, ERROR_MARK + describeError(error, codeOf(error))),
  ]);
  return RETURNED.pending;
}

function postReturned(number: number, answer: Returned): void {
  if (answer === RETURNED.pending) return;
  if (typeof answer === "number") post(MAIL.nothing, 0, 0, number);
  else if (answer[0] === ERROR_MARK) post(MAIL.error, 0, 0, number, answer);
  else post(MAIL.result, 0, 0, number, answer);
}

function resultText(value: unknown): Returned {
  if (value === undefined) return RETURNED.nothing;
  let json: unknown;
  try {
    json = stringify(withHandles(value));
  } catch (error) {
    throw coded("ERR_CALL_RESULT_JSON", error instanceof NativeError ? error.message : "it has a hostile toJSON");
  }
  if (typeof json !== "string") throw coded("ERR_CALL_RESULT_JSON", `a ${typeof value} is not data`);
  if (json.length > limits.bytesOut) throw coded("ERR_CALL_RESULT_SIZE", `${json.length} characters`);
  return json;
}

/** The one place where a result may hold a function: it is kept here and a number sent. */
function withHandles(value: unknown): unknown {
  const request = (value as { requireApproval?: { onResolution?: unknown } } | null)?.requireApproval;
  if (typeof request !== "object" || request === null || typeof request.onResolution !== "function") return value;
  return { ...(value as object), requireApproval: { ...request, onResolution: keep(request.onResolution as (value: unknown) => unknown) } };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

const wasm = Reflect.get(globalThis, "WebAssembly") as unknown;

/** The operator granted it. */
function restoreWasm(): void {
  Object.defineProperty(globalThis, "WebAssembly", { value: wasm, writable: true, configurable: true, enumerable: false });
}

function install(): void {
  const globals: Record<string, unknown> = {
    ...timerGlobals,
    queueMicrotask: (fn: unknown) => {
      if (typeof fn !== "function") throw notCallable(fn);
      void call(promiseThen, NativePromise.resolve(), [() => call(fn as () => void, undefined, [])]);
    },
  };
  for (const name of Object.keys(globals))
    Object.defineProperty(globalThis, name, { value: globals[name], writable: true, configurable: true, enumerable: false });
  // SECURITY: shared memory gives threads and clocks, WebAssembly memory that the heap limit does not count. test/escape/globals.test.ts
  for (const name of ["gc", "WebAssembly", "SharedArrayBuffer", "Atomics", "WeakRef", "FinalizationRegistry"])
    // `gc` cannot be deleted when the gateway runs with --expose-gc, but it can be replaced.
    if (!Reflect.deleteProperty(globalThis, name)) (globalThis as Record<string, unknown>)[name] = undefined;
  fixBuffers();
}

let setLibrary: (text: string) => void;

/** Our own loader of chunks, and who gives it their texts, come from the script around this one (host/bundler-join.ts). */
export default function start(loadChunk: LoadChunk, giveLibrary: (text: string) => void): object {
  setLibrary = giveLibrary;
  install();
  openLibrary(loadChunk);
  // The lane takes these four by reference; they are reachable from nowhere else.
  return bare({ dispatch, observe, mail, enter });
}
