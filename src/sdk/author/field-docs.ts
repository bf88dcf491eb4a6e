/**
 * The author's side, types only: what editors show about hooks and fields. Made by scripts/field-docs.ts (npm run docs) of the catalog. Do
 * not edit.
 */

/** Fields of events and contexts, by name: each alone, since a type has the comments of its own fields only. */
export interface FieldDocs {
  abort: {
    /** Ends the turn; `reason` says why. */ abort?: unknown;
  };
  abortSignal: {
    /** OpenClaw's signal that the tool call was cancelled. It does not cross into the sandbox. */ abortSignal?: unknown;
  };
  accountId: {
    /** The account of the channel, where it has several. */ accountId?: unknown;
  };
  action: {
    /** What happened, or what to do: the second word of an internal event, or the plugin's answer. */ action?: unknown;
  };
  activeProjectKeys: {
    /** The projects that are active in the session. */ activeProjectKeys?: unknown;
  };
  after: {
    /** How it is now. */ after?: unknown;
  };
  agentId: {
    /** The agent. */ agentId?: unknown;
  };
  api: {
    /** The model provider's API, such as `openai-responses`. */ api?: unknown;
  };
  appendContext: {
    /** Text that is added after the user's prompt. */ appendContext?: unknown;
  };
  appendSystemContext: {
    /** Text that is added after the system prompt. */ appendSystemContext?: unknown;
  };
  assistantTexts: {
    /** What the model wrote, in order. */ assistantTexts?: unknown;
  };
  attachments: {
    /** What came with the prompt: its kind and type, no content. */ attachments?: unknown;
  };
  baseline: {
    /** What the candidate is compared with. */ baseline?: unknown;
  };
  before: {
    /** How it was. */ before?: unknown;
  };
  block: {
    /** True: it is stopped, and no later handler is asked. */ block?: unknown;
  };
  blockReason: {
    /** Why it is blocked. The agent and the user see it. */ blockReason?: unknown;
  };
  body: {
    /** The text of the message. */ body?: unknown;
  };
  bodyForAgent: {
    /** The text as the agent gets it, with what the gateway adds. */ bodyForAgent?: unknown;
  };
  builtinScan: {
    /** What the gateway's own scan of the code found. */ builtinScan?: unknown;
  };
  callDepth: {
    /** How many runs caused this one, one after the other. */ callDepth?: unknown;
  };
  callId: {
    /** The call to the model; start and end have the same. */ callId?: unknown;
  };
  cancel: {
    /** True: it is not sent, and no later handler is asked. */ cancel?: unknown;
  };
  cancelReason: {
    /** Why it is not sent. */ cancelReason?: unknown;
  };
  candidate: {
    /** What is evaluated. */ candidate?: unknown;
  };
  category: {
    /** The kind of matter that is blocked, for reports. */ category?: unknown;
  };
  cfg: {
    /** OpenClaw's configuration object. It does not cross into the sandbox. */ cfg?: unknown;
  };
  channel: {
    /** The kind of channel, such as `telegram`. */ channel?: unknown;
  };
  channelContext: {
    /** Sender and chat, as the channel numbers them. */ channelContext?: unknown;
  };
  channelId: {
    /** The channel. */ channelId?: unknown;
  };
  chatId: {
    /** The chat, as the channel numbers it. */ chatId?: unknown;
  };
  childRunId: {
    /** The run of the subagent. */ childRunId?: unknown;
  };
  childSessionKey: {
    /** The session of the subagent. */ childSessionKey?: unknown;
  };
  cleanedBody: {
    /** The user's message without mentions and commands. */ cleanedBody?: unknown;
  };
  code: {
    /** The code that an operator approves. */ code?: unknown;
  };
  commandAuthorized: {
    /** May the sender use commands? */ commandAuthorized?: unknown;
  };
  compactedCount: {
    /** How many messages were compacted. */ compactedCount?: unknown;
  };
  compactingCount: {
    /** How many messages will be compacted. */ compactingCount?: unknown;
  };
  completionStatus: {
    /** How the job's work ended. */ completionStatus?: unknown;
  };
  config: {
    /** The gateway's configuration, without secrets. */ config?: unknown;
  };
  content: {
    /** The text of the message. */ content?: unknown;
  };
  context: {
    /** What the event is about; its fields depend on the event. */ context?: unknown;
  };
  contextTokenBudget: {
    /** The tokens that the model's context may take. */ contextTokenBudget?: unknown;
  };
  contextWindowReferenceTokens: {
    /** The size of the model's context window, in tokens. */ contextWindowReferenceTokens?: unknown;
  };
  contextWindowSource: {
    /** Where the size of the context window is from. */ contextWindowSource?: unknown;
  };
  conversationId: {
    /** The conversation in the channel. */ conversationId?: unknown;
  };
  correlationId: {
    /** The same for all events about one matter. */ correlationId?: unknown;
  };
  counts: {
    /** How many replies were delivered, by kind. */ counts?: unknown;
  };
  ctx: {
    /** The message and its session, as the gateway's dispatcher has them. */ ctx?: unknown;
  };
  currentUserMessage: {
    /** The user's message of this turn. */ currentUserMessage?: unknown;
  };
  currentUserMessageId: {
    /** Its id in the channel. */ currentUserMessageId?: unknown;
  };
  cwd: {
    /** The folder in which the agent works. */ cwd?: unknown;
  };
  decision: {
    /** What was decided. */ decision?: unknown;
  };
  decisionReason: {
    /** Why. */ decisionReason?: unknown;
  };
  delivered: {
    /** Was it delivered? */ delivered?: unknown;
  };
  deliveryError: {
    /** Why it was not delivered. */ deliveryError?: unknown;
  };
  deliveryOrigin: {
    /** Where the subagent delivers: channel, account, recipient and thread. */ deliveryOrigin?: unknown;
  };
  deliveryStatus: {
    /** How the delivery ended. */ deliveryStatus?: unknown;
  };
  deliverySuppressionReason: {
    /** Why it was deliberately not delivered. */ deliverySuppressionReason?: unknown;
  };
  derivedPaths: {
    /** Files that the gateway found in the parameters. */ derivedPaths?: unknown;
  };
  dispatcher: {
    /** OpenClaw's dispatcher. It does not cross into the sandbox. */ dispatcher?: unknown;
  };
  dispatchKind: {
    /** What is dispatched. */ dispatchKind?: unknown;
  };
  durationMs: {
    /** How long it took, in milliseconds. */ durationMs?: unknown;
  };
  enabled: {
    /** Is it switched on? */ enabled?: unknown;
  };
  endedAt: {
    /** When it ended, in milliseconds since 1970. */ endedAt?: unknown;
  };
  error: {
    /** What went wrong. */ error?: unknown;
  };
  errorCategory: {
    /** The kind of error. */ errorCategory?: unknown;
  };
  evaluations: {
    /** What the evaluators said. */ evaluations?: unknown;
  };
  evaluatorVersion: {
    /** The version of the evaluator. */ evaluatorVersion?: unknown;
  };
  eventId: {
    /** The event; the same if it is delivered again. */ eventId?: unknown;
  };
  expectsCompletionMessage: {
    /** Is a message sent when the subagent has ended? */ expectsCompletionMessage?: unknown;
  };
  failureKind: {
    /** Why the call to the model failed. */ failureKind?: unknown;
  };
  fastMode: {
    /** Was the model's fast mode used? */ fastMode?: unknown;
  };
  findings: {
    /** What was found; a critical one stops the installation. */ findings?: unknown;
  };
  from: {
    /** The sender. */ from?: unknown;
  };
  gateway: {
    /** The agent or gateway that asks, by name. */ gateway?: unknown;
  };
  getCron: {
    /** OpenClaw's function for its jobs. It does not cross into the sandbox. */ getCron?: unknown;
  };
  getSessionExtension: {
    /** OpenClaw's function for data of a session. It does not cross into the sandbox. */ getSessionExtension?: unknown;
  };
  handled: {
    /** True: the plugin has taken it, and no later handler is asked. */ handled?: unknown;
  };
  harnessId: {
    /** The program that runs the agent. */ harnessId?: unknown;
  };
  heartbeatName: {
    /** The heartbeat. */ heartbeatName?: unknown;
  };
  historyMessages: {
    /** The conversation before this prompt. */ historyMessages?: unknown;
  };
  hookInvocation: {
    /** OpenClaw's record of this call. It does not cross into the sandbox. */ hookInvocation?: unknown;
  };
  host: {
    /** Where the command runs. */ host?: unknown;
  };
  images: {
    /** Images of the message. */ images?: unknown;
  };
  imagesCount: {
    /** How many images go to the model. */ imagesCount?: unknown;
  };
  inboundAudio: {
    /** Did the user send audio? */ inboundAudio?: unknown;
  };
  inputProvenance: {
    /** Where the input came from. */ inputProvenance?: unknown;
  };
  isGroup: {
    /** Is it a chat of several people? */ isGroup?: unknown;
  };
  isSynthetic: {
    /** Was the message made by the gateway, and not by a tool? */ isSynthetic?: unknown;
  };
  isTailDispatch: {
    /** Is it the last dispatch of the turn? */ isTailDispatch?: unknown;
  };
  job: {
    /** The job, as it is configured. */ job?: unknown;
  };
  jobId: {
    /** The scheduled job that caused the run. */ jobId?: unknown;
  };
  kind: {
    /** Which part of a reply it is. */ kind?: unknown;
  };
  label: {
    /** The subagent's name for people. */ label?: unknown;
  };
  lastAssistant: {
    /** The model's last message. */ lastAssistant?: unknown;
  };
  lastAssistantMessage: {
    /** The text of the model's last message. */ lastAssistantMessage?: unknown;
  };
  location: {
    /** A place that the user sent. */ location?: unknown;
  };
  markIdle: {
    /** OpenClaw's function. It does not cross into the sandbox. */ markIdle?: unknown;
  };
  media: {
    /** Files of the message: type and where they are, no content. */ media?: unknown;
  };
  mediaStagingPending: {
    /** Are files of the message still being fetched? */ mediaStagingPending?: unknown;
  };
  message: {
    /** The message, as the transcript has it or will have it. */ message?: unknown;
  };
  messageCount: {
    /** How many messages the session has. */ messageCount?: unknown;
  };
  messageId: {
    /** The message in the channel. */ messageId?: unknown;
  };
  messageProvider: {
    /** The channel that the message came from. */ messageProvider?: unknown;
  };
  messages: {
    /** The conversation. The fields of a message are the gateway's. */ messages?: unknown;
  };
  meta: {
    /** More about the turn, from the gateway. */ meta?: unknown;
  };
  metadata: {
    /** More about it, from the gateway or the channel. */ metadata?: unknown;
  };
  metrics: {
    /** What was measured. */ metrics?: unknown;
  };
  mode: {
    /** How the subagent runs: once, or as a session. */ mode?: unknown;
  };
  model: {
    /** The model. */ model?: unknown;
  };
  modelId: {
    /** The model. */ modelId?: unknown;
  };
  modelOverride: {
    /** The model to use instead. */ modelOverride?: unknown;
  };
  modelProviderId: {
    /** The provider of the model. */ modelProviderId?: unknown;
  };
  nextRunAtMs: {
    /** When the job runs next, in milliseconds since 1970. */ nextRunAtMs?: unknown;
  };
  nextSessionId: {
    /** The session that follows. */ nextSessionId?: unknown;
  };
  nextSessionKey: {
    /** The key of the session that follows. */ nextSessionKey?: unknown;
  };
  occurredAt: {
    /** When it happened. */ occurredAt?: unknown;
  };
  onAgentRunStart: {
    /** OpenClaw's function. It does not cross into the sandbox. */ onAgentRunStart?: unknown;
  };
  onReplyStart: {
    /** OpenClaw's function. It does not cross into the sandbox. */ onReplyStart?: unknown;
  };
  origin: {
    /** Where to deliver: channel, account, recipient and thread. */ origin?: unknown;
  };
  originalMedia: {
    /** The files as the channel sent them. */ originalMedia?: unknown;
  };
  originatingAccountId: {
    /** The account that the message came from. */ originatingAccountId?: unknown;
  };
  originatingChannel: {
    /** The channel that the message came from. */ originatingChannel?: unknown;
  };
  originatingChatType: {
    /** The kind of chat that the message came from. */ originatingChatType?: unknown;
  };
  originatingThreadId: {
    /** The thread that the message came from. */ originatingThreadId?: unknown;
  };
  originatingTo: {
    /** Where an answer to the message would go. */ originatingTo?: unknown;
  };
  outcome: {
    /** How it ended, or what the plugin decides. */ outcome?: unknown;
  };
  params: {
    /** The parameters of the tool call. */ params?: unknown;
  };
  parentConversationId: {
    /** The conversation to which this thread belongs. */ parentConversationId?: unknown;
  };
  parentSpanId: {
    /** The span that caused this one. */ parentSpanId?: unknown;
  };
  payload: {
    /** What the channel will send: text, media and more. */ payload?: unknown;
  };
  phase: {
    /** Did it start or end? */ phase?: unknown;
  };
  plugin: {
    /** The plugin that is installed. */ plugin?: unknown;
  };
  pluginBinding: {
    /** How the conversation is bound to this plugin. */ pluginBinding?: unknown;
  };
  port: {
    /** The gateway's port. */ port?: unknown;
  };
  prepareAssistantTranscriptMessage: {
    /** OpenClaw's function. It does not cross into the sandbox. */ prepareAssistantTranscriptMessage?: unknown;
  };
  prependContext: {
    /** Text that is added before the user's prompt. */ prependContext?: unknown;
  };
  prependSystemContext: {
    /** Text that is added before the system prompt. */ prependSystemContext?: unknown;
  };
  previousSessionId: {
    /** The session before. */ previousSessionId?: unknown;
  };
  prompt: {
    /** What the user, or what started the run, asks. */ prompt?: unknown;
  };
  proposal: {
    /** The proposed change of a skill. */ proposal?: unknown;
  };
  provider: {
    /** The provider of the model. */ provider?: unknown;
  };
  providerOverride: {
    /** The provider to use instead. */ providerOverride?: unknown;
  };
  providerUpdate: {
    /** The channel's own data of the message. */ providerUpdate?: unknown;
  };
  queuedFinal: {
    /** Was a final reply queued? */ queuedFinal?: unknown;
  };
  queuedInjections: {
    /** Texts that wait to be put into the prompt. */ queuedInjections?: unknown;
  };
  reason: {
    /** Why. */ reason?: unknown;
  };
  reasoningEffort: {
    /** How much the model was asked to think. */ reasoningEffort?: unknown;
  };
  recordProcessed: {
    /** OpenClaw's function. It does not cross into the sandbox. */ recordProcessed?: unknown;
  };
  reply: {
    /** The answer that is given instead of the model's. */ reply?: unknown;
  };
  replyToBody: {
    /** The text of the message to which this one replies. */ replyToBody?: unknown;
  };
  replyToId: {
    /** The message to which this one replies. */ replyToId?: unknown;
  };
  replyToIdFull: {
    /** The same with the channel's own prefix. */ replyToIdFull?: unknown;
  };
  replyToIsQuote: {
    /** Was a part of that message quoted? */ replyToIsQuote?: unknown;
  };
  replyToSender: {
    /** Who sent the message to which this one replies. */ replyToSender?: unknown;
  };
  request: {
    /** How the installation was requested. */ request?: unknown;
  };
  requester: {
    /** Who asked the agent: channel, account and sender. */ requester?: unknown;
  };
  requesterOrigin: {
    /** Where the one who asked can be reached. */ requesterOrigin?: unknown;
  };
  requesterSessionKey: {
    /** The session that asked for the subagent. */ requesterSessionKey?: unknown;
  };
  requestKind: {
    /** What kind of installation it is. */ requestKind?: unknown;
  };
  requestPayloadBytes: {
    /** The size of the request to the model. */ requestPayloadBytes?: unknown;
  };
  requireApproval: {
    /** Asks the user before it goes on: `title`, `description`, and how long to wait. */ requireApproval?: unknown;
  };
  resolvedModel: {
    /** The model that was chosen. */ resolvedModel?: unknown;
  };
  resolvedProvider: {
    /** The provider that was chosen. */ resolvedProvider?: unknown;
  };
  resolvedRef: {
    /** The model that was chosen, as provider and name. */ resolvedRef?: unknown;
  };
  responseStreamBytes: {
    /** The size of the model's answer. */ responseStreamBytes?: unknown;
  };
  result: {
    /** What the tool returned. */ result?: unknown;
  };
  resumedFrom: {
    /** The session that is resumed. */ resumedFrom?: unknown;
  };
  retry: {
    /** How often and why one more pass is asked for. */ retry?: unknown;
  };
  runAtMs: {
    /** When the job ran, in milliseconds since 1970. */ runAtMs?: unknown;
  };
  runId: {
    /** The agent's run. */ runId?: unknown;
  };
  senderExternalId: {
    /** The sender, as the channel numbers people. */ senderExternalId?: unknown;
  };
  senderId: {
    /** The sender. */ senderId?: unknown;
  };
  senderIsOwner: {
    /** Is the sender the owner of the gateway? */ senderIsOwner?: unknown;
  };
  senderName: {
    /** The sender's name for people. */ senderName?: unknown;
  };
  senderUsername: {
    /** The sender's name in the channel. */ senderUsername?: unknown;
  };
  sendFarewell: {
    /** Is a last message sent? */ sendFarewell?: unknown;
  };
  sendPolicy: {
    /** May an answer be sent? */ sendPolicy?: unknown;
  };
  sequence: {
    /** The number of the event among those about the same matter. */ sequence?: unknown;
  };
  sessionFile: {
    /** The file of the session's transcript. */ sessionFile?: unknown;
  };
  sessionId: {
    /** The session; another one after a reset. */ sessionId?: unknown;
  };
  sessionKey: {
    /** The session, by its key, which stays after a reset. */ sessionKey?: unknown;
  };
  sessionTarget: {
    /** The session in which the job runs. */ sessionTarget?: unknown;
  };
  sessionTtsAuto: {
    /** Is speech sent by itself in this session? */ sessionTtsAuto?: unknown;
  };
  shouldRouteToOriginating: {
    /** Does the answer go to where the message came from? */ shouldRouteToOriginating?: unknown;
  };
  shouldSendFullToolDetails: {
    /** Does the user see what tools returned? */ shouldSendFullToolDetails?: unknown;
  };
  shouldSendToolSummaries: {
    /** Does the user see which tools were used? */ shouldSendToolSummaries?: unknown;
  };
  skill: {
    /** The skill. */ skill?: unknown;
  };
  source: {
    /** Where it came from. */ source?: unknown;
  };
  sourcePath: {
    /** The folder or file that is installed. */ sourcePath?: unknown;
  };
  sourcePathKind: {
    /** Is it a folder or a file? */ sourcePathKind?: unknown;
  };
  sourceReplyDeliveryMode: {
    /** How the answer is delivered. */ sourceReplyDeliveryMode?: unknown;
  };
  spanId: {
    /** The span of the trace. */ spanId?: unknown;
  };
  spawnMode: {
    /** How the subagent runs: once, or as a session. */ spawnMode?: unknown;
  };
  status: {
    /** How it ended. */ status?: unknown;
  };
  stopHookActive: {
    /** Has a plugin asked for one more pass already? */ stopHookActive?: unknown;
  };
  success: {
    /** Did it work? */ success?: unknown;
  };
  summary: {
    /** What came of it, for people. */ summary?: unknown;
  };
  suppressReplyLifecycle: {
    /** Are signs such as typing left out? */ suppressReplyLifecycle?: unknown;
  };
  suppressUserDelivery: {
    /** Is nothing sent to the user? */ suppressUserDelivery?: unknown;
  };
  systemPrompt: {
    /** The system prompt. */ systemPrompt?: unknown;
  };
  targetKind: {
    /** What ended: a subagent, or another session. */ targetKind?: unknown;
  };
  targetName: {
    /** What is installed, by name. */ targetName?: unknown;
  };
  targetSessionKey: {
    /** The session that ended. */ targetSessionKey?: unknown;
  };
  targetType: {
    /** What is installed: a skill or a plugin. */ targetType?: unknown;
  };
  text: {
    /** The text that is answered or dispatched instead. */ text?: unknown;
  };
  threadBindingReady: {
    /** Is the thread of the subagent ready? */ threadBindingReady?: unknown;
  };
  threadId: {
    /** The thread in the conversation. */ threadId?: unknown;
  };
  threadRequested: {
    /** Was a thread of its own asked for? */ threadRequested?: unknown;
  };
  timestamp: {
    /** When it happened. */ timestamp?: unknown;
  };
  timeToFirstByteMs: {
    /** How long the model took to begin its answer, in milliseconds. */ timeToFirstByteMs?: unknown;
  };
  to: {
    /** The recipient. */ to?: unknown;
  };
  tokenCount: {
    /** How many tokens the conversation takes. */ tokenCount?: unknown;
  };
  toolAuthority: {
    /** The tools of the turn. A plugin does not learn them. */ toolAuthority?: unknown;
  };
  toolCallId: {
    /** The tool call; before and after have the same. */ toolCallId?: unknown;
  };
  toolInputKind: {
    /** The language of code that the tool gets. */ toolInputKind?: unknown;
  };
  toolKind: {
    /** What kind of tool it is, if it runs code. */ toolKind?: unknown;
  };
  toolName: {
    /** The tool. */ toolName?: unknown;
  };
  tools: {
    /** The tools that the model is offered. */ tools?: unknown;
  };
  toolsAllow: {
    /** The only tools that may be used. */ toolsAllow?: unknown;
  };
  trace: {
    /** The gateway's trace: `traceId` and `spanId`. */ trace?: unknown;
  };
  traceId: {
    /** The trace. */ traceId?: unknown;
  };
  transcript: {
    /** The text of what was said in the message. */ transcript?: unknown;
  };
  transcriptArchived: {
    /** Was the transcript kept? */ transcriptArchived?: unknown;
  };
  transcriptPath: {
    /** The file of the transcript. */ transcriptPath?: unknown;
  };
  transport: {
    /** How the model was reached. */ transport?: unknown;
  };
  trigger: {
    /** What started the run: a user, a job, a heartbeat. */ trigger?: unknown;
  };
  ttsChannel: {
    /** The channel to which speech is sent. */ ttsChannel?: unknown;
  };
  turnId: {
    /** The turn. */ turnId?: unknown;
  };
  turnIndex: {
    /** The number of the turn, from 0. */ turnIndex?: unknown;
  };
  type: {
    /** The first word of an internal event, such as `session`. */ type?: unknown;
  };
  upstreamRequestIdHash: {
    /** A digest of the provider's id of the request. */ upstreamRequestIdHash?: unknown;
  };
  usage: {
    /** The tokens that were used. */ usage?: unknown;
  };
  usageState: {
    /** What is known of the tokens that were used. */ usageState?: unknown;
  };
  userTurnTranscriptRecorder: {
    /** OpenClaw's recorder. It does not cross into the sandbox. */ userTurnTranscriptRecorder?: unknown;
  };
  wasMentioned: {
    /** Was the agent named in the message? */ wasMentioned?: unknown;
  };
  workflow: {
    /** The workflow to which the turn belongs. */ workflow?: unknown;
  };
  workspaceDir: {
    /** The agent's folder. */ workspaceDir?: unknown;
  };
}

