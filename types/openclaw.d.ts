/** For plugins that import OpenClaw's SDK without having it installed: patterns count only where nothing else is found. */
declare module "openclaw/plugin-sdk*" {
  import type { PluginApi } from "creel/plugin";
  export function definePluginEntry<T extends { register(api: PluginApi): void }>(plugin: T): T;
  export function emptyPluginConfigSchema(): object;
  export function buildPluginConfigSchema(schema: { safeParse?(value: unknown): unknown }, options?: { jsonSchema?: unknown }): object;
  export function buildJsonPluginConfigSchema(jsonSchema: unknown): object;
  export interface SubsystemLogger extends Record<keyof PluginApi["logger"] | "trace" | "fatal" | "raw", (...values: unknown[]) => void> {
    readonly subsystem: string;
    isEnabled(): boolean;
    child(name: string): SubsystemLogger;
  }
  export function createSubsystemLogger(name: string): SubsystemLogger;
  export function jsonResult(payload: unknown): { content: { type: "text"; text: string }[]; details: unknown };
  export type OpenClawPluginApi = PluginApi;
}
