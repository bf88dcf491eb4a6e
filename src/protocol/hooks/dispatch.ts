/** Hooks that may replace a turn: before it is dispatched to a model, and where its reply is delivered. */
import * as z from "zod";
import { live, sameAsEvent } from "./contexts.ts";
import { defineHook } from "./define.ts";
import { bag, flag, id, replyTo, text, texts, timestamp } from "./fields.ts";

/** Without a claim only the rewrite counts. An answer that neither claims nor rewrites counts as none. */
const dispatchAnswer = z
  .object({ handled: flag, text, content: text })
  .transform(({ handled, content, ...claim }): { handled?: true; text?: string | undefined; content?: string } | undefined => {
    const rewrite = content === undefined ? undefined : { content };
    return handled === true ? { handled, ...claim, ...rewrite } : rewrite;
  });

export const dispatchHooks = [
  defineHook({
    name: "before_dispatch",
    // A gate, because a rewrite without a claim must reach later handlers. A claim ends the run, as with any claim
    // hook.
    kind: "gate",
    summary: "Before an inbound message is dispatched to a model: answer it yourself, or rewrite what is dispatched.",
    ifItFails: { open: "the message is dispatched as it is", closed: "the message counts as handled, and no model gets it" },
    event: z.looseObject({
      content: z.string(),
      body: text,
      channel: text,
      sessionKey: text,
      senderId: text,
      isGroup: flag,
      timestamp,
      messageId: text,
      ...replyTo,
    }),
    context: z.looseObject({
      channelId: text,
      accountId: text,
      conversationId: text,
      sessionKey: text,
      senderId: text,
      messageId: text,
      ...replyTo,
    }),
    contextFrom: { channelId: "channel", ...sameAsEvent("sessionKey", "senderId", "messageId") },
    result: dispatchAnswer,
    merge: { handled: { rule: "any" }, text: { rule: "first" }, content: { rule: "last", chains: "content" } },
    terminal: { field: "handled", decision: "handled" },
    since: "2026.4",
  }),

  defineHook({
    name: "reply_dispatch",
    kind: "claim",
    summary: "Before a reply is produced and delivered: do both yourself, and say what was delivered.",
    ifItFails: { open: "the gateway replies itself", closed: "the message counts as handled, and nothing is delivered" },
    event: z.looseObject({
      ctx: bag,
      runId: text,
      sessionKey: text,
      toolsAllow: texts,
      images: z.array(z.looseObject({ data: z.string(), mimeType: z.string() })).optional(),
      inboundAudio: z.boolean(),
      sessionTtsAuto: text,
      ttsChannel: text,
      suppressUserDelivery: flag,
      suppressReplyLifecycle: flag,
      sourceReplyDeliveryMode: text,
      shouldRouteToOriginating: z.boolean(),
      originatingChannel: text,
      originatingTo: text,
      originatingAccountId: text,
      originatingThreadId: id,
      originatingChatType: text,
      shouldSendToolSummaries: z.boolean(),
      shouldSendFullToolDetails: flag,
      sendPolicy: z.enum(["allow", "deny"]),
      isTailDispatch: flag,
    }),
    context: z.looseObject({
      dispatchKind: z.enum(["agent", "acp"]).optional(),
      cfg: bag.optional(),
      dispatcher: live,
      abortSignal: live,
      onReplyStart: live,
      onAgentRunStart: live,
      userTurnTranscriptRecorder: live,
      prepareAssistantTranscriptMessage: live,
      recordProcessed: live,
      markIdle: live,
    }),
    result: z.discriminatedUnion("handled", [
      z.object({
        handled: z.literal(true),
        queuedFinal: z.boolean(),
        counts: z.object({ tool: z.number(), block: z.number(), final: z.number() }),
      }),
      z.object({ handled: z.literal(false) }),
    ]),
    merge: { handled: { rule: "any" }, queuedFinal: { rule: "first" }, counts: { rule: "first" } },
    terminal: { field: "handled", decision: "handled" },
    filters: { eligibleDispatchKinds: { from: "context", field: "dispatchKind" } },
    live: {
      dispatcher: "absent: a plugin delivers over its own channel, such as `fetch`, and answers with the counts",
      abortSignal: "absent: when the gateway aborts the run, the host abandons the call and discards its result",
      onReplyStart: "absent: the answer tells the gateway",
      onAgentRunStart: "absent: a plugin starts no agent run of the gateway's",
      userTurnTranscriptRecorder: "absent: transcripts are the gateway's",
      prepareAssistantTranscriptMessage: "absent: transcripts are the gateway's",
      recordProcessed: "absent: the gateway records what the answer says",
      markIdle: "absent: the gateway does it when the run is over",
    },
    since: "2026.4",
  }),
] as const;
