/** Trusted side: checks what the gateway hands over and writes it as JSON, once per run. The only mistakes `run` rejects for. */
import type { AnyHook } from "../../protocol/catalog.ts";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Fields } from "../../protocol/merge.ts";
import { firstIssue } from "../issues.ts";

export interface Prepared {
  readonly event: Fields;
  readonly eventText: string;
  readonly contextText: string;
}

export function prepare(hook: AnyHook, event: unknown, context: unknown): Prepared {
  const checked = hook.event.safeParse(event);
  if (!checked.success) throw new CreelError("ERR_EVENT_INVALID", { hook: hook.name, ...firstIssue(checked.error) });
  let contextText = "{}";
  if (context !== undefined) {
    const checkedContext = hook.context.safeParse(context);
    if (!checkedContext.success) throw new CreelError("ERR_CONTEXT_INVALID", { hook: hook.name, ...firstIssue(checkedContext.error) });
    contextText = toJson(hook, context);
  }
  const eventText = toJson(hook, event);
  const bytes = byteLength(eventText) + byteLength(contextText);
  if (bytes > LIMITS.eventBytes) throw new CreelError("ERR_EVENT_SIZE", { hook: hook.name, bytes, limit: LIMITS.eventBytes });
  return { event: event as Fields, eventText, contextText };
}

/** Counting is only worth it near the limit: a character takes at most three bytes. */
function byteLength(text: string): number {
  return text.length * 3 < LIMITS.eventBytes / 2 ? text.length : Buffer.byteLength(text);
}

function toJson(hook: AnyHook, value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new CreelError("ERR_EVENT_NOT_JSON", { hook: hook.name, detail: (error as Error).message });
  }
}
