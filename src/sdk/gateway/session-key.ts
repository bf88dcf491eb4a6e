/**
 * Trusted side: takes a session's key apart. Keys are `agent:<agentId>:<platform>:<channelType>:<channelId>`, and the channel's id is
 * all the rest: Matrix ids have colons (`!room:server`), and threads are appended with one. Other keys are not an error: gateways
 * have keys such as `main` or `cron:daily`, and plugins get the events of those sessions, too.
 */
export type SessionMeta = {
  /** Each is an empty text when the key does not say it, so that comparing never needs a check. */
  readonly agentId: string;
  /** `discord`, `telegram`, …; for keys of another making the third part, whatever it is (`agent:main:main`). */
  readonly platform: string;
  readonly channelType: string;
  readonly channelId: string;
};

const UNKNOWN: SessionMeta = Object.freeze({ agentId: "", platform: "", channelType: "", channelId: "" });

/** Never throws. A key with fewer than three parts, or of another kind, gives empty texts only. */
export function parseSessionKey(key: unknown): SessionMeta {
  if (typeof key !== "string") return UNKNOWN;
  const [kind, agentId = "", platform, channelType = "", ...channelId] = key.split(":");
  if (kind !== "agent" || platform === undefined) return UNKNOWN;
  return { agentId, platform, channelType, channelId: channelId.join(":") };
}
