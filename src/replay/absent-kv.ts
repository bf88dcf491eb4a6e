/**
 * Trusted side: stands for the shared database in a replay, which must not write there and has no copy of it. An empty store would decide
 * otherwise in silence, so every request is refused with a sentence.
 */
import type { SharedKv } from "../host/services/kv/kv.ts";
import { CreelError } from "../protocol/errors.ts";
import type { CreelConfig } from "../protocol/config/config.ts";

const refuse = (): Promise<never> => Promise.reject(new CreelError("ERR_REPLAY_SHARED_KV"));

/** Undefined: no plugin's entries are shared. */
export function absentKv({ kv }: CreelConfig): SharedKv | undefined {
  if (!kv) return undefined;
  const { shared } = kv;
  return {
    isShared: (plugin) => shared === true || shared.includes(plugin),
    store: () => ({
      read: refuse,
      set: refuse,
      swap: refuse,
      increment: refuse,
      delete: refuse,
      list: refuse,
      use: () => undefined,
      close: () => Promise.resolve(),
    }),
    close: () => Promise.resolve(),
  };
}
