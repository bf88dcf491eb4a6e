/** The configuration that a plugin is looked at with: what OpenClaw's operator says about it, laid over creel.json. */
import type { CreelConfig } from "../../protocol/config/config.ts";
import { entryOf } from "../../openclaw/settings.ts";
import type { GatewayCommand } from "./gateway-command.ts";

/** Keys of `plugins.entries.<id>` that mean nothing to a sandboxed plugin. */
const LOST = ["apiKey", "subagent", "llm"] as const;

export interface GatewaySettings {
  readonly config: CreelConfig;
  /** What the operator set that has no effect in the sandbox. */
  readonly lost: readonly string[];
}

export async function gatewaySettings(gateway: GatewayCommand, id: string, own: CreelConfig): Promise<GatewaySettings> {
  const mine = (await gateway.settings()).entries?.[id] ?? {};
  const entries = { ...own.plugins?.entries, [id]: entryOf(id, { plugins: { entries: { [id]: mine } } }, own) };
  return {
    config: { ...own, plugins: { ...own.plugins, entries } },
    lost: LOST.filter((key) => key in mine).map((key) => `plugins.entries.${id}.${key} has no effect in the sandbox`),
  };
}
