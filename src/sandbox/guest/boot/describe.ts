/**
 * Inside the isolate: turns anything that a plugin threw into text, under the turn's timeout. isolated-vm would read a
 * thrown value's getters outside of the timeout, so nothing thrown leaves a cell as a value.
 */
import { LIMITS } from "../../../protocol/limits.ts";
import { bare, NativeError, NativeString, sliceText, stringify } from "./primordials.ts";

/** Codes of protocol/errors.ts that errors of the bootstrap itself carry. A plugin cannot make such an error. */
const codes = new WeakMap<object, string>();
const codesGet = codes.get.bind(codes);
const codesSet = codes.set.bind(codes);

export function bootstrapError(code: string, message: string): Error {
  const error = new NativeError(message);
  codesSet(error, code);
  return error;
}

export function codeOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null ? codesGet(error) : undefined;
}

/** Error JSON, see `errorText` in protocol/messages/host-lane.ts. */
export function describeError(thrown: unknown, code?: string): string {
  const text = bare<Record<string, string>>({});
  if (code !== undefined) text.code = code;
  if (typeof thrown === "object" && thrown !== null) {
    const name = read(thrown, "name");
    const message = read(thrown, "message");
    const stack = read(thrown, "stack");
    if (name !== undefined) text.name = sliceText(name, 0, 64);
    text.message = sliceText(message ?? asJson(thrown), 0, LIMITS.call.errorMessageChars);
    if (stack !== undefined) text.stack = sliceText(stack, 0, LIMITS.call.errorStackChars);
  } else {
    text.message = sliceText(typeof thrown === "function" ? "a function" : NativeString(thrown), 0, LIMITS.call.errorMessageChars);
  }
  return stringify(text);
}

function read(from: object, key: string): string | undefined {
  try {
    const value: unknown = (from as Record<string, unknown>)[key];
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

function asJson(value: object): string {
  try {
    const text: unknown = stringify(value);
    return typeof text === "string" ? text : "an object";
  } catch {
    return "an object";
  }
}

/** One argument of console.log or api.logger as text. */
export function show(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null) {
    const stack = read(value, "stack");
    if (stack !== undefined) return stack;
    const message = read(value, "message");
    return message ?? asJson(value);
  }
  if (typeof value === "function") return "[function]";
  return NativeString(value);
}
