/**
 * Trusted side: one OpenClaw handler per sandboxed registration, so that OpenClaw orders, merges and attributes as it does for native
 * plugins. A hook that fails closed is answered by what stops OpenClaw there (closed-hook.ts); other hooks log and give no answer.
 */
import pTimeout from "p-timeout";
import type { Host } from "../host/host-api.ts";
import type { Outcome } from "../protocol/outcome.ts";
import { askThroughGateway } from "./approvals.ts";
import { closedAnswer, closingOf, isShut } from "./closed-hook.ts";
import type { Fields } from "./gateway-api.ts";
import { hookOf, isGate, routeOf } from "./hook-names.ts";
import { gatewayTimeoutMs } from "./settings.ts";
import { messageOf } from "./shared-host.ts";
import type { Attachment, SharedHost } from "./shared-host.ts";
import type { ShimHook } from "./shim-facts.ts";

/** OpenClaw gives up so much later than Creel, which then ends the call and names the reason. */
const GRACE_MS = 2_000;

/** Of OpenClaw's time for a handler, when nothing may pass without an answer. */
const SHARE = 0.95;
const LATE = "the sandbox did not answer in time";

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
    const timeoutMs = Math.max(...registrations.map(({ wallMs }) => wallMs)) + GRACE_MS;
    const isSync = hookOf(hook)!.kind === "sync";
    const handler = isSync ? syncHandler(attachment, shared, registrations) : awaited(attachment, shared, registrations, timeoutMs);
    api.on(hook, handler, { priority, timeoutMs, ...passedOn(registrations) });
  }
  const early = facts.hooks.filter((one) => isShut(one) && (closingOf(one.hook)?.hook ?? one.hook) !== one.hook);
  if (early.length > 0)
    api.on("before_agent_run", (_, ctx) => refusal(attachment, ctx), { priority: Math.max(...early.map(({ priority }) => priority)) });
}

function refusal({ refused }: Attachment, ctx: Fields): unknown {
  const reason = refused.reasonOf(ctx);
  return reason === undefined ? undefined : { outcome: "block", reason };
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

function awaited(attachment: Attachment, shared: SharedHost, registrations: readonly ShimHook[], timeoutMs: number) {
  const { facts, api } = attachment;
  const [{ hook, priority }] = registrations as [ShimHook];
  const shuts = registrations.some(isShut);
  // OpenClaw goes on when it gives up on a handler, but for its own gates: then Creel must answer before.
  const latestMs = shuts && !isGate(hook) ? SHARE * (gatewayTimeoutMs(facts.id, hook, api) ?? timeoutMs) : undefined;
  const handler = async (event: Fields, ctx: Fields): Promise<unknown> => {
    let outcome: Outcome;
    try {
      const options = { plugin: facts.id, priority, ...signalOf(ctx) };
      if (hook === "before_tool_call")
        return await askThroughGateway(untyped(await shared.ready(attachment)), event, visible(ctx), options, handler);
      const running = shared.ready(attachment).then((host) => untyped(host).run(hook, event, visible(ctx), options));
      outcome = await (latestMs === undefined ? running : pTimeout(running, { milliseconds: latestMs, message: LATE }));
    } catch (error) {
      return missed(attachment, hook, shuts, event, ctx, messageOf(error));
    }
    return answerOf(attachment, outcome, event, ctx);
  };
  return handler;
}

/** OpenClaw logs what this throws and goes on without an answer. */
function syncHandler(attachment: Attachment, shared: SharedHost, registrations: readonly ShimHook[]) {
  const [{ hook, priority }] = registrations as [ShimHook];
  const shuts = registrations.some(isShut);
  return (event: Fields, ctx: Fields): unknown => {
    let outcome: Outcome;
    try {
      const host = untyped(shared.readyNow(attachment));
      outcome = host.runSync(hook, event, visible(ctx), { plugin: attachment.facts.id, priority });
    } catch (error) {
      if (!shuts) throw error;
      return missed(attachment, hook, shuts, event, ctx, messageOf(error));
    }
    const failed = outcome.decision === "pass" && outcome.calls.find(({ error }) => error);
    if (failed) throw new Error(failed.error!.message);
    return answerOf(attachment, outcome, event, ctx);
  };
}

/** The run could not be made. */
function missed(attachment: Attachment, hook: string, shuts: boolean, event: Fields, ctx: Fields, why: string): unknown {
  const said = `creel: ${hook} of ${attachment.facts.id} was not run: ${why}`;
  attachment.api.logger.error(said);
  return shuts ? shut(attachment, hook, event, ctx, said) : undefined;
}

/**
 * SECURITY: nothing passes a hook that fails closed, where OpenClaw can be stopped at all. test/openclaw/required.test.ts
 * Throws where OpenClaw takes that for a block.
 */
export function shut({ facts, api, refused }: Attachment, hook: string, event: Fields, ctx: Fields, why: string): unknown {
  const closing = closingOf(hook);
  if (!closing) {
    api.logger.error(`creel: OpenClaw cannot be stopped at ${hook} and goes on, although ${facts.id} failed: ${why}`);
    return undefined;
  }
  if (closing.hook === hook) return closedAnswer(closing, event, why);
  refused.refuse(ctx, why);
  return undefined;
}

/** OpenClaw blocks an agent's run for any key that it does not know. */
const AGENT_RUN_KEYS = ["outcome", "reason", "message", "category", "metadata"] as const;

function answerOf(attachment: Attachment, outcome: Outcome, event: Fields, ctx: Fields): unknown {
  const { hook, decision, result, reason } = outcome;
  const known = hookOf(hook)!;
  if (known.kind === "observe") return undefined;
  // Without a terminal field there is no result that blocks.
  if (decision === "block" && !known.terminal) return shut(attachment, hook, event, ctx, reason ?? "it failed");
  if (known.kind === "evaluate") return evaluated(result);
  if (hook === "reply_dispatch" && decision === "handled") return { ...closingOf(hook)!.answer, ...(result as Fields) };
  if (hook !== "before_agent_run") return result;
  if (decision !== "block") return undefined;
  const { message, category, metadata } = Object(result) as Fields;
  const answer: Fields = { outcome: "block", reason: reason ?? "blocked", message, category, metadata };
  return Object.fromEntries(AGENT_RUN_KEYS.flatMap((key) => (answer[key] === undefined ? [] : [[key, answer[key]]])));
}

/** The plugin's own answer: OpenClaw makes a list of those of all plugins, and calls one that throws an error. */
function evaluated(result: unknown): unknown {
  const all = (result ?? []) as readonly { readonly result?: { readonly decision?: string }; readonly error?: string }[];
  const failed = all.find(({ error }) => error !== undefined);
  if (failed) throw new Error(failed.error);
  const answers = all.flatMap((one) => (one.result ? [one.result] : []));
  return answers.find(({ decision }) => decision === "block") ?? answers[0];
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
