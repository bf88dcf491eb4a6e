/**
 * A plugin's request and its answer, as they travel in an `ask` and a `tell`. A body is text where it is UTF-8 (most are
 * JSON), else `bytes`: a text with one character, U+0000 to U+00FF, for each byte. A long one, or one that takes its time, follows in
 * pieces. Header names are lower case; the values of
 * several `set-cookie` are lines of one text, since a value has no line breaks.
 */
import * as z from "zod";
import { FETCH_METHODS } from "./fetch-grant.ts";
import { LIMITS } from "./limits.ts";

/** By which the guest knows the request later on, to read or to abort it; it uses none twice. */
const id = z.int().min(1);

/** Guest → host: not trusted. */
export const fetchQuestion = z.strictObject({
  id,
  url: z.string().max(LIMITS.fetchUrlChars),
  method: z.enum(FETCH_METHODS),
  headers: z.record(z.string(), z.string()),
  redirect: z.enum(["follow", "error", "manual"]),
  text: z.string().optional(),
  bytes: z.string().optional(),
});
export type FetchQuestion = z.infer<typeof fetchQuestion>;

/** Host → guest. */
export interface FetchAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the last hop. */
  readonly url: string;
  readonly redirected: boolean;
  readonly text?: string;
  readonly bytes?: string;
  /** That is only its beginning: the rest is to be asked for, with `fetch.read`. */
  readonly more?: boolean;
}

/** Guest → host: not trusted. `fetch.read` and `fetch.abort`. */
export const fetchReference = z.strictObject({ id });

/** Host → guest: the next piece of a body. */
export type FetchPiece = Pick<FetchAnswer, "text" | "bytes" | "more">;
