/** Inside the isolate: errors of the bootstrap itself, which carry a code of protocol/errors.ts. A plugin cannot make one. */
import { NativeError } from "./primordials.ts";

const codes = new WeakMap<object, string>();
const codesGet = codes.get.bind(codes);
const codesSet = codes.set.bind(codes);

export function coded(code: string, message: string): Error {
  const error = new NativeError(message);
  codesSet(error, code);
  return error;
}

export function codeOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null ? codesGet(error) : undefined;
}
