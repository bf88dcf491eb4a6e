/**
 * Trusted side: what the operator says about a plugin in OpenClaw's configuration, as Creel's host wants it. The operator keeps one
 * place for settings, `plugins.entries.<id>` of the gateway; only grants and limits, which OpenClaw does not know, come from creel.json.
 */
import type { CreelConfig, PluginEntry } from "../protocol/config/config.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { GatewayApi, GatewayConfig } from "./gateway-api.ts";

/** Creel ends a call a little before OpenClaw gives up on it. */
const SHARE = 0.9;

export function entryOf(id: string, gateway: GatewayConfig, own: CreelConfig): PluginEntry {
  const { config, env, hooks = {} } = gateway.plugins?.entries?.[id] ?? {};
  const base = own.plugins?.entries?.[id] ?? {};
  const { allowConversationAccess, allowPromptInjection, timeoutMs, timeouts } = hooks;
  return {
    ...base,
    enabled: true,
    ...(config && { config }),
    ...(env && { env: { ...base.env, ...env } }),
    hooks: {
      ...base.hooks,
      ...(allowConversationAccess !== undefined && { allowConversationAccess }),
      ...(allowPromptInjection !== undefined && { allowPromptInjection }),
      ...(timeoutMs !== undefined && { timeoutMs: shared(timeoutMs) }),
      ...(timeouts && { timeouts: Object.fromEntries(Object.entries(timeouts).map(([hook, ms]) => [hook, shared(ms)])) }),
    },
  };
}

/** The settings that came with a registration. */
export function registeredEntry(id: string, api: GatewayApi, own: CreelConfig): PluginEntry {
  const entry = entryOf(id, api.config ?? api.runtime.config.current(), own);
  return api.pluginConfig ? { ...entry, config: api.pluginConfig } : entry;
}

function shared(ms: number): number {
  return Math.min(LIMITS.call.maxWallMs, ms * SHARE);
}
