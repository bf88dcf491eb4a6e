/** The `fleet` of `creel.json`: how a host or an operator joins others over NATS. */
import * as z from "zod";
import { LIMITS } from "../limits.ts";
import { key } from "./config-key.ts";

const path = z.string().min(1);

/** Strict: a misspelt key would leave out a check. */
export const fleetConfig = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, "must be 1 to 32 of a-z, 0-9 and -, and not begin with -")
    .meta({ description: "This member's name; the server ties it to the key in `credentials`." }),
  servers: z
    .array(z.string().regex(/^(?:nats|tls):\/\/\S+$/, "must begin with nats:// or tls://"))
    .min(1)
    .meta({ description: "The NATS servers, `tls://host:4222`; they need the packages `@nats-io/transport-node` and `@nats-io/kv`." }),
  credentials: path.meta({ description: "The file with this member's nkey, which only its user can read." }),
  ca: key(path, "The file with the certificate authority of the servers. Without it: those that Node trusts."),
  operators: z
    .array(z.string().regex(/^ed25519-[A-Za-z0-9+/]{43}=$/, "must be a public key that `creel fleet keys` printed"))
    .min(1)
    .meta({ description: "Public keys of the operators; a host accepts only what one of them has signed." }),
  audit: key(
    z.strictObject({
      days: key(z.int().min(1).max(3_650), "How long the servers keep it; `creel fleet push` sets it when it makes the log.", {
        default: LIMITS.fleet.auditDays,
      }),
    }),
    "Hosts ship their audit log to the servers, and `creel fleet audit` reads it. Without it: each host keeps its own.",
  ),
  durable: key(
    z.strictObject({
      through: z.enum(["outbox", "jetstream"]).meta({
        description:
          "`outbox`: the host that took an event delivers it. `jetstream`: the servers keep it, and any host delivers it, in no order. [fleet.md](../guides/fleet.md#durable-events-through-the-servers)",
      }),
    }),
    "Where the events of durable hooks wait. Without it: in the outbox of the host that took them.",
  ),
  causes: key(path, "The file with the key for causes, which all hosts have: loops through several hosts then end at the depth limit."),
  signingKey: key(path, "For operators: the file with the private key that signs what is installed. Never on a host."),
});
