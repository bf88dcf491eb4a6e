/** Hooks around messages on their way in and out. */
import * as z from "zod";
import { messageContext, sameAsEvent } from "./contexts.ts";
import { defineHook } from "./define.ts";
import { amount, bag, flag, id, replyPayload, replyTo, text, timestamp, tokenUsage, tracing, untrustedPayload } from "./fields.ts";

const mediaFact = z.looseObject({ path: text, url: text, contentType: text, kind: text, transcribed: flag, messageId: text });

/** What both inbound hooks say about a message. */
const inbound = {
  timestamp,
  threadId: id,
  messageId: text,
  senderId: text,
  ...replyTo,
  sessionKey: text,
  runId: text,
  ...tracing,
  location: z.looseObject({ latitude: z.number(), longitude: z.number(), accuracy: amount, name: text, address: text }).optional(),
  providerUpdate: z.looseObject({ id: z.string(), kind: z.string(), messageId: text }).optional(),
  media: z.array(mediaFact).optional(),
  originalMedia: z.array(mediaFact).optional(),
  mediaStagingPending: flag,
  metadata: bag.optional(),
};

export const messageHooks = [
  defineHook({
    name: "inbound_claim",
    kind: "claim",
    summary:
      "Before an inbound message is routed to an agent: take it, with a reply if you like; meant for the plugin the conversation is bound to.",
    ifItFails: { open: "the gateway routes the message itself", closed: "the message counts as handled, and no agent gets it" },
    event: z.looseObject({
      content: z.string(),
      body: text,
      bodyForAgent: text,
      transcript: text,
      channel: z.string(),
      accountId: text,
      conversationId: text,
      parentConversationId: text,
      senderName: text,
      senderUsername: text,
      isGroup: z.boolean(),
      commandAuthorized: flag,
      senderIsOwner: flag,
      wasMentioned: flag,
      ...inbound,
    }),
    context: messageContext.extend({ agentId: text, parentConversationId: text, pluginBinding: z.unknown().optional() }),
    contextFrom: {
      channelId: "channel",
      ...sameAsEvent("accountId", "conversationId", "parentConversationId", "sessionKey", "runId", "messageId", "senderId"),
    },
    result: z.object({ handled: z.boolean(), reply: replyPayload.optional() }),
    merge: { handled: { rule: "any" }, reply: { rule: "first" } },
    terminal: { field: "handled", decision: "handled" },
    since: "2026.4",
  }),

  defineHook({
    name: "channel_pairing_requested",
    kind: "observe",
    summary: "A user asks to be paired with a channel: who, where, and the code that an operator approves.",
    event: z.looseObject({ channel: z.string(), accountId: text, senderId: z.string(), code: z.string(), metadata: bag.optional() }),
    context: z.looseObject({ channelId: z.string(), accountId: text, senderId: z.string() }),
    contextFrom: { channelId: "channel", ...sameAsEvent("accountId", "senderId") },
    result: z.undefined(),
    budget: { wallMs: 2_000 },
    since: "2026.9",
  }),

  defineHook({
    name: "message_received",
    kind: "observe",
    summary: "A message came in: its content, sender, thread and media.",
    event: z.looseObject({ from: z.string(), content: z.string(), ...inbound }),
    context: messageContext,
    result: z.undefined(),
    since: "2026.4",
  }),

  defineHook({
    name: "message_sending",
    kind: "gate",
    summary: "Before a message leaves: rewrite its content or cancel the delivery.",
    ifItFails: { open: "messages go out as they are", closed: "the message is not sent" },
    event: z.looseObject({ to: z.string(), content: z.string(), replyToId: id, threadId: id, metadata: bag.optional() }),
    context: messageContext,
    contextFrom: { channelId: "metadata.channel", accountId: "metadata.accountId" },
    result: z.object({ content: text, cancel: flag, cancelReason: text, metadata: bag.optional() }),
    merge: {
      content: { rule: "last", chains: "content", isolated: "last" },
      cancel: { rule: "any" },
      cancelReason: { rule: "last" },
      metadata: { rule: "last" },
    },
    terminal: { field: "cancel", decision: "cancel", reason: "cancelReason" },
    since: "2026.4",
  }),

  defineHook({
    name: "reply_payload_sending",
    kind: "gate",
    summary: "Before a reply payload is delivered: rewrite it as a whole, text and media, or cancel it.",
    ifItFails: { open: "replies go out as they are", closed: "the reply is not sent" },
    event: z.looseObject({
      payload: replyPayload,
      kind: z.enum(["tool", "block", "final"]),
      channel: text,
      sessionKey: text,
      runId: text,
      usageState: z
        .looseObject({ provider: text, model: text, resolvedRef: text, durationMs: amount, usage: tokenUsage.optional() })
        .optional(),
    }),
    context: messageContext,
    contextFrom: { channelId: "channel", ...sameAsEvent("sessionKey", "runId") },
    result: z.object({ payload: untrustedPayload.optional(), cancel: flag, reason: text }),
    merge: { payload: { rule: "last", chains: "payload" }, cancel: { rule: "any" }, reason: { rule: "last" } },
    terminal: { field: "cancel", decision: "cancel", reason: "reason" },
    hides: ["payload.trustedLocalMedia"],
    since: "2026.9",
  }),

  defineHook({
    name: "message_sent",
    kind: "observe",
    summary: "A message left, or failed to.",
    event: z.looseObject({
      to: z.string(),
      content: z.string(),
      success: z.boolean(),
      messageId: text,
      sessionKey: text,
      runId: text,
      ...tracing,
      error: text,
    }),
    context: messageContext,
    result: z.undefined(),
    since: "2026.4",
  }),
] as const;
