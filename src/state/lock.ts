/**
 * Trusted side: what `creel.lock` says about an installed plugin, and its seals. People may read and compare the file;
 * only Creel writes it.
 *
 * What the seals are worth: every entry carries a digest of its content, and the lock carries a digest of all entries.
 * So Creel notices a flipped bit, a half restored backup, a grant that was widened or a guard that was removed by hand,
 * and loads nothing. Without a key, an attacker who may write to the folder can seal what they wrote. A key inside the
 * folder would not help, since the attacker could read it, so there is none. An operator who keeps a key elsewhere
 * (`openState(dir, { key })`) gets HMACs, which only holders of the key can make. An older lock with its own bundles is
 * valid either way.
 */
import { createHash, createHmac } from "node:crypto";
import * as z from "zod";
import { pluginGrants } from "../protocol/config/grants.ts";
import { FUNCTION_KINDS } from "../protocol/messages/function-kinds.ts";
import { NO_DANGER } from "../protocol/dangerous-text.ts";
import { LIMITS } from "../protocol/limits.ts";
import { PLUGIN_LIMITS } from "../protocol/config/plugin-limits.ts";
import type { PluginLimitName } from "../protocol/config/plugin-limits.ts";
import { pluginId } from "../protocol/rules/plugin-id.ts";

export const LOCK_VERSION = 1;

/** Text for people: one line, without characters that move a cursor or reverse the writing direction. */
const text = (max: number) => z.string().min(1).max(max).regex(NO_DANGER, "has control characters, or others that are not seen");
const sha256 = z.string().regex(/^sha256-[A-Za-z0-9+/]{43}=$/);
const integrity = z.string().regex(/^sha(?:1-[A-Za-z0-9+/]{27}=|256-[A-Za-z0-9+/]{43}=|384-[A-Za-z0-9+/]{64}|512-[A-Za-z0-9+/]{86}==)$/);
const seal = z.string().regex(/^(?:hmac-)?sha256-[A-Za-z0-9+/]{43}=$/);

const budget = z.strictObject({ value: z.number().nonnegative(), origin: text(64) });
const limits = z.strictObject(
  Object.fromEntries(Object.keys(PLUGIN_LIMITS).map((name) => [name, budget.optional()])) as Record<
    PluginLimitName,
    z.ZodOptional<typeof budget>
  >,
);

const facts = z.strictObject({
  id: pluginId,
  name: text(LIMITS.call.nameChars),
  version: text(64).optional(),
  /** The requested specifier, what it resolved to, and the digest of what was fetched. */
  source: z.strictObject({ spec: text(2_048), resolved: text(4_096), integrity }),
  /** What it registered during the dry run. */
  hooks: z.array(z.strictObject({ hook: text(LIMITS.call.nameChars), priority: z.number() })).max(LIMITS.plugin.handlers),
  functions: z.array(z.strictObject({ kind: z.enum(FUNCTION_KINDS), name: text(LIMITS.call.nameChars) })).max(LIMITS.plugin.handlers),
  grants: pluginGrants,
  /**
   * Permissions of hooks. `required`: all its hooks fail closed. An entry of an older Creel does not mention installs:
   * then the plugin may not decide about them.
   */
  permissions: z.strictObject({
    allowConversationAccess: z.boolean().optional(),
    allowPromptInjection: z.boolean().optional(),
    required: z.boolean().optional(),
    allowInstallDecisions: z.boolean().optional(),
  }),
  /** As they were in force when it was accepted. */
  budgets: z.strictObject({
    plugin: limits,
    hooks: z.record(text(LIMITS.call.nameChars), z.strictObject({ wallMs: budget, cpuMs: budget })),
  }),
  /** Who accepted it, when, and the digest of the review. */
  accepted: z.strictObject({ by: text(256), at: z.iso.datetime(), digest: sha256 }),
  enabled: z.boolean(),
});
/** What an installer provides. The rest of the entry follows from that and from the files. */
export type PluginFacts = z.infer<typeof facts>;

export const lockEntry = facts.extend({
  bundle: z.strictObject({ integrity: sha256, bytes: z.int().nonnegative(), mapIntegrity: sha256 }),
  /** Its folder in `store`: the digest of the list of its files. */
  store: z.string().regex(/^sha256-[0-9a-f]{64}$/),
  /** Of grants and permissions. */
  grantsDigest: sha256,
  seal,
});
export type LockEntry = z.infer<typeof lockEntry>;

export const lockContent = z.strictObject({
  version: z.literal(LOCK_VERSION),
  plugins: z.record(pluginId, lockEntry),
  seal,
});

/** Needed to seal. Without one, anyone can. */
export type SealKey = Uint8Array | undefined;

export function sealOf(value: unknown, key: SealKey): string {
  const canonical = JSON.stringify(sorted(value));
  if (key) return `hmac-sha256-${createHmac("sha256", key).update(canonical).digest("base64")}`;
  return digestOf(canonical);
}

export function digestOf(content: string | Uint8Array): string {
  return `sha256-${createHash("sha256").update(content).digest("base64")}`;
}

export function grantsDigest({ grants, permissions }: Pick<PluginFacts, "grants" | "permissions">): string {
  return digestOf(JSON.stringify(sorted({ grants, permissions })));
}

/** The same data always has the same text: sorted keys, no undefined. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const pairs = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]));
}
