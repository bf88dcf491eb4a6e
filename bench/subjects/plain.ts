/** A handler in the caller's own realm: nothing between it and the gateway. */
import { runInThisContext } from "node:vm";

export type Handler = (event: object, context: object) => unknown;

export function plain(handler: string): Handler {
  return runInThisContext(`(${handler})`) as Handler;
}
