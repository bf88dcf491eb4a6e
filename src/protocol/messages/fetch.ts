/**
 * A plugin's HTTP request and the host's response. A body is text if it is UTF-8 (most are JSON), otherwise `bytes`: a
 * string with one character, U+0000 to U+00FF, for each byte. A body that is long, or takes time, follows in pieces.
 * Header names are lower case. The values of several `set-cookie` are lines of one text, since a value has no line
 * breaks.
 */
import * as z from "zod";
import { FETCH_METHODS } from "../config/fetch-grant.ts";
import { LIMITS } from "../limits.ts";

/** The guest's number of the request, to read or abort it later. It uses none twice. */
const id = z.int().min(1);

/** The target of a request: all that the host needs to decide whether it is granted. */
const target = { url: z.string().max(LIMITS.fetch.urlChars), method: z.enum(FETCH_METHODS) };

/** Guest → host: not trusted. The host reads the rest of it after a grant has matched the target. */
export const fetchTarget = z.object(target);
export type FetchTarget = z.infer<typeof fetchTarget>;
export const fetchRequest = z.strictObject({
  id,
  ...target,
  headers: z.record(z.string(), z.string()),
  redirect: z.enum(["follow", "error", "manual"]),
  text: z.string().optional(),
  bytes: z.string().optional(),
});
export type FetchRequest = z.infer<typeof fetchRequest>;

/** Host → guest. */
export interface FetchResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string>>;
  /** After the last redirect. */
  readonly url: string;
  readonly redirected: boolean;
  readonly text?: string;
  readonly bytes?: string;
  /** This is only the beginning. The guest requests the rest with `fetch.read`. */
  readonly more?: boolean;
}

/** Guest → host: not trusted. `fetch.read` and `fetch.abort`. */
export const fetchReference = z.strictObject({ id });

/** Host → guest: the next piece of a body. */
export type FetchPiece = Pick<FetchResponse, "text" | "bytes" | "more">;
