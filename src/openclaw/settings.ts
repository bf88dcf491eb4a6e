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

/** How long OpenClaw waits for a handler, if its operator says so. */
export function gatewayTimeoutMs(id: string, hook: string, { config, runtime }: GatewayApi): number | undefined {
  const { timeouts, timeoutMs } = (config ?? runtime.config.current()).plugins?.entries?.[id]?.hooks ?? {};
  return timeouts?.[hook] ?? timeoutMs;
}

/** What opens the gateway: no request that a plugin answers may show it. */
export function gatewaySecrets({ runtime }: GatewayApi): string[] {
  const { auth = {} } = runtime.config.current().gateway ?? {};
  const { OPENCLAW_GATEWAY_TOKEN, OPENCLAW_GATEWAY_PASSWORD } = process.env;
  const all = [auth.token, auth.password, OPENCLAW_GATEWAY_TOKEN, OPENCLAW_GATEWAY_PASSWORD];
  return all.filter((one) => typeof one === "string");
}

function shared(ms: number): number {
  return Math.min(LIMITS.call.maxWallMs, ms * SHARE);
}
