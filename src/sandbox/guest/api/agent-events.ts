/**
 * Inside the isolate: an agent's own events (`runtime.events.onAgentEvent`, `agent.events`), and context for the next
 * turn of a session (`session.workflow.enqueueNextTurnInjection`). Subscriptions are one handler of `agent:event`, which
 * exists if the plugin looked for one of these members while it registered.
 */
import { requestHost } from "../turn/requests.ts";
import { postLog } from "../turn/mailbox.ts";
import { bare, call, promiseThen } from "../boot/primordials.ts";
import { show } from "../boot/describe.ts";
import { declareHandler, isRegistering } from "./declared.ts";
import { runContext } from "./run-context.ts";

type Fields = Record<string, unknown>;
type Listener = (event: Fields) => unknown;

const { defineProperty } = Object;
const WARN = 2;
let listeners: Listener[] = [];
let isDeclared = false;

function tell(event: unknown): void {
  const told = listeners;
  for (let i = 0; i < told.length; i++) void told[i]!((event as { context: Fields }).context);
}

/** Call it when the plugin looks for a member that subscribes: it may do so later, in a service. */
function declare(): void {
  if (isDeclared || !isRegistering()) return;
  isDeclared = true;
  declareHandler("agent:event", tell, undefined, "api.runtime.events.onAgentEvent");
}

function listen(listener: Listener): () => void {
  if (!isDeclared) postLog(WARN, "agent events do not arrive: the plugin must look for onAgentEvent while it registers");
  listeners = [...listeners, listener];
  return () => {
    const kept: Listener[] = [];
    for (let i = 0; i < listeners.length; i++) if (listeners[i] !== listener) kept[kept.length] = listeners[i]!;
    listeners = kept;
  };
}

function registerAgentEventSubscription(subscription: unknown): void {
  const { streams, handle } = (subscription ?? {}) as { streams?: readonly unknown[]; handle?: (event: Fields, ctx: Fields) => unknown };
  if (typeof handle !== "function") return;
  listen((event) => {
    const { runId } = event;
    let isWanted = streams === undefined;
    for (let i = 0; i < (streams?.length ?? 0); i++) if (streams![i] === event.stream) isWanted = true;
    if (!isWanted) return undefined;
    return handle(event, {
      getRunContext: (namespace: unknown) => runContext.getRunContext({ runId, namespace }),
      setRunContext: (namespace: unknown, value: unknown) => runContext.setRunContext({ runId, namespace, value }),
      clearRunContext: (namespace?: unknown) => runContext.clearRunContext({ runId, namespace }),
    });
  });
}

/** OpenClaw answers at once. If the gateway refuses the event later, a line of the log says so. */
function emitAgentEvent(params: unknown): object {
  const { runId, stream, data, sessionKey } = (params ?? {}) as Fields;
  if (typeof runId !== "string" || typeof stream !== "string") return { emitted: false, reason: "runId and stream must be texts" };
  const sent = requestHost("agent.emit", bare({ runId, stream, data, sessionKey }));
  void call(promiseThen, sent, [undefined, (error: unknown) => postLog(WARN, `emitAgentEvent: ${show((error as Error).message)}`)]);
  return { emitted: true, stream };
}

/** Resolves with `enqueued: false` where OpenClaw does: if the operator or the gateway does not let it. */
async function enqueueNextTurnInjection(injection: unknown): Promise<unknown> {
  const { sessionKey } = (injection ?? {}) as Fields;
  try {
    return await requestHost("agent.inject", injection);
  } catch (error) {
    postLog(WARN, `enqueueNextTurnInjection: ${show((error as Error).message)}`);
    return { enqueued: false, id: "", sessionKey };
  }
}

const SUBSCRIBERS = bare({ onAgentEvent: listen, registerAgentEventSubscription });

/** Adds a member that is declared by being looked at. */
export function subscribing<T extends object>(target: T, name: keyof typeof SUBSCRIBERS): T {
  return defineProperty(target, name, {
    enumerable: true,
    configurable: true,
    get: () => {
      declare();
      return SUBSCRIBERS[name];
    },
  });
}

export const agentMembers = { emitAgentEvent, enqueueNextTurnInjection };
