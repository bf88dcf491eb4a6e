/**
 * Trusted side: what `creel.lock` says about an installed plugin, and the seals on it. The file is for people to read and compare, and for
 * Creel alone to write.
 *
 * What the seals are worth. Every entry carries a digest of all it says, and the lock one of all entries: a flipped bit, a half
 * restored backup, a grant that was widened or a guard that was taken out by hand are noticed, and nothing is loaded. Without a key, whoever
 * means harm and may write to the folder can seal again what they wrote. A key that lies in the folder would change nothing, since they could
 * read it, too: so there is none. An operator who keeps one elsewhere (`openState(dir, { key })`) gets HMACs, which only its holders can make. An older
 * lock together with its own bundles is valid either way.
 */
import { createHash, createHmac } from "node:crypto";
import * as z from "zod";
import { pluginGrants } from "../protocol/config.ts";
import { FUNCTION_KINDS } from "../protocol/functions.ts";
import { LIMITS } from "../protocol/limits.ts";
import { PLUGIN_LIMITS } from "../protocol/plugin-limits.ts";
import type { PluginLimitName } from "../protocol/plugin-limits.ts";
import { pluginId } from "../protocol/registration.ts";

export const LOCK_VERSION = 1;

/** Text that is shown to people: one line, and nothing in it that moves a cursor or turns the writing around. */
const text = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]*$/u, "has control characters");
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
  name: text(LIMITS.nameChars),
  version: text(64).optional(),
  /** What was asked for, what that turned out to be, and the digest of what was fetched. */
  source: z.strictObject({ spec: text(2_048), resolved: text(4_096), integrity }),
  /** What it registered when it was looked at. */
  hooks: z.array(z.strictObject({ hook: text(LIMITS.nameChars), priority: z.number() })).max(LIMITS.handlers),
  functions: z.array(z.strictObject({ kind: z.enum(FUNCTION_KINDS), name: text(LIMITS.nameChars) })).max(LIMITS.handlers),
  grants: pluginGrants,
  /** OpenClaw's permissions of hooks. */
  permissions: z.strictObject({ allowConversationAccess: z.boolean().optional(), allowPromptInjection: z.boolean().optional() }),
  /** As they were in force when it was accepted. */
  budgets: z.strictObject({ plugin: limits, hooks: z.record(text(LIMITS.nameChars), z.strictObject({ wallMs: budget, cpuMs: budget })) }),
  /** Who said yes, when, and the digest of what they were shown. */
  accepted: z.strictObject({ by: text(256), at: z.iso.datetime(), digest: sha256 }),
  enabled: z.boolean(),
});
/** What an installer says about a plugin. The rest of its entry follows from that, and from its files. */
export type PluginFacts = z.infer<typeof facts>;

export const lockEntry = facts.extend({
  bundle: z.strictObject({ integrity: sha256, bytes: z.int().nonnegative(), mapIntegrity: sha256 }),
  /** The folder of `store` with its files: the digest of their list. */
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

/** Whoever has one can seal; without one, everybody can. */
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

/** The same data has one text: keys are in order, and what is undefined is not there. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const pairs = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]));
}
