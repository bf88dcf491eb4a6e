/** The stage of the conformance tests: A and B, as the facts call them, and the smallest event of each hook. */
import type { OpenOptions } from "creel";
import { actor } from "../support/actors.ts";
import type { ActorOptions, Script } from "../support/actors.ts";
import { sharedHost } from "../support/host.ts";
import type { Isolation } from "../support/host.ts";

/** What `ask` of the actors goes through. */
const ASKED = "message_sending";

/** An actor that listens to these hooks and can be asked for its state. */
export function player(id: string, on: readonly string[], options: ActorOptions = {}) {
  return actor(id, { ...options, on: [...new Set([...on, ASKED])] });
}

/** A host with plugin "a" of priority 10 and plugin "b" of priority 0, and more if given. */
export function pair(isolation: Isolation, on: readonly string[], { plugins = [], ...options }: OpenOptions = {}) {
  const plugin = { a: player("a", on, { priority: 10 }), b: player("b", on, { priority: 0 }) };
  return sharedHost(isolation, { ...options, plugins: [plugin.a, plugin.b, ...plugins] });
}

export const modelResolve = (script: Script) => ({ prompt: "p", do: script });
export const agentStart = (script: Script) => ({ prompt: "p", do: script });
export const agentRun = (script: Script) => ({ prompt: "p", messages: [], do: script });
export const finalize = (script: Script) => ({ sessionId: "s", stopHookActive: false, do: script });
export const payload = (script: Script, given: Record<string, unknown> = { text: "o" }) => ({
  payload: given,
  kind: "final" as const,
  do: script,
});
export const inbound = (script: Script) => ({ content: "c", channel: "chat", isGroup: false, do: script });
export const dispatch = (script: Script, content = "c") => ({ content, do: script });
export const replyDispatch = (script: Script) => ({
  ctx: {},
  inboundAudio: false,
  shouldRouteToOriginating: false,
  shouldSendToolSummaries: false,
  sendPolicy: "allow" as const,
  do: script,
});
export const install = (script: Script) => ({
  targetType: "plugin" as const,
  targetName: "t",
  sourcePath: "/t",
  sourcePathKind: "directory" as const,
  request: { kind: "plugin", mode: "install" as const },
  builtinScan: { status: "ok" as const, scannedFiles: 1, critical: 0, warn: 0, info: 0, findings: [] },
  do: script,
});
export const spawning = (script: Script) => ({
  childSessionKey: "k",
  agentId: "main",
  mode: "run" as const,
  threadRequested: true,
  do: script,
});
export const command = (script: Script) => ({
  type: "command" as const,
  action: "new" as const,
  sessionKey: "k",
  context: {},
  do: script,
});
