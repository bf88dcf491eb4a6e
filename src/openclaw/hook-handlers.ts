/**
 * Trusted side: one OpenClaw handler per sandboxed registration, so that OpenClaw orders, merges and attributes as it does for native
 * plugins. A gate whose run cannot be made throws, which OpenClaw takes for a block; other hooks log and give no answer.
 */
import type { Host } from "../host/host-api.ts";
import type { Outcome } from "../protocol/outcome.ts";
import { askThroughGateway } from "./approvals.ts";
import type { Fields } from "./gateway-api.ts";
import { hookOf, isGate, routeOf } from "./hook-names.ts";
import { messageOf } from "./shared-host.ts";
import type { Attachment, SharedHost } from "./shared-host.ts";
import type { ShimHook } from "./shim-facts.ts";

/** OpenClaw gives up so much later than Creel, which then ends the call and names the reason. */
const GRACE_MS = 2_000;

/** Options of a registration that OpenClaw knows, too. */
const PASSED_ON = ["matcher", "eligibleTriggers", "eligibleDispatchKinds", "registrationId", "requiresToolAuthority"] as const;

/** Context fields with the gateway's configuration, which has its token in it. */
const HIDDEN = ["config", "cfg"] as const;

type UntypedHost = {
  run(hook: string, event: unknown, ctx: unknown, options: object): Promise<Outcome>;
  runSync(hook: string, event: unknown, ctx: unknown, options: object): Outcome;
};

export function registerHooks(attachment: Attachment, shared: SharedHost): void {
  const { facts, api } = attachment;
  for (const registrations of grouped(facts.hooks.filter(({ hook }) => routeOf(hook) === "typed"))) {
    const [{ hook, priority }] = registrations as [ShimHook];
    const handler =
      hookOf(hook)!.kind === "sync" ? syncHandler(attachment, shared, hook, priority) : awaited(attachment, shared, hook, priority);
    const timeoutMs = Math.max(...registrations.map(({ wallMs }) => wallMs)) + GRACE_MS;
    api.on(hook, handler, { priority, timeoutMs, ...passedOn(registrations) });
  }
}

/** The handlers that Creel runs together: same hook, same priority, same phase. */
function grouped(hooks: readonly ShimHook[]): ShimHook[][] {
  const groups = new Map<string, ShimHook[]>();
  for (const one of hooks) {
    const key = JSON.stringify([one.hook, one.priority, one.options.requiresToolAuthority === true]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()];
}

/** Several registrations differ in these: then Creel alone chooses among them. */
function passedOn([first, ...others]: readonly ShimHook[]): Fields {
  const names = others.length === 0 ? PASSED_ON : (["requiresToolAuthority"] as const);
  return Object.fromEntries(names.flatMap((name) => (first!.options[name] === undefined ? [] : [[name, first!.options[name]]])));
}

function awaited(attachment: Attachment, shared: SharedHost, hook: string, priority: number) {
  const { facts, api } = attachment;
  return async (event: Fields, ctx: Fields): Promise<unknown> => {
    try {
      const host = untyped(await shared.ready(attachment));
      const options = { plugin: facts.id, priority, ...signalOf(ctx) };
      if (hook === "before_tool_call") return await askThroughGateway(host, event, visible(ctx), options);
      return answerOf(hook, await host.run(hook, event, visible(ctx), options));
    } catch (error) {
      if (isGate(hook)) throw error;
      api.logger.error(`creel: ${hook} of ${facts.id} was not run: ${messageOf(error)}`);
      return undefined;
    }
  };
}

/** OpenClaw logs what this throws and goes on without an answer. */
function syncHandler(attachment: Attachment, shared: SharedHost, hook: string, priority: number) {
  return (event: Fields, ctx: Fields): unknown => {
    const host = untyped(shared.readyNow(attachment));
    const { result, calls } = host.runSync(hook, event, visible(ctx), { plugin: attachment.facts.id, priority });
    const failed = calls.find(({ error }) => error);
    if (failed) throw new Error(failed.error!.message);
    return result;
  };
}

/** OpenClaw blocks an agent's run for any key that it does not know. */
const AGENT_RUN_KEYS = ["outcome", "reason", "message", "category", "metadata"] as const;

function answerOf(hook: string, { decision, result, reason }: Outcome): unknown {
  if (hookOf(hook)?.kind === "observe") return undefined;
  if (hook !== "before_agent_run") return result;
  if (decision !== "block") return undefined;
  const { message, category, metadata } = Object(result) as Fields;
  const answer: Fields = { outcome: "block", reason: reason ?? "blocked", message, category, metadata };
  return Object.fromEntries(AGENT_RUN_KEYS.flatMap((key) => (answer[key] === undefined ? [] : [[key, answer[key]]])));
}

/** SECURITY: no plugin sees the gateway's token. test/openclaw/bridge.test.ts */
export function visible(ctx: Fields | undefined): Fields {
  const { ...shown } = ctx ?? {};
  for (const name of HIDDEN) delete shown[name];
  return shown;
}

function signalOf({ abortSignal }: Fields = {}): { signal?: AbortSignal } {
  return abortSignal instanceof AbortSignal ? { signal: abortSignal } : {};
}

/** The bridge passes OpenClaw's events on; the host checks them. */
export function untyped(host: Host): UntypedHost {
  return host;
}
export type { UntypedHost };
