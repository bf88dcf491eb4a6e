/** The grants of a plugin, in `creel.json` and in the lock. Apart from the rest of the configuration, which readers of the lock do not need. */
import * as z from "zod";
import { LIMITS } from "../limits.ts";
import { key } from "./config-key.ts";
import { connectGrant } from "./connect-grant.ts";
import { fetchGrant } from "./fetch-grant.ts";

const QUOTA = { description: "How much it may hold." };

/** What the operator lets a plugin do beyond answering hooks. By default nothing. */
export const pluginGrants = z.strictObject({
  session: key(z.array(z.enum(["get", "patch"])), "The gateway's sessions: read entries, change them."),
  fetch: key(z.array(fetchGrant), "Where it may send HTTP requests: origins, or an origin with methods, a path and a secret."),
  connect: key(
    z.array(connectGrant),
    'Where it may open connections behind `net` and `tls`: `"db.example.com:5432"`; with `tls://` before it, only TLS.',
  ),
  kv: key(
    z.union([z.literal(true), z.strictObject({ maxBytes: z.int().positive().meta(QUOTA) })]),
    "Its own store, which survives restarts if there is a stateDir.",
  ),
  schedule: key(z.literal(true), "Work at a later time."),
  fs: key(
    z.union([z.literal(true), z.strictObject({ maxBytes: z.int().positive().max(LIMITS.files.maxBytes).meta(QUOTA) })]),
    "Its own files, behind Node's `fs`.",
  ),
  env: key(z.array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/)), "Names of variables of the gateway's environment that it may see."),
  clock: key(z.literal("fine"), "An exact clock. With one, a plugin can measure what its neighbours do."),
  wasm: key(z.literal(true), "WebAssembly. Its memory is not counted by the heap limit."),
});
export type Grants = z.infer<typeof pluginGrants>;
