/**
 * Trusted side: hooks that OpenClaw does not have, made from those it has: `session:start` and `session:end`, `tool:*`, the hooks around
 * a turn, and `before_agent_start`, which older plugins use. Each plugin is told by runs of its own.
 */
import { SessionEvents } from "../sdk/gateway/session-events.ts";
import { startToolBridge } from "../sdk/gateway/tool-bridge.ts";
import { stopReasonOf } from "../sdk/gateway/stop-reason.ts";
import type { AgentEnd } from "../sdk/gateway/stop-reason.ts";
import { isShut } from "./closed-hook.ts";
import { shut, untyped, visible } from "./hook-handlers.ts";
import type { Fields } from "./gateway-api.ts";
import { messageOf } from "./shared-host.ts";
import type { Attachment, SharedHost } from "./shared-host.ts";

/** `llm_output`, which has the usage, comes after `agent_end`. */
const USAGE_MS = 50;
const MAX_TURNS = 1_000;

interface Ran {
  readonly decision: string;
  readonly result: Fields | undefined;
  readonly reason: string | undefined;
}

export function registerDerived(attachment: Attachment, shared: SharedHost): void {
  const { facts, api } = attachment;
  const has = (...names: string[]): boolean => facts.hooks.some(({ hook }) => names.includes(hook));
  const run = async (hook: string, event: unknown, ctx?: Fields): Promise<Ran> => {
    const host = untyped(await shared.ready(attachment));
    const { decision, result, reason } = await host.run(hook, event, ctx, { plugin: facts.id });
    return { decision, result: result as Fields | undefined, reason };
  };
  const emit = (hook: string, event: unknown): void =>
    void run(hook, event).catch((error: unknown) => api.logger.error(`creel: ${hook} of ${facts.id} was not run: ${messageOf(error)}`));
  // OpenClaw shows conversations only to plugins that the operator lets read them.
  const seesConversations = api.runtime.config.current().plugins?.entries?.[facts.id]?.hooks?.allowConversationAccess === true;
  if (has("session:start", "session:end", "session")) sessions(attachment, emit, seesConversations);
  if (has("tool:start", "tool:update", "tool:result", "tool") && api.registrationMode === "full" && api.runtime.events) {
    const stop = startToolBridge({ emit }, (listener) => api.runtime.events!.onAgentEvent(listener));
    api.lifecycle?.onDispose?.(stop);
  }
  if (has("agent:event") && api.registrationMode === "full" && api.runtime.events && seesConversations)
    api.lifecycle?.onDispose?.(
      api.runtime.events.onAgentEvent((event: Fields) => {
        const { runId, seq, stream, ts, data, sessionKey, agentId } = event;
        const context = { runId, seq, stream, ts, data, sessionKey, agentId };
        emit("agent:event", { type: "agent", action: "event", sessionKey: sessionKey ?? "", timestamp: new Date(), context });
      }),
    );
  if (has("beforeTurn", "afterTurn", "onTurnError") && seesConversations) turns(attachment, run, emit);
  else if (has("beforeTurn"))
    api.logger.warn(
      `creel: ${facts.id} cannot end turns: OpenClaw shows it none without plugins.entries.${facts.id}.hooks.allowConversationAccess`,
    );
  if (has("before_agent_start")) agentStart(attachment, run);
}

/**
 * OpenClaw ran `before_agent_start` once, before it chose the model, and kept what it said about the prompt until that was built. So does
 * this, with the two hooks that took its place.
 */
