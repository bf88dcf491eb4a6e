/**
 * A plugin's request and its answer, as they travel in an `ask` and a `tell`. A body is text where it is UTF-8 (most are
 * JSON), else `bytes`: a text with one character, U+0000 to U+00FF, for each byte. Header names are lower case; the values of
 * several `set-cookie` are lines of one text, since a value has no line breaks.
 */
import * as z from "zod";
import { FETCH_METHODS } from "./fetch-grant.ts";
import { LIMITS } from "./limits.ts";

/** Guest → host: not trusted. */
export const fetchQuestion = z.strictObject({
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
}
