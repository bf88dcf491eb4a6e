/** Inside the isolate: what the plugin declares while it registers, and the functions behind it. */
import { bare, isThenable, NativeError, parse, stringify } from "../boot/primordials.ts";
import { settled } from "../turn/abortable.ts";
import type { FunctionKind } from "../../../protocol/messages/function-kinds.ts";

export type Handler = (event: unknown, context: unknown) => unknown;

export interface Declared {
  /** A hook, or the kind of a function. */
  hook: string;
  options: unknown;
  function?: { name: string; about: unknown };
}

/** The plugin's handlers and functions. The host knows each by its position here. */
export const handlers: Handler[] = [];
export const declared: Declared[] = [];
let open = true;

export function endRegistration(): void {
  open = false;
}

export function isRegistering(): boolean {
  return open;
}

/** `what` names the caller in the message to an author who calls it too late. */
export function declareHandler(hook: string, handler: Handler, options: unknown, what: string): void {
  if (!open) throw new NativeError(`${what} was called after register had returned`);
  declared[declared.length] = bare({ hook, options: options ?? bare({}) });
  handlers[handlers.length] = handler;
}

/**
 * Declares a function that the host may call by its kind and name. The host passes arguments that are data, and facts
 * about the call. `about` describes the function to the host; its schema is in protocol/messages/functions.ts.
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

/** A function may return anything, but the answer to a run must be an object. */
function answer(value: unknown): unknown {
  if (!isThenable(value)) return bare({ value });
  return settled(value, (result) => bare({ value: result }));
}
