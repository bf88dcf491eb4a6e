/**
 * The contexts that hooks share, from OpenClaw's own types, and what a plugin finds in place of the live things in them. Unknown
 * fields pass through: gateways add their own.
 */
import * as z from "zod";
import { amount, bag, contextWindow, flag, replyTo, text, texts, trace, tracing } from "./fields.ts";

/** A function, a signal or a service: declared so that gateways may pass it, and taken out before the sandbox. */
export const live = z.unknown().optional();

export const agentContext = z.looseObject({
  runId: text,
  jobId: text,
  trace: trace.optional(),
  agentId: text,
  sessionKey: text,
  sessionId: text,
  workspaceDir: text,
  activeProjectKeys: texts,
  modelProviderId: text,
  modelId: text,
  messageProvider: text,
  channel: text,
  accountId: text,
  chatId: text,
  senderId: text,
  trigger: text,
  channelId: text,
  inputProvenance: z.unknown().optional(),
  ...contextWindow,
  channelContext: z
    .looseObject({ sender: z.looseObject({ id: text }).optional(), chat: z.looseObject({ id: text }).optional() })
    .optional(),
  hookInvocation: live,
  toolAuthority: live,
});
export const agentLive = {
  hookInvocation: "absent: only `before_prompt_build` has it",
  toolAuthority: "absent: a plugin is not told the turn's tools",
};

export const messageContext = z.looseObject({
  channelId: z.string(),
  accountId: text,
  conversationId: text,
  sessionKey: text,
  runId: text,
  messageId: text,
  senderId: text,
  ...replyTo,
  ...tracing,
  callDepth: amount,
});

export const toolContext = z.looseObject({
  toolName: z.string(),
  agentId: text,
  sessionKey: text,
  sessionId: text,
  runId: text,
  trace: trace.optional(),
  toolKind: text,
  toolInputKind: text,
  toolCallId: text,
  channelId: text,
  requester: z.looseObject({ channel: text, accountId: text, senderId: text, senderIsOwner: flag, roleIds: texts }).optional(),
  abortSignal: live,
  getSessionExtension: live,
});
export const toolLive = {
  abortSignal: "absent: when the gateway aborts the run, the host abandons the call and discards its result",
  getSessionExtension: "absent: sessions are read through `api.session`, with that grant",
};

export const sessionContext = z.looseObject({ sessionId: z.string(), agentId: text, sessionKey: text });

export const subagentContext = z.looseObject({ runId: text, childSessionKey: text, requesterSessionKey: text });

export const gatewayContext = z.looseObject({
  port: amount,
  config: bag.optional(),
  workspaceDir: text,
  getCron: live,
  abortSignal: live,
});
export const gatewayLive = {
  getCron: "absent: the gateway's scheduler cannot be reached from a plugin",
  abortSignal: "absent: a handler that outlives its budget is stopped by the host",
};

/** Internal events and turn hooks carry everything in the event itself. */
export const emptyContext = z.looseObject({});
