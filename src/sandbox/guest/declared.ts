/** Inside the isolate: what the plugin has declared while it registers, and the functions behind it. */
import { seenArguments } from "./arity.ts";
import { bare, isThenable, NativeError, parse, stringify } from "./primordials.ts";
import { settled } from "./abortable.ts";
import type { FunctionKind } from "../../protocol/functions.ts";

export type Handler = (event: unknown, context: unknown) => unknown;

export interface Declared {
  /** A hook, or the kind of a function. */
  hook: string;
  options: unknown;
  sees: number;
  function?: { name: string; about: unknown };
}

/** The plugin's handlers and functions; the position is the number the host knows one by. */
export const handlers: Handler[] = [];
/** By the same position: how many of its arguments it can see. */
export const seen: number[] = [];
export const declared: Declared[] = [];
let open = true;

export function endRegistration(): void {
  open = false;
}

export function isRegistering(): boolean {
  return open;
}

/** `what` is said to the author when it comes too late. */
export function declareHandler(hook: string, handler: Handler, options: unknown, what: string): void {
  if (!open) throw new NativeError(`${what} was called after register had returned`);
  const sees = seenArguments(handler);
  declared[declared.length] = bare({ hook, options: options ?? bare({}), sees });
  seen[handlers.length] = sees;
  handlers[handlers.length] = handler;
}

/**
 * A function that the host may call by its kind and name, with arguments that are data, and with what the host says about the call.
 * `about` is what the host is told about it; its schema is in protocol/functions.ts.
 */
export function declareFunction(
  kind: FunctionKind,
  name: string,
  about: object,
  fn: (args: unknown[], context: Record<string, unknown>) => unknown,
  options?: unknown,
): void {
  const plain = parse(stringify(about) ?? "{}") as object;
  declareHandler(
    kind,
    (event, context) => answer(fn((event as { args: unknown[] }).args, context as Record<string, unknown>)),
    options,
    `declaring the ${kind} "${name}"`,
  );
  declared[declared.length - 1]!.function = bare({ name, about: plain });
}

/** A result may be anything, and the answer to a run is an object. */
function answer(value: unknown): unknown {
  if (!isThenable(value)) return bare({ value });
  return settled(value, (result) => bare({ value: result }));
}
