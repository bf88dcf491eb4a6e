/**
 * Trusted side: one request to one server, over a connection that was chosen before, until the answer's head is there. Node's
 * `fetch` resolves names by itself and follows redirects by itself; here both are ours.
 */
import { pipeline } from "node:stream";
import type { Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Pool } from "undici";
import { LIMITS } from "../../protocol/limits.ts";
import type { FetchMethod } from "../../protocol/fetch-grant.ts";
import type { HeaderTable } from "./fetch-headers.ts";

export interface Hop {
  readonly url: URL;
  readonly method: FetchMethod;
  readonly headers: HeaderTable;
  readonly body: Buffer | undefined;
}

/** A server's answer, of which nothing has passed yet. */
export interface Reply {
  readonly status: number;
  readonly statusText: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Decompressed. Must be read to its end, or destroyed. */
  readonly body: Readable;
}

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

export async function send({ url, method, headers, body }: Hop, pool: Pool, signal: AbortSignal): Promise<Reply> {
  const answer = await pool.request({
    path: url.pathname + url.search,
    method,
    headers: { accept: "*/*", "user-agent": "creel", ...headers, "accept-encoding": "gzip, deflate, br" },
    body: body ?? null,
    signal,
    highWaterMark: LIMITS.fetchInlineBytes,
  });
  // Somebody must listen: what is destroyed before it is read fails with nobody waiting.
  answer.body.on("error", () => {});
  return {
    status: answer.statusCode,
    statusText: answer.statusText,
    headers: answer.headers,
    body: decoded(answer.body, answer.statusCode, answer.headers["content-encoding"]),
  };
}

function decoded(body: Readable, status: number, given: string | string[] | undefined): Readable {
  const encoding = String(given ?? "identity")
    .trim()
    .toLowerCase();
  const isEmpty = status === 204 || status === 304;
  const decoder = isEmpty || !Object.hasOwn(DECODERS, encoding) ? undefined : DECODERS[encoding];
  // An error of either side surfaces where the decoder is read.
  return decoder ? pipeline(body, decoder(), () => {}) : body;
}
