/**
 * Trusted side: the tool bridge. An agent's own event stream says when its tools start, make progress and finish; the bridge makes
 * `tool:start`, `tool:update` and `tool:result` of it, so that plugins can show what an agent is doing. It decides nothing and
 * waits for nothing: updates are passed on as they come, and a plugin that talks to a rate-limited service throttles itself.
 */
import type { Catalog, EventOf } from "../../protocol/catalog.ts";
import { parseSessionKey } from "./session-key.ts";

/** What a gateway's agent says about itself. Only the stream `tool` is of interest here. */
export interface AgentEvent {
  readonly runId: string;
  /** `tool`, `lifecycle`, `assistant`, … */
  readonly stream: string;
  readonly sessionKey?: string | undefined;
  /** Of the stream `tool`: `{ phase, name, toolCallId, args?, partialResult?, result?, isError?, meta? }`. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  /** Milliseconds since 1970; now, if it is missing. */
  readonly ts?: number | undefined;
}

/** The gateway's own way to listen to agents; gives the function that ends the subscription. */
export type OnAgentEvent = (listener: (event: AgentEvent) => void) => () => void;

/** What the bridge needs of a host. */
export interface ToolBridgeHost {
  emit(hook: "tool:start", event: EventOf<Catalog["tool:start"]>): void;
  emit(hook: "tool:update", event: EventOf<Catalog["tool:update"]>): void;
  emit(hook: "tool:result", event: EventOf<Catalog["tool:result"]>): void;
}

const running = new WeakMap<ToolBridgeHost, WeakMap<OnAgentEvent, () => void>>();

/**
 * Starts the bridge and gives the function that stops it. Starting it again for the same host and the same `subscribe` gives the
 * same function and subscribes once; after a stop it can be started anew.
 */
export function startToolBridge(host: ToolBridgeHost, subscribe: OnAgentEvent): () => void {
  const bridges = running.get(host) ?? new WeakMap<OnAgentEvent, () => void>();
  running.set(host, bridges);
  const started = bridges.get(subscribe);
  if (started) return started;
  const unsubscribe = subscribe((event) => bridge(host, event));
  const stop = (): void => {
    if (bridges.get(subscribe) !== stop) return;
    bridges.delete(subscribe);
    unsubscribe();
  };
  bridges.set(subscribe, stop);
  return stop;
}

function bridge(host: ToolBridgeHost, { runId, stream, sessionKey, data, ts }: AgentEvent): void {
  if (stream !== "tool" || typeof data !== "object" || data === null) return;
  const { phase, name, toolCallId, args, partialResult, result, isError, meta } = data;
  // Without its ids an event cannot be joined to the call it belongs to.
  if (typeof name !== "string" || name === "" || typeof toolCallId !== "string" || toolCallId === "") return;
  const base = { type: "tool" as const, sessionKey: sessionKey ?? "", timestamp: dateOf(ts) };
  const context = { runId, toolName: name, toolCallId, meta: metaOf(meta), sessionMeta: parseSessionKey(sessionKey) };
  // Each phase carries its own fields and no others: a result is not also sent as the last update.
  switch (phase) {
    case "start":
      return host.emit("tool:start", { ...base, action: "start", context: { ...context, args } });
    case "update":
      return host.emit("tool:update", { ...base, action: "update", context: { ...context, partialResult } });
    case "result":
      return host.emit("tool:result", {
        ...base,
        action: "result",
        context: { ...context, result, ...(typeof isError === "boolean" && { isError }) },
      });
    default:
  }
}

function dateOf(ts: unknown): Date {
  const date = new Date(typeof ts === "number" ? ts : Date.now());
  return Number.isNaN(date.getTime()) ? new Date() : date;
}

/** OpenClaw's own tools put a line of text here; plugins are promised an object. */
function metaOf(meta: unknown): Record<string, unknown> {
  if (typeof meta === "object" && meta !== null && !Array.isArray(meta)) return meta as Record<string, unknown>;
  return meta === undefined || meta === null ? {} : { summary: meta };
}
