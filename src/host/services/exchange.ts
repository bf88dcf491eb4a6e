/**
 * Trusted side: one request to one server, over a connection that was chosen before, until the answer's head is there. Node's
 * `fetch` resolves names by itself and follows redirects by itself; here both are ours.
 */
import { pipeline } from "node:stream";
import type { Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Dispatcher, Pool } from "undici";
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
  /** Must be read to its end, or destroyed. */
  readonly body: Readable;
  /** False: the body is in an encoding that was not asked for, and was left as it is. */
  readonly isDecoded: boolean;
}

/** Stands in for the network, in tests of plugins: whatever is decided about a request is decided before it is asked. */
export interface Network {
  /** False: the request goes where it says. */
  answers(url: URL): boolean;
  answer(hop: Hop): Promise<Reply>;
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
  return { status: answer.statusCode, statusText: answer.statusText, headers: answer.headers, ...decoded(answer) };
}

function decoded({ body, statusCode, headers }: Dispatcher.ResponseData): Pick<Reply, "body" | "isDecoded"> {
  const encoding = String(headers["content-encoding"] ?? "identity")
    .trim()
    .toLowerCase();
  const isEmpty = statusCode === 204 || statusCode === 304;
  if (isEmpty || encoding === "identity" || encoding === "") return { body, isDecoded: true };
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding]!() : undefined;
  // An error of either side surfaces where the decoder is read.
  return decoder ? { body: pipeline(body, decoder, () => {}), isDecoded: true } : { body, isDecoded: false };
}
