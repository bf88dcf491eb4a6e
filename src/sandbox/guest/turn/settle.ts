/**
 * Inside the isolate: from what a handler returned to what the lane gets: a result's JSON, an error's JSON, or one of
 * RETURNED. The lane checks it again; here it is bounded so that a plugin learns of its mistake.
 */
import { bootstrapError, codeOf, describeError } from "../boot/describe.ts";
import { call, isThenable, NativeError, NativePromise, promiseThen, stringify } from "../boot/primordials.ts";
import { limits } from "../boot/world.ts";
import { ERROR_MARK, MAIL, RETURNED } from "../../../protocol/messages/mail.ts";
import { keep } from "./handles.ts";
import { post } from "./mailbox.ts";

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
