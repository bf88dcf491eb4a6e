/** Trusted side: how a gateway names a plugin beside the installed ones. */
import * as z from "zod";
import { pluginHooksConfig } from "../protocol/config/config.ts";
import { pluginGrants } from "../protocol/config/grants.ts";
import { permissionKeys } from "../protocol/config/permission-key.ts";
import { pluginLimitsConfig } from "../protocol/config/plugin-limits-config.ts";

const settings = {
  config: z.record(z.string(), z.unknown()).optional(),
  env: z.record(z.string(), z.string()).optional(),
  // Unlike in a file, where OpenClaw may have further keys: a misspelt one would take a permission or a budget away in silence.
  hooks: z.strictObject(pluginHooksConfig.shape).optional(),
  /** Permission keys: `["kv", "fetch:https://api.example.com#GET"]`. */
  permissions: permissionKeys.optional(),
  /** The older form of `permissions`, by kind. */
  grants: pluginGrants.optional(),
  limits: pluginLimitsConfig.optional(),
  /** True: all its hooks fail closed. */
  required: z.boolean().optional(),
};
export const pluginSpec = z.union([
  z.strictObject({ path: z.string(), id: z.string().optional(), ...settings }),
  z.strictObject({ id: z.string(), source: z.string(), ...settings }),
]);
/** A plugin beside the installed ones: a folder or file, or its source as text. Sandboxed all the same. */
export type PluginSpec = z.infer<typeof pluginSpec>;
