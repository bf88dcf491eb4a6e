/** The limits of a plugin as an operator writes them in `creel.json`. */
import * as z from "zod";
import { key } from "./config-key.ts";
import { PLUGIN_LIMITS } from "./plugin-limits.ts";
import type { PluginLimitName } from "./plugin-limits.ts";

/** Strict: a misspelt limit would be none. */
export const pluginLimitsConfig = z.strictObject(
  Object.fromEntries(
    Object.entries(PLUGIN_LIMITS).map(([name, { means, usual, min, max }]) => [
      name,
      key(z.number().min(min).max(max), means, { default: usual }),
    ]),
  ) as Record<PluginLimitName, z.ZodOptional<z.ZodNumber>>,
);
export type PluginLimitsConfig = z.infer<typeof pluginLimitsConfig>;
