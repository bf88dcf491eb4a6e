/** What a plugin asks the host about its connections: see connect.ts. Guest → host: not trusted. */
import * as z from "zod";
import { LIMITS } from "../limits.ts";

/** The guest's number of the connection. It uses none twice. */
const id = z.int().min(1);

const name = z.string().min(1).max(253);
const alpn = z.array(z.string().min(1).max(64)).max(8).optional();

/** The host reads the rest of it after a grant has matched this. */
export const connectAddress = z.object({ host: name, port: z.int().min(1).max(65_535) });
export const connectOpen = z.strictObject({
  id,
  host: name,
  port: z.int().min(1).max(65_535),
  /** The host makes a TLS connection. */
  tls: z.strictObject({ servername: name.optional(), alpn }).optional(),
});

/** `connect.secure`: TLS from here on, on a connection that has been plain. */
export const connectSecure = z.strictObject({ id, servername: name.optional(), alpn });

export const connectReference = z.strictObject({ id });

export const connectWrite = z.strictObject({
  id,
  bytes: z.string().max(LIMITS.connect.writeBytes),
  /** Nothing follows. */
  end: z.boolean().optional(),
});

export const connectLookup = z.strictObject({ host: name });
