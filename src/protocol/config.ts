/** `creel.json`: OpenClaw's `plugins.*` keys, so that a block of an openclaw.json can be pasted, plus Creel's own. */
import * as z from "zod";
import { LIMITS } from "./limits.ts";

const wallMs = z.number().positive().max(LIMITS.maxWallMs);

export const pluginHooksConfig = z.looseObject({
  allowConversationAccess: z.boolean().optional(),
  allowPromptInjection: z.boolean().optional(),
  /** Wall time per call, for every hook of the plugin. */
  timeoutMs: wallMs.optional(),
  /** Wall time per call, per hook. */
  timeouts: z.record(z.string(), wallMs).optional(),
  /** CPU time per call. */
  cpuMs: z.number().positive().max(LIMITS.maxCpuMs).optional(),
});
export type PluginHooksConfig = z.infer<typeof pluginHooksConfig>;

export const pluginEntryConfig = z.looseObject({
  enabled: z.boolean().optional(),
  config: z.record(z.string(), z.unknown()).optional(),
  hooks: pluginHooksConfig.optional(),
});

export const creelConfig = z.looseObject({
  plugins: z
    .looseObject({
      enabled: z.boolean().optional(),
      load: z.looseObject({ paths: z.array(z.string()).optional() }).optional(),
      entries: z.record(z.string(), pluginEntryConfig).optional(),
    })
    .optional(),
  hooks: z
    .looseObject({
      /** Overrides what a failing handler means, per hook. */
      failure: z.record(z.string(), z.enum(["open", "closed"])).optional(),
    })
    .optional(),
  limits: z.object({ heapMb: z.number().min(8).max(4096).optional() }).optional(),
});
export type CreelConfig = z.infer<typeof creelConfig>;

/** `creel.plugin.json`, and what Creel reads of an `openclaw.plugin.json`. */
export const pluginManifest = z.looseObject({
  id: z.string(),
  name: z.string().optional(),
  version: z.string().optional(),
  description: z.string().optional(),
  main: z.string().optional(),
});
export type PluginManifest = z.infer<typeof pluginManifest>;
