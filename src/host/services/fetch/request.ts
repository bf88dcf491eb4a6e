/**
 * Trusted side: one request to one server, over a given connection, until the response head arrives. Node's `fetch`
 * would resolve names and follow redirects by itself; the host has to do both.
 */
import { pipeline } from "node:stream";
import type { Readable, Transform } from "node:stream";
import type Zlib from "node:zlib";
import type { Dispatcher, Pool } from "undici";
import { LIMITS } from "../../../protocol/limits.ts";
import type { FetchMethod } from "../../../protocol/config/fetch-grant.ts";
import type { HeaderTable } from "./headers.ts";

export interface HttpRequest {
  readonly url: URL;
  readonly method: FetchMethod;
  readonly headers: HeaderTable;
  readonly body: Buffer | undefined;
}

/** A server's response, before its body is read. */
export interface HttpResponse {
  readonly status: number;
  readonly statusText: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The caller must read it to its end or destroy it. */
  readonly body: Readable;
  /** False: the body has an encoding that was not requested, and was left as it is. */
  readonly isDecoded: boolean;
}

/** Replaces the network in tests of plugins. Grants and redirects are checked before it is called. */
export interface Network {
  /** False: the request goes to the real network. */
  answers(url: URL): boolean;
  answer(request: HttpRequest): Promise<HttpResponse>;
}

/** Loaded with the first answer that is compressed. */
const zlib = (): typeof Zlib => process.getBuiltinModule("node:zlib");
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => zlib().createGunzip(),
  "x-gzip": () => zlib().createGunzip(),
  deflate: () => zlib().createInflate(),
  br: () => zlib().createBrotliDecompress(),
};

export async function send({ url, method, headers, body }: HttpRequest, pool: Pool, signal: AbortSignal): Promise<HttpResponse> {
  const answer = await pool.request({
    path: url.pathname + url.search,
    method,
    headers: { accept: "*/*", "user-agent": "creel", ...headers, "accept-encoding": "gzip, deflate, br" },
    body: body ?? null,
    signal,
    highWaterMark: LIMITS.fetch.inlineBytes,
  });
  // Avoids an unhandled error when a body is destroyed before it is read.
  answer.body.on("error", () => {});
  return { status: answer.statusCode, statusText: answer.statusText, headers: answer.headers, ...decoded(answer) };
}

function decoded({ body, statusCode, headers }: Dispatcher.ResponseData): Pick<HttpResponse, "body" | "isDecoded"> {
  const encoding = String(headers["content-encoding"] ?? "identity")
    .trim()
    .toLowerCase();
  const isEmpty = statusCode === 204 || statusCode === 304;
  if (isEmpty || encoding === "identity" || encoding === "") return { body, isDecoded: true };
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding]!() : undefined;
  // Errors of either stream surface where the decoder is read.
  return decoder ? { body: pipeline(body, decoder, () => {}), isDecoded: true } : { body, isDecoded: false };
}
