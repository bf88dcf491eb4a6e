/**
 * Plugins that do what the event says: `event.do[<plugin id>]` is the body of the handler, compiled inside the isolate.
 * One host with a few actors plays every scene of a suite. `state` lives as long as the actor's cell.
 */
import type { PluginSpec } from "creel";

export interface ActorOptions {
  readonly priority?: number;
  /** Which hooks it listens to; default all of the catalog. */
  readonly on?: readonly string[];
  readonly options?: Record<string, unknown>;
  readonly hooks?: PluginSpec["hooks"];
}

export const HOOKS = [
  "before_prompt_build",
  "before_agent_reply",
  "agent_end",
  "before_tool_call",
  "tool_result_persist",
  "message_sending",
  "session:patch",
] as const;

const SOURCE = `
const state = { seen: [], born: Math.random() };
const AsyncFunction = (async () => {}).constructor;
export default (api) => {
  const { on, options } = api.pluginConfig;
  for (const hook of on) {
    api.on(hook, (event, ctx) => {
      const code = event.do?.[api.id];
      if (code === undefined) return;
      const isAsync = code.startsWith("async ");
      return (isAsync ? AsyncFunction : Function)("event", "ctx", "state", "api", isAsync ? code.slice(6) : code)(event, ctx, state, api);
    }, options);
  }
};`;

export function actor(id: string, { priority, on = HOOKS, options, hooks }: ActorOptions = {}): PluginSpec {
  return {
    id,
    source: SOURCE,
    config: { on: [...on], options: { ...(priority !== undefined && { priority }), ...options } },
    // A generous budget: on a busy machine a turn may take long without doing much.
    hooks: { allowConversationAccess: true, allowInstallDecisions: true, cpuMs: 2_000, ...hooks },
  };
}

/** What each actor does: the body of its handler; starts with "async " for an asynchronous one. */
export type Script = Readonly<Record<string, string>>;

export const toolCall = (script: Script, params: Record<string, unknown> = {}, toolName = "web_search") => ({
  toolName,
  params,
  do: script,
});
export const sending = (script: Script, content = "hello") => ({ to: "alice", content, do: script });
export const prompt = (script: Script) => ({ prompt: "p", messages: [], do: script });
export const agentReply = (script: Script) => ({ cleanedBody: "b", do: script });
export const agentEnd = (script: Script) => ({ messages: [], success: true, do: script });
export const persist = (script: Script, message: Record<string, unknown> = { text: "orig" }) => ({ message, do: script });
export const patched = (script: Script) => ({
  type: "session" as const,
  action: "patch" as const,
  sessionKey: "k",
  context: { sessionEntry: {}, patch: { key: "k" } },
  do: script,
});

/** Asks an actor for a value of its state. */
export async function ask(
  host: { run(hook: "message_sending", event: object, ctx: { channelId: string }): Promise<unknown> },
  id: string,
  expression: string,
): Promise<unknown> {
  const outcome = (await host.run(
    "message_sending",
    sending({ [id]: `return { cancelReason: JSON.stringify(${expression}) ?? "null" }` }),
    { channelId: "chat" },
  )) as {
    result?: { cancelReason?: string };
  };
  return JSON.parse(outcome.result?.cancelReason ?? "null");
}
