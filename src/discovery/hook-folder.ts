/**
 * Trusted side: OpenClaw's HOOK.md folders. The front matter says which internal events the handler file wants. The
 * adapter made here registers the handler for them, so that a hook written for OpenClaw's own process runs as a plugin
 * in its own cell.
 */
import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import * as z from "zod";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { ADAPTED } from "../bundler/bundle.ts";
import { readFrontMatter } from "./front-matter.ts";
import { firstIssue } from "../text/schema-issue.ts";

export const HOOK_FILE = "HOOK.md";
const HANDLERS = ["handler.ts", "handler.js", "index.ts", "index.js"];
const MAX_NAMES = 64;

const name = z.string().trim().min(1).max(LIMITS.call.nameChars);
/** OpenClaw also reads a text with commas as a list. */
const names = z.union([
  z.array(name).max(MAX_NAMES),
  z
    .string()
    .transform((text) => text.split(",").filter((part) => part.trim() !== ""))
    .pipe(z.array(name).max(MAX_NAMES)),
]);
const metadata = z.looseObject({
  events: names.optional(),
  export: name.optional(),
  hookKey: name.optional(),
  os: names.optional(),
  always: z.boolean().optional(),
  requires: z
    .looseObject({ bins: names.optional(), anyBins: names.optional(), env: names.optional(), config: names.optional() })
    .optional(),
});
const frontMatter = z.looseObject({
  name: name.optional(),
  description: z.string().optional(),
  version: z.string().max(64).optional(),
  events: names.optional(),
  /** `clawdbot` is OpenClaw's former name, which old hooks still use. */
  metadata: z.looseObject({ openclaw: metadata.optional(), clawdbot: metadata.optional() }).optional(),
});

export interface HookFolder {
  readonly root: string;
  readonly entry: string;
  /** Its key in the operator's `hooks.internal.entries`. */
  readonly key: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly version: string | undefined;
  readonly events: readonly string[];
  /** The handler's name among the exports of its file. */
  readonly exported: string;
  readonly os: readonly string[];
  /** Load it whatever it requires. */
  readonly always: boolean;
  readonly requires: Readonly<Record<"bins" | "anyBins" | "env" | "config", readonly string[]>>;
}

/** Where it may run, kept for an installed hook, whose folder is gone. */
export const hookConditions = z.object({
  key: name,
  os: z.array(name),
  always: z.boolean(),
  requires: z.object({ bins: z.array(name), anyBins: z.array(name), env: z.array(name), config: z.array(name) }),
});
export type HookConditions = Pick<HookFolder, "key" | "os" | "always" | "requires">;

export function conditionsOf({ key, os, always, requires }: HookFolder): HookConditions {
  return { key, os, always, requires };
}

export async function isHookFolder(root: string): Promise<boolean> {
  return isFile(join(root, HOOK_FILE));
}

export async function readHookFolder(root: string): Promise<HookFolder> {
  const path = join(root, HOOK_FILE);
  const parsed = frontMatter.safeParse(await readFrontMatter(path));
  if (!parsed.success) throw new CreelError("ERR_PLUGIN_MANIFEST", { path, ...firstIssue(parsed.error) });
  const { name: given = basename(root), description, version } = parsed.data;
  const found = parsed.data.metadata?.openclaw ?? parsed.data.metadata?.clawdbot ?? {};
  const events = found.events ?? parsed.data.events ?? [];
  if (events.length === 0)
    throw new CreelError("ERR_PLUGIN_MANIFEST", { path, field: "metadata.openclaw.events", detail: "it must name at least one event" });
  const { bins = [], anyBins = [], env = [], config = [] } = found.requires ?? {};
  return {
    root,
    entry: await handlerFile(root),
    key: found.hookKey ?? given,
    name: given,
    description,
    version,
    events: [...new Set(events)],
    exported: found.export ?? "default",
    os: found.os ?? [],
    always: found.always ?? false,
    requires: { bins, anyBins, env, config },
  };
}

/** The id of the plugin that a hook becomes. */
export function hookPluginId(key: string): string {
  return `hook-${slug(key)}`;
}

/** A text as a part of a plugin's id. */
export function slug(text: string): string {
  return (
    text
      .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
      .replaceAll(/^-+|-+$/g, "")
      .slice(0, LIMITS.call.nameChars - 32) || "unnamed"
  );
}

/**
 * The virtual entry of a hook's bundle. In OpenClaw all handlers share one event, which contains a Date, and answer by
 * changing it: they add to `messages` (commands) and to `context.bootstrapFiles` (agent:bootstrap). Here each handler
 * gets its own copy as JSON, so the adapter makes the Date and returns what was added. What a handler returns is
 * dropped, as in OpenClaw.
 */
export function hookAdapter({ exported, events, key, description }: HookFolder): string {
  const options = { name: key, ...(description !== undefined && { description }) };
  return `import * as hook from ${JSON.stringify(ADAPTED)};
const named = hook[${JSON.stringify(exported)}];
const handler = [named, named?.default, hook.handler, hook.handle].find((one) => typeof one === "function");
export default (api) => {
  if (typeof handler !== "function") throw new TypeError("the hook's export " + ${JSON.stringify(JSON.stringify(exported))} + " is not a function");
  const { env } = api.pluginConfig;
  if (env) (globalThis.process ??= {}).env = { ...globalThis.process.env, ...env };
  api.registerHook(${JSON.stringify(events)}, async (received) => {
    const { timestamp = Date.now(), messages = [], context = {} } = received;
    const event = { ...received, timestamp: new Date(timestamp), messages: [...messages], context };
    await handler(event);
    const added = Array.isArray(event.messages) ? event.messages.slice(messages.length) : [];
    const bootstraps = event.type === "agent" && event.action === "bootstrap";
    return { ...(added.length > 0 && { messages: added }), ...(bootstraps && { context: { bootstrapFiles: event.context.bootstrapFiles } }) };
  }, ${JSON.stringify(options)});
};
`;
}

async function handlerFile(root: string): Promise<string> {
  for (const candidate of HANDLERS) {
    if (await isFile(join(root, candidate))) return join(root, candidate);
  }
  throw new CreelError("ERR_PLUGIN_ENTRY", { path: root, problem: "has no entry file" });
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}
