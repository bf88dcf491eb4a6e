/**
 * What fields inside of fields mean, such as `requireApproval.timeoutMs`: by the field that they are in, where they mean something else
 * there than src/protocol/hooks/field-words.ts says, or are only there. Editors show it (field-docs.ts). A test demands a sentence for each.
 */
import { FIELD_WORDS } from "../src/protocol/hooks/field-words.ts";

const SKILL = {
  description: "What the skill says that it is for.",
  name: "The skill's name.",
  skillKey: "The skill, by the key that its settings have.",
} as const;
const SKILL_FILE = { ...SKILL, skillDir: "The skill's folder.", skillFile: "The skill's file." } as const;
const SNAPSHOT = {
  files: "The skill's other files, with their contents.",
  skillMd: "The skill's `SKILL.md`.",
  treeSha256: "SHA-256 of all files together.",
} as const;

const INNER_WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  after: SKILL_FILE,
  baseline: SNAPSHOT,
  before: SKILL_FILE,
  builtinScan: {
    critical: "How many findings are critical.",
    info: "How many findings are only for information.",
    scannedFiles: "How many files were scanned.",
    warn: "How many findings are warnings.",
  },
  candidate: SNAPSHOT,
  channelContext: { chat: "The chat that the message is from.", sender: "Who sent the message." },
  chat: { id: "The chat, as the channel numbers it." },
  context: {
    args: "What the tool is called with.",
    bootstrapFiles: "The files that the agent is given at its start.",
    commandSource: "Where the command was typed.",
    data: "The event itself; its form depends on `stream`.",
    deps: "OpenClaw's own functions. They do not cross into the sandbox.",
    groupId: "The group.",
    isError: "True: the tool failed.",
    lastMessage: "The last message of the session.",
    mediaPath: "The file that came with the message.",
    mediaType: "The media type of that file.",
    meta: "More about the tool call, for people.",
    partialResult: "What the tool has returned so far.",
    patch: "The fields that are changed.",
    previousSessionEntry: "What the gateway knew of the session before.",
    restartExpectedMs: "In how many milliseconds the gateway is expected back; without it, it does not come back by itself.",
    seq: "The number of the event in its run.",
    sessionEntry: "What the gateway knows of the session.",
    sessionMeta: "Where the session is: agent and channel.",
    stopReason: "Why the session has ended.",
    storePath: "The file in which the gateway keeps its sessions.",
    stream: "The kind of event, such as `lifecycle` or `tool`.",
    summaryLength: "How many characters the summary has.",
    surface: "The part of the channel that the message came through.",
    tokensAfter: "How many tokens the conversation takes after it was compacted.",
    tokensBefore: "How many tokens the conversation took before it was compacted.",
    ts: "When it happened, in milliseconds since 1970.",
  },
  counts: {
    block: "How many parts of a reply were sent.",
    final: "How many final replies were sent.",
    tool: "How many results of tools were sent.",
  },
  location: {
    accuracy: "How far it may be off, in metres.",
    address: "The place's address.",
    latitude: "The latitude, in degrees.",
    longitude: "The longitude, in degrees.",
    name: "The place's name.",
  },
  patch: {
    elevatedLevel: "What the agent may do with more rights.",
    execAsk: "When the user is asked before a command runs.",
    execHost: "Where commands run.",
    execNode: "The node that commands run on.",
    execSecurity: "Which commands may run.",
    fastMode: "The model's fast mode.",
    groupActivation: "What wakes the agent in a group.",
    key: "The session, by its key.",
    label: "The session's name for people.",
    reasoningLevel: "How much of the model's reasoning is shown.",
    responseUsage: "How much of the usage is shown below an answer.",
    sendPolicy: "Whether answers are sent.",
    spawnDepth: "How many agents called one another to start it.",
    spawnedBy: "The session that has started it.",
    spawnedWorkspaceDir: "The folder that it was started with.",
    subagentControlScope: "What it may control of other subagents.",
    subagentRole: "What it is among subagents.",
    thinkingLevel: "How much the model thinks.",
    traceLevel: "How much is traced.",
    verboseLevel: "How much the agent says about its work.",
  },
  proposal: {
    id: "The proposal.",
    kind: "Whether it adds a skill or changes one.",
    revision: "The number of its revision.",
    revisionSha256: "SHA-256 of that revision.",
    skillKey: "The skill, by the key that its settings have.",
    skillName: "The skill's name.",
    status: "What became of it.",
    targetCurrentSha256: "SHA-256 of the skill as it is now.",
  },
  providerUpdate: { id: "The update, as the channel numbers it.", kind: "The kind of update." },
  request: {
    kind: "What is to be installed: a plugin, a skill, and from where.",
    mode: "Whether it is new, or an update of what is there.",
    requestedSpecifier: "What the user has asked for, such as a package with its version.",
  },
  requester: { roleIds: "The sender's roles in the channel." },
  requireApproval: {
    allowedDecisions: "The answers that the user may choose from; all if unset.",
    description: "What the user is asked to allow, in a few sentences.",
    onResolution: "Called with the answer, in the sandbox, also when there was none in time.",
    pluginId: "The plugin that asks. The host sets it.",
    scope: "What `allow-always` is remembered for, beside plugin, tool, agent and title.",
    severity: "How the question is shown.",
    timeoutBehavior: "What happens without an answer: `deny` if unset.",
    timeoutMs: "How long the user has to answer, within the operator's limit.",
    timeoutReason: "What the agent is told when there was no answer.",
    title: "The question, in a line.",
  },
  retry: {
    idempotencyKey: "Retries with the same key count as one.",
    instruction: "What the agent is told to do instead.",
    maxAttempts: "How often it may be tried again.",
  },
  sender: { id: "The sender, as the channel numbers them." },
  sessionMeta: { channelType: "The kind of chat.", platform: "The channel's platform." },
  skill: SKILL,
  skillMd: {
    content: "The text of the file.",
    encoding: "How the content is encoded.",
    path: "The path of the file in the skill.",
    sha256: "SHA-256 of the content.",
    sizeBytes: "How many bytes the file has.",
  },
  trace: { traceFlags: "The flags of W3C Trace Context, such as whether the trace is recorded." },
  usage: {
    cacheRead: "Tokens that were read from the provider's cache.",
    cacheWrite: "Tokens that were written to the provider's cache.",
    input: "Tokens that the model has read.",
    output: "Tokens that the model has written.",
    total: "All of them.",
  },
};

/** Undefined: nobody has written one. */
export function innerWords(parent: string, name: string): string | undefined {
  return INNER_WORDS[parent]?.[name] ?? FIELD_WORDS[name];
}

/** Those that have words of their own, as `parent.name`. */
export function innerNames(): string[] {
  return Object.entries(INNER_WORDS).flatMap(([parent, words]) => Object.keys(words).map((name) => `${parent}.${name}`));
}
