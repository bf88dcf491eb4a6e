/**
 * Inside the isolate: what leaves it. Mail waits here until the lane fetches it after the turn; its format is in
 * protocol/messages/mail.ts. What a handler returned becomes a result's JSON, an error's JSON, or one of RETURNED. The
 * lane checks it again; here it is bounded so that a plugin learns of its mistake.
 */
import { LIMITS } from "../../../protocol/limits.ts";
import { ERROR_MARK, MAIL, RETURNED } from "../../../protocol/messages/mail.ts";
import { bootstrapError, codeOf, describeError } from "../boot/describe.ts";
import { call, isThenable, NativeError, NativePromise, promiseThen, sliceText, stringify } from "../boot/primordials.ts";
import { limits } from "../boot/world.ts";
import { keep } from "./handles.ts";

/**
 * The current turn. Everything up to the end of its microtasks belongs to `call`. `drainTicks` is set while callbacks
 * of `process.nextTick` wait (node/next-tick.ts): they run when the turn's own code has returned, before its promises.
 */
export const turn: { call: number; drainTicks: (() => void) | undefined } = { call: 0, drainTicks: undefined };

/** Starts a turn of that call, with a new quota of log lines. */
export function beginTurn(callId: number): void {
  turn.call = callId;
  lines = 0;
}

let head = "";
let bodies = "";
let lines = 0;
let dropped = 0;

// SECURITY: only strings and numbers are concatenated here, so no plugin code can run. test/escape/prototypes.test.ts
export function post(kind: string, a: number, b: number, callId: number, body = ""): void {
  head += `${kind}${a},${b},${callId},${body.length};`;
  bodies += body;
}

/** Set while a command line runs, whose lines are its output (sdk/cli.ts). False: the line is for the log. */
export const output: { take: ((level: number, text: string) => boolean) | undefined } = { take: undefined };

export function postLog(level: number, text: string): void {
  if (output.take !== undefined && output.take(level, text)) return;
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

/** One of RETURNED, a result's JSON, or ERROR_MARK and an error's JSON. */
export type Returned = string | number;

export function failure(error: unknown): Returned {
  return ERROR_MARK + describeError(error, codeOf(error));
}

/** The answer itself if the value is no promise. Otherwise `pending`, and the answer follows by mail. */
export function settle(value: unknown, number: number, toText: (value: unknown) => Returned): Returned {
  if (!isThenable(value)) return toText(value);
  const promise = value instanceof NativePromise ? value : new NativePromise((resolve) => resolve(value));
  void call(promiseThen, promise, [
    (settled: unknown) => {
      let answer: Returned;
      try {
        answer = toText(settled);
      } catch (error) {
        answer = failure(error);
      }
      postReturned(number, answer);
    },
    (error: unknown) => postReturned(number, failure(error)),
  ]);
  return RETURNED.pending;
}

export function postReturned(number: number, answer: Returned): void {
  if (answer === RETURNED.pending) return;
  if (typeof answer === "number") post(MAIL.nothing, 0, 0, number);
  else if (answer[0] === ERROR_MARK) post(MAIL.error, 0, 0, number, answer);
  else post(MAIL.result, 0, 0, number, answer);
}

/** For handlers whose result the host does not read. It need not even be data. */
export function noResult(): Returned {
  return RETURNED.nothing;
}

export function resultText(value: unknown): Returned {
  if (value === undefined) return RETURNED.nothing;
  let json: unknown;
  try {
    json = stringify(withHandles(value));
  } catch (error) {
    throw bootstrapError("ERR_CALL_RESULT_JSON", error instanceof NativeError ? error.message : "it has a hostile toJSON");
  }
  if (typeof json !== "string") throw bootstrapError("ERR_CALL_RESULT_JSON", `a ${typeof value} is not data`);
  if (json.length > limits.bytesOut)
    throw bootstrapError(
      "ERR_CALL_RESULT_SIZE",
      `the handler's result has ${json.length} characters, the limit is ${limits.bytesOut} bytes`,
    );
  return json;
}

/**
 * A result may hold a function in one place, an approval's `onResolution`. The function stays in the cell; the host
 * gets a handle.
 */
function withHandles(value: unknown): unknown {
  const request = (value as { requireApproval?: { onResolution?: unknown } } | null)?.requireApproval;
  if (typeof request !== "object" || request === null || typeof request.onResolution !== "function") return value;
  return { ...(value as object), requireApproval: { ...request, onResolution: keep(request.onResolution as (value: unknown) => unknown) } };
}
