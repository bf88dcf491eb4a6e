/** The contexts that hooks share, from OpenClaw's own types. Unknown fields pass through: gateways add their own. */
import * as z from "zod";

const text = z.string().optional();

export const trace = z.looseObject({
  traceId: z.string(),
  spanId: text,
  parentSpanId: text,
  traceFlags: z.union([z.string(), z.number()]).optional(),
});

export const agentContext = z.looseObject({
  runId: text,
  jobId: text,
  trace: trace.optional(),
  agentId: text,
  sessionKey: text,
  sessionId: text,
  workspaceDir: text,
  activeProjectKeys: z.array(z.string()).optional(),
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
  contextTokenBudget: z.number().optional(),
  contextWindowSource: text,
  contextWindowReferenceTokens: z.number().optional(),
  channelContext: z
    .looseObject({ sender: z.looseObject({ id: text }).optional(), chat: z.looseObject({ id: text }).optional() })
    .optional(),
});

export const messageContext = z.looseObject({
  channelId: z.string(),
  accountId: text,
  conversationId: text,
  sessionKey: text,
  runId: text,
  messageId: text,
  senderId: text,
  replyToId: text,
  replyToIdFull: text,
  replyToBody: text,
  replyToSender: text,
  replyToIsQuote: z.boolean().optional(),
  trace: trace.optional(),
  traceId: text,
  spanId: text,
  parentSpanId: text,
  callDepth: z.number().optional(),
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
  requester: z
    .looseObject({
      channel: text,
      accountId: text,
      senderId: text,
      senderIsOwner: z.boolean().optional(),
      roleIds: z.array(z.string()).optional(),
    })
    .optional(),
});

/** Internal events carry everything in the event itself. */
export const emptyContext = z.looseObject({});
