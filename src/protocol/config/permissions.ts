/**
 * The permissions that a plugin requests in `creel.plugin.json`, each with the author's reason: `{ "kv": "counts calls" }`, by permission key. The
 * plugin only gets what the operator accepts. The schema is that of the older form, by kind, which is still read; the newer one is brought into it
 * before. Strict: with a misspelt key the operator would never see the request.
 */
import * as z from "zod";
import { grantOf, permissionKey } from "./permission-key.ts";
import type { Grant } from "./permission-key.ts";
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

const LISTS = ["fetch", "connect", "session", "env"] as const;

/** The permissions of a manifest by kind. What is no permission key stays as it is: the schema refuses it. */
export function requestsByKind(permissions: unknown): unknown {
  if (typeof permissions !== "object" || permissions === null || Array.isArray(permissions)) return permissions;
  // A third party names the keys: an object would take "__proto__" for its own.
  const all = new Map<string, unknown>();
  const add = (kind: string, request: unknown): void => {
    const before = all.get(kind);
    all.set(kind, Array.isArray(before) && Array.isArray(request) ? [...(before as unknown[]), ...(request as unknown[])] : request);
  };
  for (const [key, why] of Object.entries(permissions)) {
    const grant = typeof why === "string" ? grantOf(key) : undefined;
    const request = grant && requestOf(grant, why as string);
    if (request) for (const [kind, value] of Object.entries(request)) add(kind, value);
    else add(key, why);
  }
  return Object.fromEntries(all);
}

/** Undefined: hooks imply it, or the manifest has a key of its own for it. */
function requestOf(grant: Grant, why: string): Record<string, unknown> | undefined {
  if ("prompt" in grant || "required" in grant) return undefined;
  if ("fetch" in grant) return { fetch: [{ ...grant.fetch, reason: why }] };
  if ("connect" in grant) return { connect: [{ target: grant.connect, reason: why }] };
  if ("session" in grant) return { session: [{ access: grant.session, reason: why }] };
  if ("env" in grant) return { env: [{ name: grant.env, reason: why }] };
  const [[kind, size]] = Object.entries(grant) as [[string, unknown]];
  return { [kind]: { ...(typeof size === "object" && size), reason: why } };
}

interface RequestWithReason {
  readonly grant: Grant;
  readonly reason?: string | undefined;
}

/** The newer form of permissions that are written by kind; undefined: they are written by key. */
export function requestsByKey(permissions: object, requested: Iterable<RequestWithReason>): object | undefined {
  const isOld = Object.entries(permissions).some(([name, value]) => typeof value !== "string" || LISTS.some((list) => list === name));
  return isOld ? Object.fromEntries(Array.from(requested, (one) => [permissionKey(one.grant), one.reason ?? ""])) : undefined;
}
