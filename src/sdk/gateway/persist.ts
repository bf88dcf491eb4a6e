/**
 * Trusted side: what a gateway does with a tool result's `details` when it keeps a message. `details` are for screens and plugins,
 * not for the model: they are stripped before a provider or a compaction sees them, and bounded before they are written, after
 * the plugins had their say, so that no plugin can make a transcript grow without limit.
 */
import type { Catalog, ContextOf, EventOf } from "../../protocol/catalog.ts";
import type { Outcome } from "../../protocol/outcome.ts";

/** A message of a transcript; its fields are the gateway's business. */
export type Message = Readonly<Record<string, unknown>>;

/**
 * 16 KiB of `details` per message: several screens of diff or metadata stay whole, and a session of a thousand tool calls stays
 * within 16 MiB, which a gateway reads in whole when it resumes.
 */
export const MAX_DETAILS_BYTES = 16 * 1024;
/** Of a summary: what is named in it, and how much of one short value. */
const SUMMARY_KEYS = 32;
const SUMMARY_CHARS = 200;

/** The messages without the `details` of tool results: for provider replay and compaction. The given ones are not changed. */
export function stripDetails<M extends Message>(messages: readonly M[]): M[] {
  return messages.map((message) => {
    if (message.role !== "toolResult" || !Object.hasOwn(message, "details")) return message;
    const { details: _, ...rest } = message;
    return rest as unknown as M;
  });
}

/** The message with `details` of at most `maxBytes` of JSON; larger ones become a summary with `persistedDetailsTruncated: true`. */
export function boundDetails<M extends Message>(message: M, { maxBytes = MAX_DETAILS_BYTES }: { readonly maxBytes?: number } = {}): M {
  const { details } = message;
  if (details === undefined) return message;
  const text = jsonOf(details);
  const bytes = text === undefined ? undefined : Buffer.byteLength(text);
  if (bytes !== undefined && bytes <= maxBytes) return message;
  const summary = { persistedDetailsTruncated: true, originalBytes: bytes, ...summaryOf(details) };
  const fits = Buffer.byteLength(JSON.stringify(summary)) <= maxBytes;
  return { ...message, details: fits ? summary : { persistedDetailsTruncated: true } };
}

/** What persisting needs of a host. */
export interface PersistHost {
  runSync(
    hook: "tool_result_persist",
    event: EventOf<Catalog["tool_result_persist"]>,
    ctx?: ContextOf<Catalog["tool_result_persist"]>,
  ): Outcome<{ message?: Record<string, unknown> | undefined }>;
  runSync(
    hook: "before_message_write",
    event: EventOf<Catalog["before_message_write"]>,
    ctx?: ContextOf<Catalog["before_message_write"]>,
  ): Outcome<{ message?: Record<string, unknown> | undefined; block?: boolean | undefined }>;
}

export type Persisted =
  | { readonly blocked: false; readonly message: Record<string, unknown> }
  /** A plugin does not want the message in the transcript, or a required one has failed. */
  | { readonly blocked: true; readonly by: string | undefined };

/**
 * What to write for a tool's result: `tool_result_persist`, then `before_message_write` on what came of it, then the bound on
 * `details`. Blocks the caller for at most the handlers' budgets, as `host.runSync` does.
 */
export function persistToolResult(
  host: PersistHost,
  event: EventOf<Catalog["tool_result_persist"]>,
  ctx: NonNullable<ContextOf<Catalog["tool_result_persist"]>> = {},
  options: { readonly maxBytes?: number } = {},
): Persisted {
  const persisted = host.runSync("tool_result_persist", event, ctx);
  if (persisted.decision === "block") return { blocked: true, by: persisted.by };
  const rewritten = persisted.result?.message ?? event.message;
  const { agentId, sessionKey } = ctx;
  const where = { ...(agentId !== undefined && { agentId }), ...(sessionKey !== undefined && { sessionKey }) };
  const written = host.runSync("before_message_write", { ...where, message: rewritten }, where);
  if (written.decision === "block") return { blocked: true, by: written.by };
  return { blocked: false, message: boundDetails(written.result?.message ?? rewritten, options) };
}

/** The names of the fields, and the values that are short: enough to see what was there. */
function summaryOf(details: unknown): Record<string, unknown> {
  if (typeof details !== "object" || details === null || Array.isArray(details))
    return { originalType: Array.isArray(details) ? "array" : typeof details };
  const keys = Object.keys(details);
  const kept = Object.entries(details as Record<string, unknown>)
    .slice(0, SUMMARY_KEYS)
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value) && String(value).length <= SUMMARY_CHARS);
  return { originalKeys: keys.slice(0, SUMMARY_KEYS), kept: Object.fromEntries(kept) };
}

/** Undefined for what cannot be written at all, which is as good as too large. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
