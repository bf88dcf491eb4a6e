/**
 * The scripted messages of the demo. The timeline says that they are scripted; what the plugins do with them is real.
 */
import { fileURLToPath } from "node:url";
import type { Catalog, EventOf } from "../../protocol/catalog.ts";
import type { PluginSpec } from "../../discovery/plugin-spec.ts";

const SESSION = "agent:main:demo";
/** Put together here, so that no scanner takes it for a real one. */
const FAKE_TOKEN = ["ghp", "notARealToken0123456789"].join("_");

export const USER = "Which release of Creel is the newest, and how do I deploy it?";
export const TOOL_RESULT = "creel 0.1.0, the first release";
export const REPLY = `The newest is 0.1.0. Deploy it with ${FAKE_TOKEN}.`;
export const MEANWHILE = `Your build is done. It used ${FAKE_TOKEN} to publish.`;
export const REPLY_WITHOUT_TOOL = "I could not search just now. As far as I remember, it is 0.1.0.";

export const AGENT_CONTEXT = { agentId: "main", sessionKey: SESSION, channel: "demo" };
export const TOOL_CONTEXT = { ...AGENT_CONTEXT, toolName: "web_search" };
export const MESSAGE_CONTEXT = { channelId: "demo", sessionKey: SESSION };
export const OTHER_CHAT_CONTEXT = { channelId: "demo", sessionKey: "agent:main:other" };

export const PROMPT: EventOf<Catalog["before_prompt_build"]> = { prompt: USER, messages: [{ role: "user", content: USER }] };
export const SEARCH: EventOf<Catalog["before_tool_call"]> = {
  toolName: "web_search",
  params: { query: "creel newest release" },
  toolCallId: "call-1",
};
export const toolResult = (content: string): EventOf<Catalog["tool_result_persist"]> => ({
  toolName: "web_search",
  toolCallId: "call-1",
  message: { role: "toolResult", content },
});
export const patched = (patch: { model?: string; label?: string }): EventOf<Catalog["session:patch"]> => ({
  type: "session",
  action: "patch",
  sessionKey: SESSION,
  timestamp: new Date().toISOString(),
  context: { sessionEntry: { sessionId: "demo", ...patch }, patch: { key: SESSION, ...patch } },
});
export const reply = (content: string): EventOf<Catalog["message_sending"]> => ({ to: "user", content });

const example = (name: string): PluginSpec => ({ path: fileURLToPath(new URL(`../../../plugins-examples/${name}`, import.meta.url)) });

const HOUSE_RULES: PluginSpec = {
  id: "house-rules",
  source: 'export default (api) => api.on("before_prompt_build", () => ({ appendContext: "Answer in one or two sentences." }));',
  hooks: { allowConversationAccess: true },
};

/**
 * In this order, the endless loop shares a lane with tool-preflight and session-audit; the others are on another
 * thread.
 */
export const LANES = 2;
export const CAST: readonly PluginSpec[] = [example("tool-preflight"), example("redact-secrets"), example("session-audit"), HOUSE_RULES];
/** Its CPU budget stops it. On a busy machine a thread needs longer than a hook's usual time to use that up. */
export const ENDLESS_LOOP: PluginSpec = { ...example("endless-loop"), hooks: { timeoutMs: 5_000 } };
