/**
 * Inside the isolate: helpers of `openclaw/plugin-sdk` with which a channel describes itself while its files load. The
 * channel has no place in a sandbox, so nothing calls what is described; the hooks and tools beside it work. They follow
 * OpenClaw 2026.3.23.
 */

import { missing } from "./missing.ts";

type Fields = Record<string, unknown>;

const MB = 1024 * 1024;
const MEDIA_BYTES: Readonly<Record<string, number>> = { image: 6 * MB, audio: 16 * MB, video: 16 * MB, document: 100 * MB };

/** A plugin's parts, those that it did not give left out. */
export function createChannelPluginBase(parts: Fields): Fields {
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined));
}

export function createChatChannelPlugin({ base, ...parts }: { base?: Fields }): Fields {
  return { ...base, ...createChannelPluginBase(parts) };
}

/** OpenClaw knows its own channels by name. None of them is a plugin's. */
export function getChatChannelMeta(): undefined {
  return undefined;
}

export function buildChannelConfigSchema(schema: unknown): { schema: unknown } {
  const { toJSONSchema } = (schema ?? {}) as { toJSONSchema?: (options: Fields) => unknown };
  if (typeof toJSONSchema !== "function") return { schema: { type: "object", additionalProperties: true } };
  return { schema: toJSONSchema.call(schema, { target: "draft-07", unrepresentable: "any" }) };
}

/** What a set-up dialogue would show. */
export function createStandardChannelSetupStatus(parts: Fields): Fields {
  const { channelLabel, includeStatusLine, resolveExtraStatusLines, ...status } = parts;
  if (!includeStatusLine && !resolveExtraStatusLines) return status;
  const resolveStatusLines = async (about: Fields): Promise<unknown[]> => {
    const own = `${String(channelLabel)}: ${String(about["configured"] ? parts["configuredLabel"] : parts["unconfiguredLabel"])}`;
    const more = await (resolveExtraStatusLines as ((about: Fields) => unknown) | undefined)?.(about);
    return [...(includeStatusLine ? [own] : []), ...((more ?? []) as unknown[])];
  };
  return { ...status, resolveStatusLines };
}

export function maxBytesForKind(kind: string): number {
  return (Object.hasOwn(MEDIA_BYTES, kind) ? MEDIA_BYTES[kind] : undefined) ?? MEDIA_BYTES["document"]!;
}

/** A channel's status. What would put it together for an account needs the gateway's state of it. */
export function createComputedAccountStatusAdapter(parts: Fields): Fields {
  return { ...parts, resolveAccountSnapshot: undefined, buildAccountSnapshot: missing("createComputedAccountStatusAdapter") };
}

/** Who may write to a channel, by the gateway's pairings. */
export function createScopedDmSecurityResolver(): () => never {
  return missing("createScopedDmSecurityResolver");
}
