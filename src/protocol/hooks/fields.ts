/** Field schemas that several hooks share. Optional ones are named for what they hold. */
import * as z from "zod";

export const text = z.string().optional();
export const amount = z.number().optional();
export const flag = z.boolean().optional();
export const texts = z.array(z.string()).optional();
/** Channels number or name their threads and messages. */
export const id = z.union([z.string(), z.number()]).optional();
export const bag = z.record(z.string(), z.unknown());
/**
 * An unchecked bag for data of the gateway on the hottest hooks, where checking costs a third. Not for results: it lets
 * an own `__proto__` pass.
 */
export const given = z.looseObject({});
/** Transcript messages are opaque here; their fields belong to the gateway. */
export const messages = z.array(z.unknown());

/** Dates travel as ISO text. Gateways may pass either form. */
export const timestamp = z.union([z.date(), z.string(), z.number()]).optional();

export const trace = z.looseObject({ traceId: z.string(), spanId: text, parentSpanId: text, traceFlags: id });

/** The same trace, also as flat fields for plugins that read it that way. */
export const tracing = { trace: trace.optional(), traceId: text, spanId: text, parentSpanId: text };

/** What a message replies to. */
export const replyTo = { replyToId: text, replyToIdFull: text, replyToBody: text, replyToSender: text, replyToIsQuote: flag };

/** Where something can be delivered. */
export const route = z.looseObject({ channel: text, accountId: text, to: text, threadId: id });

export const tokenUsage = z.looseObject({ input: amount, output: amount, cacheRead: amount, cacheWrite: amount, total: amount });

export const contextWindow = { contextTokenBudget: amount, contextWindowSource: text, contextWindowReferenceTokens: amount };

/** What a channel can send. Its fields belong to the gateway. */
export const replyPayload = bag;

/** A reply payload from a plugin. Only the gateway may set the flag that lets a payload read local files. */
export const untrustedPayload = bag.transform((payload) =>
  Object.fromEntries(Object.entries(payload).filter(([field]) => field !== "trustedLocalMedia")),
);
