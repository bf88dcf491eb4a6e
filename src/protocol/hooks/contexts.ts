/**
 * The contexts that hooks share, from OpenClaw's own types, and what plugins find in place of the live objects in them.
 * Unknown fields pass through, since gateways add their own.
 */
import * as z from "zod";
import { amount, bag, contextWindow, flag, replyTo, text, texts, trace, tracing } from "./fields.ts";

/** For `contextFrom`: fields that have the same name in the event. */
export function sameAsEvent(...fields: readonly string[]): Record<string, string> {
  return Object.fromEntries(fields.map((field) => [field, field]));
}

/** The agent or gateway that asks, by name: `creel hook` and `creel serve --http` set it. */
const asker = { gateway: text };

/** A function, a signal or a service. Declared so that gateways may pass it; the host removes it before the sandbox. */
export const live = z.unknown().optional();

export const agentContext = z.looseObject({
  ...asker,
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
  senderExternalId: text,
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
  toolAuthority: "absent: a plugin does not learn the turn's tools",
};

export const messageContext = z.looseObject({
  ...asker,
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
  ...asker,
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

export const sessionContext = z.looseObject({ ...asker, sessionId: z.string(), agentId: text, sessionKey: text });

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

/** What the host itself adds to the context of any hook. */
export const addedContext = z.object({
  /** 2 when the sandbox died, through no fault of the plugin's, while the call was in it: the call is made once more. */
  attempt: z.int().optional(),
  /** Of an event of a durable hook: the same id at every attempt, to tell a duplicate by. */
  delivery: z.object({ id: z.string(), attempt: z.int() }).optional(),
});

/** Internal events and turn hooks carry everything in the event itself. */
export const emptyContext = z.looseObject({});
