/**
 * Inside the isolate: the `api` object that `register` receives. Untrusted side: the host checks everything it sends.
 */
import { LOG_LEVELS } from "../../../protocol/messages/mail.ts";
import { requestHost } from "../turn/requests.ts";
import { declareHandler } from "./declared.ts";
import type { Handler } from "./declared.ts";
import { show } from "../boot/describe.ts";
import { kv } from "./kv.ts";
import { schedule } from "./schedule.ts";
import { INVOCATION_HOOK, withInvocation } from "../turn/invocation.ts";
import { postLog } from "../turn/mailbox.ts";
import { agentMembers, subscribing } from "./agent-events.ts";
import { watched } from "./members.ts";
import { runContext } from "./run-context.ts";
import { groupsOf, resolvePath, runtimeOf } from "./runtime.ts";
import {
  registerCli,
  registerCommand,
  registerGatewayMethod,
  registerHttpRoute,
  registerService,
  registerTool,
  setSurroundings,
} from "./register.ts";
import { bare, isArray, NativeDate, NativeError } from "../boot/primordials.ts";

function on(hook: unknown, handler: unknown, options?: unknown): void {
  if (typeof hook !== "string") throw new NativeError("api.on needs the name of a hook");
  if (typeof handler !== "function") throw new NativeError(`api.on("${hook}") needs a handler function`);
  const called = hook === INVOCATION_HOOK ? withInvocation(handler as Handler) : (handler as Handler);
  declareHandler(hook, called, options, `api.on("${hook}")`);
}

/** OpenClaw's way to listen to internal events, one or several names. The event's timestamp is a Date. */
function registerHook(events: unknown, handler: unknown, options?: unknown): void {
  const dated = typeof handler === "function" ? withDate(handler as Handler) : handler;
  if (!isArray(events)) return on(events, dated, options);
  for (let i = 0; i < events.length; i++) on(events[i], dated, options);
}

/** JSON has no Date, but handlers written for OpenClaw call its methods. */
function withDate(handler: Handler): Handler {
  return (event, context) => {
    const dated = event as { timestamp?: unknown };
    const { timestamp } = dated;
    if (typeof timestamp === "string" || typeof timestamp === "number") dated.timestamp = new NativeDate(timestamp);
    return handler(event, context);
  };
}

function logger(): Record<string, (...args: unknown[]) => void> {
  const methods = bare<Record<string, (...args: unknown[]) => void>>({});
  for (let level = 0; level < LOG_LEVELS.length; level++) {
    methods[LOG_LEVELS[level]!] = (...args) => {
      let text = "";
      for (let i = 0; i < args.length; i++) text += (i > 0 ? " " : "") + show(args[i]);
      postLog(level, text);
    };
  }
  return methods;
}

export const log = logger();

/** `facts` come from the host: id, name, version, pluginConfig and the like. */
export function createApi(facts: Record<string, unknown>): object {
  setSurroundings({ config: facts.config, pluginConfig: facts.pluginConfig, logger: logger() });
  const session = {
    get: (key: unknown) => requestHost("session.get", bare({ key })),
    patch: (patch: unknown) => requestHost("session.patch", patch),
  };
  const members = {
    // These exist even if the host gives no value.
    version: undefined,
    description: undefined,
    ...facts,
    ...groupsOf(session),
    logger: logger(),
    runtime: runtimeOf(facts.config, logger),
    resolvePath,
    on,
    registerHook,
    registerTool,
    registerCommand,
    registerGatewayMethod,
    registerHttpRoute,
    registerCli,
    registerService,
    ...runContext,
    ...agentMembers,
    kv: { ...kv },
    schedule: { ...schedule },
  };
  return watched(subscribing(members, "registerAgentEventSubscription"), "");
}