function agentStart(attachment: Attachment, run: (hook: string, event: unknown, ctx?: Fields) => Promise<Ran>): void {
  const { facts, api } = attachment;
  const shuts = facts.hooks.some((one) => one.hook === "before_agent_start" && isShut(one));
  /** What was said about the prompt, by run. */
  const prompts = new Map<string, Fields>();
  const priority = Math.max(...facts.hooks.flatMap((one) => (one.hook === "before_agent_start" ? [one.priority] : [])));
  const request = async (event: Fields, ctx: Fields): Promise<{ model: Fields; prompt: Fields }> => {
    try {
      const { decision, result, reason } = await run("before_agent_start", event, visible(ctx));
      if (decision === "block") shut(attachment, "before_agent_start", event, ctx, reason ?? "it failed");
      const { modelOverride, providerOverride, ...prompt } = result ?? {};
      return {
        model: { ...(modelOverride !== undefined && { modelOverride }), ...(providerOverride !== undefined && { providerOverride }) },
        prompt,
      };
    } catch (error) {
      const why = `creel: before_agent_start of ${facts.id} was not run: ${messageOf(error)}`;
      api.logger.error(why);
      if (shuts) shut(attachment, "before_agent_start", event, ctx, why);
      return { model: {}, prompt: {} };
    }
  };
  api.on(
    "before_model_resolve",
    async (event, ctx) => {
      const { model, prompt } = await request(event, ctx);
      // A run that ends before its prompt is built leaves its entry behind.
      if (prompts.size >= MAX_TURNS) prompts.delete(prompts.keys().next().value!);
      prompts.set(String(ctx.runId), prompt);
      return model;
    },
    { priority },
  );
  api.on(
    "before_prompt_build",
    async (event, ctx) => {
      const runId = String(ctx.runId);
      const known = prompts.get(runId);
      prompts.delete(runId);
      return known ?? (await request(event, ctx)).prompt;
    },
    { priority },
  );
}

function sessions({ api }: Attachment, emit: (hook: string, event: unknown) => void, seesConversations: boolean): void {
  const events = new SessionEvents({ emit });
  api.on("session_start", (event) => events.started(event as never));
  if (seesConversations)
    api.on("agent_end", (event, ctx) => {
      if (typeof ctx.sessionId === "string") events.ran(ctx.sessionId, event as unknown as AgentEnd);
    });
  api.on("session_end", (event) => {
    const { sessionId, sessionKey, reason, messageCount, nextSessionId } = event;
    events.ended({ sessionId, sessionKey, metadata: { reason, messageCount, nextSessionId } } as never);
  });
}

interface Turn {
  readonly startedMs: number;
  readonly event: Fields;
  isSkipped: boolean;
  usage?: unknown;
}

/** A turn begins with `before_agent_run` and ends with `agent_end`. */
function turns(
  { api }: Attachment,
  run: (hook: string, event: unknown) => Promise<Ran>,
  emit: (hook: string, event: unknown) => void,
): void {
  const open = new Map<string, Turn>();
  const counts = new Map<string, number>();
  api.on("before_agent_run", async (_, ctx) => {
    const { runId, sessionKey = "", agentId = "", modelId } = ctx as Record<string, string | undefined>;
    const turnIndex = counts.get(sessionKey) ?? 0;
    if (counts.size < MAX_TURNS || counts.has(sessionKey)) counts.set(sessionKey, turnIndex + 1);
    const event = { sessionKey, agentId, ...(modelId !== undefined && { model: modelId }), turnIndex, workflow: "agent" };
    const turn: Turn = { startedMs: performance.now(), event, isSkipped: false };
    if (runId !== undefined && open.size < MAX_TURNS) open.set(runId, turn);
    const { decision, reason } = await run("beforeTurn", event);
    turn.isSkipped = decision === "abort";
    return turn.isSkipped ? { outcome: "block", reason: reason ?? "a plugin skipped the turn" } : undefined;
  });
  api.on("llm_output", (event, ctx) => {
    const turn = open.get(String(ctx.runId));
    if (turn) turn.usage = event.usage;
  });
  api.on("agent_end", (event, ctx) => {
    const turn = open.get(String(ctx.runId));
    if (!turn) return;
    const durationMs = performance.now() - turn.startedMs;
    // A refused model call counts as a success in OpenClaw.
    const hasFailed = stopReasonOf(event as unknown as AgentEnd) === "error";
    setTimeout(() => {
      open.delete(String(ctx.runId));
      if (turn.isSkipped) return;
      if (hasFailed)
        emit("onTurnError", { ...turn.event, durationMs, error: typeof event.error === "string" ? event.error : "the turn failed" });
      else emit("afterTurn", { ...turn.event, durationMs, ...(turn.usage !== undefined && { usage: turn.usage }) });
    }, USAGE_MS).unref();
  });
}
