/** Shared: what hosts and operators of a fleet say to each other. It comes from another machine, so every reader checks it here first. */
import * as z from "zod";
import { LIMITS } from "../protocol/limits.ts";
import { OFFERS } from "../protocol/serve.ts";
import { quarantineEntry } from "../host/blame/quarantine-file.ts";
import { pluginId } from "../protocol/rules/plugin-id.ts";
import { parseJson } from "../text/parse-json.ts";

const text = z.string().max(4_096);
const hex = z.string().regex(/^[0-9a-f]{64}$/);

/** What a host says about itself. Which host it is, the subject says. */
export const here = z.object({
  /** Of its process: it changes with every start. */
  run: text,
  pid: z.int(),
  creel: text,
  /** Of the change that it has applied; 0: none yet. */
  serial: z.int().nonnegative(),
  /** The change that it refuses, and why. */
  fault: z.object({ serial: z.int(), code: text, message: text }).optional(),
  /** Rises when what gateways know of it, its `state`, has changed; with `run` it names one. */
  state: z.int().nonnegative().default(0),
  plugins: z.array(z.object({ id: text, version: text.optional(), status: text, circuit: text, store: text.optional() })).max(1_000),
  /** How far its audit log is shipped; undefined: it ships none. `why`: it cannot now. */
  audit: z.object({ log: text, next: z.int().nonnegative(), why: text.optional() }).optional(),
  /** Durable events go through the servers: the plugins here that get them, and why that does not work now. */
  events: z.object({ plugins: z.array(pluginId).max(1_000), why: text.optional() }).optional(),
  /** Of its configuration, without secrets: hosts of a fleet should have the same. */
  config: text,
  /** Its clock, in milliseconds since 1970. */
  at: z.number(),
});
export type Here = z.infer<typeof here>;

/** An operator has changed what is installed: the serial of the signed list that says so. */
export const announcement = z.object({ serial: z.int().nonnegative() });

/** From a gateway. `ms` is what is left of its budget: clocks of machines differ. */
export const runRequest = z.object({
  method: z.enum(["run", "call", "emit", "state"]),
  params: z.unknown().optional(),
  cause: z.string().max(LIMITS.causality.tokenChars).optional(),
  traceparent: z.string().max(128).optional().catch(undefined),
  ms: z.number().positive().optional(),
  /** The gateway's number of the request: questions that belong to it carry it. */
  id: z.int().nonnegative(),
  offers: z.array(z.enum(OFFERS)).max(OFFERS.length),
});
export type RunRequest = z.infer<typeof runRequest>;

/** From a host to the gateway that made a run. */
export const question = z.object({
  ask: z.enum(OFFERS),
  params: z.record(z.string(), z.unknown()),
  cause: z.string().max(LIMITS.causality.tokenChars).optional(),
  run: z.int().nonnegative().optional(),
});

/** To either. */
export const answer = z.union([
  z.object({
    error: z.object({
      code: text,
      message: z.string(),
      fix: z.string().optional(),
      params: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
    }),
  }),
  z.object({ ok: z.unknown() }),
]);

export const controlRequest = z.object({ method: z.string().max(64), params: z.unknown().optional() });

/** Of a cron: the last time that a host runs or has run, and which. */
export const claimed = z.object({ host: text, due: z.number() });

/** Of a plugin's services: which host, and which life of it. Empty: none. `at` is for people who look. */
export const leaseEntry = z.object({ holder: text, at: z.number() });

/** What is installed, by the digest of each entry. */
export const index = z.strictObject({
  version: z.literal(1),
  /** Rises with every change, so that an older one cannot come back. */
  serial: z.int().positive(),
  at: z.iso.datetime(),
  by: text,
  plugins: z.record(z.string().max(LIMITS.call.nameChars), hex),
});
export type Index = z.infer<typeof index>;

/** `body` is the text of an index: what is signed is what is read. */
export const signedIndex = z.strictObject({
  body: z.string().max(LIMITS.fleet.messageBytes),
  key: z.string().max(64),
  signature: z.string().max(128),
});
export type SignedIndex = z.infer<typeof signedIndex>;

/** The first line of a part of a host's audit log. The lines themselves follow. */
export const auditPart = z.object({
  v: z.literal(1),
  /** Of the state folder: it changes only if that is lost. */
  log: text,
  /** Of this part; the next one has the next number. */
  n: z.int().nonnegative(),
  /** Lines that were lost before this part, and what is known of them. */
  gap: z.object({ name: text, since: text.optional(), why: text }).optional(),
});
export type AuditPart = z.infer<typeof auditPart>;

/** A host has quarantined a plugin for good, or an operator has released it: the subject says which. */
export const quarantineNews = z.object({ plugin: pluginId, entry: quarantineEntry.optional() });

/** A durable event for one plugin. `event`, `context` and `chain` are JSON. */
export const fleetEvent = z.object({
  v: z.literal(1),
  id: text,
  plugin: pluginId,
  hook: z.string().max(LIMITS.call.nameChars),
  session: z.string(),
  event: z.string(),
  context: z.string(),
  chain: z.string().max(LIMITS.causality.tokenChars).nullable(),
  made: z.number(),
});

/** One that a host has given up. */
export const fleetDead = fleetEvent.extend({ attempts: z.int(), at: z.number(), status: text, why: z.string() });
export type FleetDead = z.infer<typeof fleetDead>;

/** Undefined: it is not of that form. */
export function read<T>(schema: z.ZodType<T>, message: string, limit: number = LIMITS.fleet.messageBytes): T | undefined {
  if (message.length > limit) return undefined;
  const parsed = parseJson(schema, message);
  return parsed.success ? parsed.data : undefined;
}
