/**
 * What every contestant runs. A handler is one text, compiled by the floors and by Creel alike, so that no two
 * contestants can differ in the work that counts. The inputs rotate, so that no call is the exact repetition of the last.
 */
import type { ContextOf, EventOf, Catalog, PluginSpec } from "creel";

export interface Work {
  readonly hook: "before_tool_call" | "after_tool_call" | "before_prompt_build" | "message_sending";
  /** A JavaScript expression: the handler function. */
  readonly handler: string;
  readonly events: readonly object[];
  readonly context: object;
  /** What a plugin with this handler must be allowed. */
  readonly allowed?: Pick<PluginSpec, "grants" | "hooks">;
  /** What it does before it registers its handler, `api` at hand. */
  readonly first?: string;
}

type ToolEvent = EventOf<Catalog["before_tool_call"]>;

/** A policy gate as people write them: look at the command, let most pass, block some, rewrite some. */
const GATE = `(event) => {
  const command = event.params.command;
  if (typeof command !== "string") return;
  if (/\\brm\\s+-[a-z]*r[a-z]*f|\\bmkfs\\b|\\bdd\\s+if=/.test(command)) return { block: true, blockReason: "destructive command: " + command };
  if (/\\bgit\\s+push\\b.*--force(?!-with-lease)/.test(command)) return { params: { command: command.replace("--force", "--force-with-lease") } };
}`;

const HARMLESS = [
  "ls -la src",
  "cat package.json",
  "npm test -- --run",
  "git status --short",
  "grep -rn TODO src",
  "node --version",
  "pwd",
];

function toolEvent(command: string, at: number): ToolEvent {
  return {
    toolName: "exec",
    params: { command, cwd: "/home/user/project", timeoutSec: 120, env: { CI: "1" } },
    runId: `run-${at}`,
    toolCallId: `call_${at.toString(16).padStart(24, "0")}`,
  };
}

const toolContext: ContextOf<Catalog["before_tool_call"]> = {
  toolName: "exec",
  agentId: "main",
  sessionKey: "agent:main:telegram:dm:123456",
  sessionId: "2f1c7c3e-9a54-4f0e-8f0b-1d2c3b4a5968",
  runId: "run-1",
  toolCallId: "call_1",
  channelId: "telegram",
};

/** Of sixteen tool calls, fourteen pass, one is rewritten, one is blocked. */
export const POLICY_GATE: Work = {
  hook: "before_tool_call",
  handler: GATE,
  events: [...HARMLESS, "git push --force origin main", ...HARMLESS, "rm -rf ./build"].map(toolEvent),
  context: toolContext,
};

/** The gate where nothing is ever in its way: the handler returns nothing, a chain of them runs to its end. */
export const PASSING_GATE: Work = { ...POLICY_GATE, events: HARMLESS.map(toolEvent) };

/** Always rewrites, so that each handler of a chain sees another event. */
export const EXCLAIM: Work = {
  hook: "message_sending",
  handler: `(e) => ({ content: e.content + "!" })`,
  events: ["Done. All 214 tests pass.", "I could not find that file; did you mean src/index.ts?"].map((content, at) => ({
    to: `telegram:${123456 + at}`,
    content,
    replyToId: 4711 + at,
    metadata: { silent: false },
  })),
  context: { channelId: "telegram", accountId: "default", conversationId: "dm:123456" },
};

/** What most plugins look like: asynchronous, sees its context, rewrites. */
export const TAILORING: Work = {
  hook: "before_tool_call",
  handler: `async (event, ctx) => ({
    params: { ...event.params, env: { ...event.params.env, AGENT: ctx.agentId, SESSION: ctx.sessionKey } },
  })`,
  events: HARMLESS.map(toolEvent),
  context: toolContext,
};

/** Looks, remembers a number, says nothing: what loggers and meters do. */
export const OBSERVER: Work = {
  hook: "after_tool_call",
  handler: `(event) => {
    globalThis.spent = (globalThis.spent ?? 0) + (event.durationMs ?? 0);
    if (event.error !== undefined) globalThis.failed = (globalThis.failed ?? 0) + 1;
  }`,
  events: HARMLESS.map((command, at) => ({
    ...toolEvent(command, at),
    result: { content: [{ type: "text", text: `${command}: done` }], exitCode: 0 },
    durationMs: 12 + at,
  })),
  context: toolContext,
};

/** The gate that first asks its own store whether the agent is trusted. The store is part of the work, so floors have it, too. */
export const KV_GATE: Work = {
  ...PASSING_GATE,
  first: `api.kv.set("trusted:main", true);`,
  handler: `async (event, context) => {
    if (await api.kv.get("trusted:" + context.agentId)) return;
    return { block: true, blockReason: "not trusted" };
  }`,
  allowed: { grants: { kv: true } },
};

/** Finds the last thing the user said, in a long conversation, and adds a line to the prompt. */
const REMIND = `(event) => {
  const last = event.messages.findLast((message) => message.role === "user");
  return { appendContext: "The user's last message has " + last.content.length + " characters." };
}`;

const WORDS = "The build failed in step four because the lock file names a package that the registry does not have. ".repeat(4);

/** A prompt modifier with so many bytes of messages. */
export function promptOf(bytes: number): Work {
  const messages: object[] = [];
  for (let length = 0, at = 0; length < bytes; at++) {
    const message = { role: at % 2 ? "assistant" : "user", content: `${at}: ${WORDS}`.slice(0, Math.max(16, bytes - length - 32)) };
    length += JSON.stringify(message).length + 1;
    messages.push(message);
  }
  return {
    hook: "before_prompt_build",
    handler: REMIND,
    // Two, so that no call repeats the last one's object.
    events: [0, 1].map((at) => ({ prompt: `and now? (${at})`, messages: [...messages] })),
    context: { runId: "run-1", agentId: "main", sessionKey: "agent:main:telegram:dm:123456", channelId: "telegram" },
    allowed: { hooks: { allowConversationAccess: true, allowPromptInjection: true } },
  };
}

/** The same handler as plugins of Creel's. */
export function asPlugins({ hook, handler, allowed, first = "" }: Work, count: number): PluginSpec[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `bench-${at}`,
    source: `export default (api) => { ${first} api.on(${JSON.stringify(hook)}, ${handler}) }`,
    ...allowed,
  }));
}

/** Plugins that are there and listen to something else. */
export function bystanders(count: number): PluginSpec[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `bystander-${at}`,
    source: `export default (api) => { api.on("gateway_stop", () => {}) }`,
  }));
}

export function eventAt({ events }: Work, call: number): object {
  return events[call % events.length]!;
}
