/**
 * Trusted side: OpenClaw's internal events for sandboxed plugins. What handlers add to `messages`, or change in the bootstrap files of an
 * agent, is written back into the event, because OpenClaw reads it there.
 */
import { CAUSE_HEADER } from "../host/causality/cause-tokens.ts";
import type { Fields } from "./gateway-api.ts";
import { isShut } from "./closed-hook.ts";
import { routeOf } from "./hook-names.ts";
import { shut, untyped } from "./hook-handlers.ts";
import { messageOf } from "./shared-host.ts";
import type { Attachment, SharedHost } from "./shared-host.ts";

/** Live objects and the gateway's configuration, which has its token in it. */
const HIDDEN = new Set(["cfg", "config", "deps", "pluginConfig"]);

export function registerInternal(attachment: Attachment, shared: SharedHost): void {
  const { facts, api } = attachment;
  const keys = new Set(facts.hooks.map(({ hook }) => hook).filter((hook) => routeOf(hook) === "internal"));
  for (const key of keys)
    api.registerHook(key, (event) => deliver(attachment, shared, key, event), {
      // Names are global in OpenClaw.
      name: `creel:${facts.id}:${key}`,
      description: `${facts.id}, sandboxed by Creel`,
    });
}

async function deliver(attachment: Attachment, shared: SharedHost, key: string, event: Fields): Promise<void> {
  const { facts, api } = attachment;
  const { type, action } = event as { type?: string; action?: string };
  const hook = key.includes(":") ? key : `${type}:${action}`;
  try {
    const host = await shared.ready(attachment);
    const run = () => untyped(host).run(hook, visibleEvent(event), undefined, { plugin: facts.id });
    const token = hook === "session:patch" ? shared.causeOf(event) : undefined;
    const { decision, result, reason } = await (token === undefined ? run() : host.rejoin({ [CAUSE_HEADER]: token }, run));
    if (decision === "block") shut(attachment, hook, event, event, reason ?? "it failed");
    writeBack(event, result as Fields | undefined);
  } catch (error) {
    const why = `creel: ${hook} of ${facts.id} was not run: ${messageOf(error)}`;
    api.logger.error(why);
    if (facts.hooks.some((one) => one.hook === key && isShut(one))) shut(attachment, hook, event, event, why);
  }
}

function visibleEvent(event: Fields): Fields {
  const context = Object.entries(Object(event.context) as Fields).filter(([name]) => !HIDDEN.has(name));
  return { ...event, context: Object.fromEntries(context) };
}

/** `messages` are added to those of other handlers; bootstrap files are all that are left. */
function writeBack(event: Fields, result: Fields | undefined): void {
  const { messages, context } = (result ?? {}) as { messages?: readonly unknown[]; context?: { bootstrapFiles?: readonly unknown[] } };
  if (messages && Array.isArray(event.messages)) event.messages.push(...messages);
  else if (messages) event.messages = [...messages];
  const given = Object(event.context) as { bootstrapFiles?: unknown };
  if (!context?.bootstrapFiles) return;
  if (Array.isArray(given.bootstrapFiles)) given.bootstrapFiles.splice(0, given.bootstrapFiles.length, ...context.bootstrapFiles);
  else given.bootstrapFiles = [...context.bootstrapFiles];
}
