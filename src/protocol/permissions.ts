/**
 * What a plugin asks to be granted, in `creel.plugin.json`, each with the author's reason for it. It is a request: what it gets is what the operator
 * accepts (`pluginGrants` in config.ts). Strict: a misspelt key would be a permission that nobody is asked for.
 */
import * as z from "zod";
import { FETCH_METHODS, fetchPrefix, origin } from "./fetch-grant.ts";
import { LIMITS } from "./limits.ts";

/** For people to read, before they decide. */
const reason = z.string().min(1).max(300);
const because = z.strictObject({ reason });

export const requestedPermissions = z.strictObject({
  fetch: z
    .array(
      z.strictObject({ origin, methods: z.array(z.enum(FETCH_METHODS)).min(1).optional(), pathPrefix: fetchPrefix.optional(), reason }),
    )
    .max(64)
    .optional(),
  kv: z.strictObject({ maxBytes: z.int().positive().optional(), reason }).optional(),
  session: z
    .array(z.strictObject({ access: z.enum(["get", "patch"]), reason }))
    .max(2)
    .optional(),
  env: z
    .array(
      z.strictObject({
        name: z
          .string()
          .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
          .max(128),
        reason,
      }),
    )
    .max(64)
    .optional(),
  fs: z.strictObject({ maxBytes: z.int().positive().max(LIMITS.volumeMaxBytes).optional(), reason }).optional(),
  schedule: because.optional(),
  clock: because.optional(),
  wasm: because.optional(),
  /** For hooks that read conversations. */
  conversation: because.optional(),
});
export type RequestedPermissions = z.infer<typeof requestedPermissions>;
