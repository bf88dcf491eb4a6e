/** Trusted side, in tools of authors: the context of a run that was given none: taken from the event, or else the smallest valid one. */
import { prepare } from "./prepare.ts";
import type { AnyHook } from "../../protocol/catalog.ts";
import { CreelError } from "../../protocol/errors.ts";
import { sampleContext } from "../../protocol/rules/samples.ts";

/** Undefined: the host takes it from the event. Throws a CreelError when the event is not valid. */
export function contextFor(hook: AnyHook, event: Readonly<Record<string, unknown>>, text?: string): Record<string, unknown> | undefined {
  try {
    prepare(hook, event, undefined);
    return undefined;
  } catch (error) {
    if (error instanceof CreelError && error.code === "ERR_CONTEXT_INVALID") return sampleContext(hook, text);
    throw error;
  }
}
