/** For plugins that import OpenClaw's SDK without having it installed: patterns count only where nothing else is found. */
declare module "openclaw/plugin-sdk*" {
  import type { PluginApi } from "creel/plugin";
  export function definePluginEntry<T extends { register(api: PluginApi): void }>(plugin: T): T;
  export function emptyPluginConfigSchema(): object;
  export function createSubsystemLogger(name: string): PluginApi["logger"];
  export type OpenClawPluginApi = PluginApi;
}
