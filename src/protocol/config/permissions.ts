/**
 * The permissions that a plugin requests in `creel.plugin.json`, each with the author's reason. The plugin only gets
 * what the operator accepts (`pluginGrants` in config.ts). Strict: with a misspelt key the operator would never see the
 * request.
 */
import * as z from "zod";
import { connectGrant } from "./connect-grant.ts";
import { FETCH_METHODS, fetchPrefix, origin } from "./fetch-grant.ts";
import { LIMITS } from "../limits.ts";

/** For people to read before they decide. */
const reason = z.string().min(1).max(300);
const because = z.strictObject({ reason });

export const requestedPermissions = z.strictObject({
  fetch: z
    .array(
      z.strictObject({ origin, methods: z.array(z.enum(FETCH_METHODS)).min(1).optional(), pathPrefix: fetchPrefix.optional(), reason }),
    )
    .max(64)
    .optional(),
  connect: z
    .array(z.strictObject({ target: connectGrant, reason }))
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
  fs: z.strictObject({ maxBytes: z.int().positive().max(LIMITS.files.maxBytes).optional(), reason }).optional(),
  schedule: because.optional(),
  clock: because.optional(),
  wasm: because.optional(),
  /** For hooks that read conversations. */
  conversation: because.optional(),
  /** To be called about later installs. */
  install: because.optional(),
});
export type RequestedPermissions = z.infer<typeof requestedPermissions>;