/** Fields inside of these fields, in the same way; also of those that are inside of another. */
export interface InnerDocs {
  after: {
    description: {
      /** What the skill says that it is for. */ description?: unknown;
    };
    name: {
      /** The skill's name. */ name?: unknown;
    };
    skillDir: {
      /** The skill's folder. */ skillDir?: unknown;
    };
    skillFile: {
      /** The skill's file. */ skillFile?: unknown;
    };
    skillKey: {
      /** The skill, by the key that its settings have. */ skillKey?: unknown;
    };
    source: {
      /** Where it came from. */ source?: unknown;
    };
  };
  baseline: {
    files: {
      /** The skill's other files, with their contents. */ files?: unknown;
    };
    skillMd: {
      /** The skill's `SKILL.md`. */ skillMd?: unknown;
    };
    treeSha256: {
      /** SHA-256 of all files together. */ treeSha256?: unknown;
    };
  };
  before: {
    description: {
      /** What the skill says that it is for. */ description?: unknown;
    };
    name: {
      /** The skill's name. */ name?: unknown;
    };
    skillDir: {
      /** The skill's folder. */ skillDir?: unknown;
    };
    skillFile: {
      /** The skill's file. */ skillFile?: unknown;
    };
    skillKey: {
      /** The skill, by the key that its settings have. */ skillKey?: unknown;
    };
    source: {
      /** Where it came from. */ source?: unknown;
    };
  };
  builtinScan: {
    critical: {
      /** How many findings are critical. */ critical?: unknown;
    };
    error: {
      /** What went wrong. */ error?: unknown;
    };
    findings: {
      /** What was found; a critical one stops the installation. */ findings?: unknown;
    };
    info: {
      /** How many findings are only for information. */ info?: unknown;
    };
    scannedFiles: {
      /** How many files were scanned. */ scannedFiles?: unknown;
    };
    status: {
      /** How it ended. */ status?: unknown;
    };
    warn: {
      /** How many findings are warnings. */ warn?: unknown;
    };
  };
  candidate: {
    files: {
      /** The skill's other files, with their contents. */ files?: unknown;
    };
    skillMd: {
      /** The skill's `SKILL.md`. */ skillMd?: unknown;
    };
    treeSha256: {
      /** SHA-256 of all files together. */ treeSha256?: unknown;
    };
  };
  channelContext: {
    chat: {
      /** The chat that the message is from. */ chat?: unknown;
    };
    sender: {
      /** Who sent the message. */ sender?: unknown;
    };
  };
  chat: {
    id: {
      /** The chat, as the channel numbers it. */ id?: unknown;
    };
  };
  context: {
    accountId: {
      /** The account of the channel, where it has several. */ accountId?: unknown;
    };
    agentId: {
      /** The agent. */ agentId?: unknown;
    };
    args: {
      /** What the tool is called with. */ args?: unknown;
    };
    body: {
      /** The text of the message. */ body?: unknown;
    };
    bodyForAgent: {
      /** The text as the agent gets it, with what the gateway adds. */ bodyForAgent?: unknown;
    };
    bootstrapFiles: {
      /** The files that the agent is given at its start. */ bootstrapFiles?: unknown;
    };
    cfg: {
      /** OpenClaw's configuration object. It does not cross into the sandbox. */ cfg?: unknown;
    };
    channelId: {
      /** The channel. */ channelId?: unknown;
    };
    commandSource: {
      /** Where the command was typed. */ commandSource?: unknown;
    };
    compactedCount: {
      /** How many messages were compacted. */ compactedCount?: unknown;
    };
    compactingCount: {
      /** How many messages will be compacted. */ compactingCount?: unknown;
    };
    content: {
      /** The text of the message. */ content?: unknown;
    };
    conversationId: {
      /** The conversation in the channel. */ conversationId?: unknown;
    };
    data: {
      /** The event itself; its form depends on `stream`. */ data?: unknown;
    };
    deps: {
      /** OpenClaw's own functions. They do not cross into the sandbox. */ deps?: unknown;
    };
    error: {
      /** What went wrong. */ error?: unknown;
    };
    from: {
      /** The sender. */ from?: unknown;
    };
    groupId: {
      /** The group. */ groupId?: unknown;
    };
    isError: {
      /** True: the tool failed. */ isError?: unknown;
    };
    isGroup: {
      /** Is it a chat of several people? */ isGroup?: unknown;
    };
    lastMessage: {
      /** The last message of the session. */ lastMessage?: unknown;
    };
    mediaPath: {
      /** The file that came with the message. */ mediaPath?: unknown;
    };
    mediaType: {
      /** The media type of that file. */ mediaType?: unknown;
    };
    messageCount: {
      /** How many messages the session has. */ messageCount?: unknown;
    };
    messageId: {
      /** The message in the channel. */ messageId?: unknown;
    };
    meta: {
      /** More about the tool call, for people. */ meta?: unknown;
    };
    metadata: {
      /** More about it, from the gateway or the channel. */ metadata?: unknown;
    };
    nextSessionId: {
      /** The session that follows. */ nextSessionId?: unknown;
    };
    nextSessionKey: {
      /** The key of the session that follows. */ nextSessionKey?: unknown;
    };
    partialResult: {
      /** What the tool has returned so far. */ partialResult?: unknown;
    };
    patch: {
      /** The fields that are changed. */ patch?: unknown;
    };
    previousSessionEntry: {
      /** What the gateway knew of the session before. */ previousSessionEntry?: unknown;
    };
    provider: {
      /** The provider of the model. */ provider?: unknown;
    };
    reason: {
      /** Why. */ reason?: unknown;
    };
    restartExpectedMs: {
      /** In how many milliseconds the gateway is expected back; without it, it does not come back by itself. */ restartExpectedMs?: unknown;
    };
    result: {
      /** What the tool returned. */ result?: unknown;
    };
    resumedFrom: {
      /** The session that is resumed. */ resumedFrom?: unknown;
    };
    runId: {
      /** The agent's run. */ runId?: unknown;
    };
    senderId: {
      /** The sender. */ senderId?: unknown;
    };
    senderName: {
      /** The sender's name for people. */ senderName?: unknown;
    };
    senderUsername: {
      /** The sender's name in the channel. */ senderUsername?: unknown;
    };
    seq: {
      /** The number of the event in its run. */ seq?: unknown;
    };
    sessionEntry: {
      /** What the gateway knows of the session. */ sessionEntry?: unknown;
    };
    sessionId: {
      /** The session; another one after a reset. */ sessionId?: unknown;
    };
    sessionKey: {
      /** The session, by its key, which stays after a reset. */ sessionKey?: unknown;
    };
    sessionMeta: {
      /** Where the session is: agent and channel. */ sessionMeta?: unknown;
    };
    stopReason: {
      /** Why the session has ended. */ stopReason?: unknown;
    };
    storePath: {
      /** The file in which the gateway keeps its sessions. */ storePath?: unknown;
    };
    stream: {
      /** The kind of event, such as `lifecycle` or `tool`. */ stream?: unknown;
    };
    success: {
      /** Did it work? */ success?: unknown;
    };
    summaryLength: {
      /** How many characters the summary has. */ summaryLength?: unknown;
    };
    surface: {
      /** The part of the channel that the message came through. */ surface?: unknown;
    };
    timestamp: {
      /** When it happened. */ timestamp?: unknown;
    };
    to: {
      /** The recipient. */ to?: unknown;
    };
    tokenCount: {
      /** How many tokens the conversation takes. */ tokenCount?: unknown;
    };
    tokensAfter: {
      /** How many tokens the conversation takes after it was compacted. */ tokensAfter?: unknown;
    };
    tokensBefore: {
      /** How many tokens the conversation took before it was compacted. */ tokensBefore?: unknown;
    };
    toolCallId: {
      /** The tool call; before and after have the same. */ toolCallId?: unknown;
    };
    toolName: {
      /** The tool. */ toolName?: unknown;
    };
    transcript: {
      /** The text of what was said in the message. */ transcript?: unknown;
    };
    transcriptArchived: {
      /** Was the transcript kept? */ transcriptArchived?: unknown;
    };
    ts: {
      /** When it happened, in milliseconds since 1970. */ ts?: unknown;
    };
    workspaceDir: {
      /** The agent's folder. */ workspaceDir?: unknown;
    };
  };
  location: {
    accuracy: {
      /** How far it may be off, in metres. */ accuracy?: unknown;
    };
    address: {
      /** The place's address. */ address?: unknown;
    };
    latitude: {
      /** The latitude, in degrees. */ latitude?: unknown;
    };
    longitude: {
      /** The longitude, in degrees. */ longitude?: unknown;
    };
    name: {
      /** The place's name. */ name?: unknown;
    };
  };
  patch: {
    elevatedLevel: {
      /** What the agent may do with more rights. */ elevatedLevel?: unknown;
    };
    execAsk: {
      /** When the user is asked before a command runs. */ execAsk?: unknown;
    };
    execHost: {
      /** Where commands run. */ execHost?: unknown;
    };
    execNode: {
      /** The node that commands run on. */ execNode?: unknown;
    };
    execSecurity: {
      /** Which commands may run. */ execSecurity?: unknown;
    };
    fastMode: {
      /** The model's fast mode. */ fastMode?: unknown;
    };
    groupActivation: {
      /** What wakes the agent in a group. */ groupActivation?: unknown;
    };
    key: {
      /** The session, by its key. */ key?: unknown;
    };
    label: {
      /** The session's name for people. */ label?: unknown;
    };
    model: {
      /** The model. */ model?: unknown;
    };
    reasoningLevel: {
      /** How much of the model's reasoning is shown. */ reasoningLevel?: unknown;
    };
    responseUsage: {
      /** How much of the usage is shown below an answer. */ responseUsage?: unknown;
    };
    sendPolicy: {
      /** Whether answers are sent. */ sendPolicy?: unknown;
    };
    spawnDepth: {
      /** How many agents called one another to start it. */ spawnDepth?: unknown;
    };
    spawnedBy: {
      /** The session that has started it. */ spawnedBy?: unknown;
    };
    spawnedWorkspaceDir: {
      /** The folder that it was started with. */ spawnedWorkspaceDir?: unknown;
    };
    subagentControlScope: {
      /** What it may control of other subagents. */ subagentControlScope?: unknown;
    };
    subagentRole: {
      /** What it is among subagents. */ subagentRole?: unknown;
    };
    thinkingLevel: {
      /** How much the model thinks. */ thinkingLevel?: unknown;
    };
    traceLevel: {
      /** How much is traced. */ traceLevel?: unknown;
    };
    verboseLevel: {
      /** How much the agent says about its work. */ verboseLevel?: unknown;
    };
  };
  proposal: {
    id: {
      /** The proposal. */ id?: unknown;
    };
    kind: {
      /** Whether it adds a skill or changes one. */ kind?: unknown;
    };
    revision: {
      /** The number of its revision. */ revision?: unknown;
    };
    revisionSha256: {
      /** SHA-256 of that revision. */ revisionSha256?: unknown;
    };
    skillKey: {
      /** The skill, by the key that its settings have. */ skillKey?: unknown;
    };
    skillName: {
      /** The skill's name. */ skillName?: unknown;
    };
    status: {
      /** What became of it. */ status?: unknown;
    };
    targetCurrentSha256: {
      /** SHA-256 of the skill as it is now. */ targetCurrentSha256?: unknown;
    };
  };
  providerUpdate: {
    id: {
      /** The update, as the channel numbers it. */ id?: unknown;
    };
    kind: {
      /** The kind of update. */ kind?: unknown;
    };
    messageId: {
      /** The message in the channel. */ messageId?: unknown;
    };
  };
  request: {
    kind: {
      /** What is to be installed: a plugin, a skill, and from where. */ kind?: unknown;
    };
    mode: {
      /** Whether it is new, or an update of what is there. */ mode?: unknown;
    };
    requestedSpecifier: {
      /** What the user has asked for, such as a package with its version. */ requestedSpecifier?: unknown;
    };
  };
  requester: {
    accountId: {
      /** The account of the channel, where it has several. */ accountId?: unknown;
    };
    channel: {
      /** The kind of channel, such as `telegram`. */ channel?: unknown;
    };
    channelId: {
      /** The channel. */ channelId?: unknown;
    };
    messageId: {
      /** The message in the channel. */ messageId?: unknown;
    };
    roleIds: {
      /** The sender's roles in the channel. */ roleIds?: unknown;
    };
    senderId: {
      /** The sender. */ senderId?: unknown;
    };
    senderIsOwner: {
      /** Is the sender the owner of the gateway? */ senderIsOwner?: unknown;
    };
    threadId: {
      /** The thread in the conversation. */ threadId?: unknown;
    };
    to: {
      /** The recipient. */ to?: unknown;
    };
  };
  requesterOrigin: {
    accountId: {
      /** The account of the channel, where it has several. */ accountId?: unknown;
    };
    channel: {
      /** The kind of channel, such as `telegram`. */ channel?: unknown;
    };
    threadId: {
      /** The thread in the conversation. */ threadId?: unknown;
    };
    to: {
      /** The recipient. */ to?: unknown;
    };
  };
  sender: {
    id: {
      /** The sender, as the channel numbers them. */ id?: unknown;
    };
  };
  sessionMeta: {
    agentId: {
      /** The agent. */ agentId?: unknown;
    };
    channelId: {
      /** The channel. */ channelId?: unknown;
    };
    channelType: {
      /** The kind of chat. */ channelType?: unknown;
    };
    platform: {
      /** The channel's platform. */ platform?: unknown;
    };
  };
  skill: {
    description: {
      /** What the skill says that it is for. */ description?: unknown;
    };
    name: {
      /** The skill's name. */ name?: unknown;
    };
    skillKey: {
      /** The skill, by the key that its settings have. */ skillKey?: unknown;
    };
    source: {
      /** Where it came from. */ source?: unknown;
    };
  };
  skillMd: {
    content: {
      /** The text of the file. */ content?: unknown;
    };
    encoding: {
      /** How the content is encoded. */ encoding?: unknown;
    };
    path: {
      /** The path of the file in the skill. */ path?: unknown;
    };
    sha256: {
      /** SHA-256 of the content. */ sha256?: unknown;
    };
    sizeBytes: {
      /** How many bytes the file has. */ sizeBytes?: unknown;
    };
  };
  trace: {
    parentSpanId: {
      /** The span that caused this one. */ parentSpanId?: unknown;
    };
    spanId: {
      /** The span of the trace. */ spanId?: unknown;
    };
    traceFlags: {
      /** The flags of W3C Trace Context, such as whether the trace is recorded. */ traceFlags?: unknown;
    };
    traceId: {
      /** The trace. */ traceId?: unknown;
    };
  };
  usage: {
    cacheRead: {
      /** Tokens that were read from the provider's cache. */ cacheRead?: unknown;
    };
    cacheWrite: {
      /** Tokens that were written to the provider's cache. */ cacheWrite?: unknown;
    };
    input: {
      /** Tokens that the model has read. */ input?: unknown;
    };
    output: {
      /** Tokens that the model has written. */ output?: unknown;
    };
    total: {
      /** All of them. */ total?: unknown;
    };
  };
  usageState: {
    durationMs: {
      /** How long it took, in milliseconds. */ durationMs?: unknown;
    };
    model: {
      /** The model. */ model?: unknown;
    };
    provider: {
      /** The provider of the model. */ provider?: unknown;
    };
    resolvedRef: {
      /** The model that was chosen, as provider and name. */ resolvedRef?: unknown;
    };
    usage: {
      /** The tokens that were used. */ usage?: unknown;
    };
  };
}
