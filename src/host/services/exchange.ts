/**
 * Trusted side: one request on one connection of its own, to an address that was checked before. Node's `fetch` resolves
 * names by itself and follows redirects by itself; here both are ours.
 */
import { request as httpRequest } from "node:http";
import type { IncomingMessage, RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { pipeline } from "node:stream";
import type { Readable, Transform } from "node:stream";
import { urlToHttpOptions } from "node:url";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { FetchMethod } from "../../protocol/fetch-grant.ts";
import type { Address } from "./addresses.ts";
import type { HeaderTable } from "./fetch-headers.ts";

export interface Hop {
  readonly url: URL;
  readonly method: FetchMethod;
  readonly headers: HeaderTable;
  readonly body: Buffer | undefined;
}

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Resolves when the answer's head is there. */
export function send({ url, method, headers, body }: Hop, addresses: readonly Address[], signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options: RequestOptions = {
    ...urlToHttpOptions(url),
    method,
    headers: {
      accept: "*/*",
      "user-agent": "creel",
      ...headers,
      "accept-encoding": "gzip, deflate, br",
      ...(body && { "content-length": body.length }),
    },
    lookup: answering(addresses),
    // No pool: a connection is never shared between plugins, nor kept past the answer.
    agent: false,
    signal,
  };
  const request = url.protocol === "https:" ? httpsRequest(options, resolve) : httpRequest(options, resolve);
  request.on("error", reject);
  request.end(body);
  return promise;
}

/** Undefined: it has more bytes than the limit, before or after decoding, and was not read further. */
export async function readBody(response: IncomingMessage, method: FetchMethod, limit: number): Promise<Buffer | undefined> {
  // Its headers speak of a body that is not there.
  if (method === "HEAD") return Buffer.alloc(0);
  if (Number(response.headers["content-length"] ?? 0) > limit) {
    response.destroy();
    return undefined;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop early destroys the stream, and with it the connection.
  for await (const chunk of decoded(response)) {
    bytes += (chunk as Buffer).length;
    if (bytes > limit) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks, bytes);
}

function decoded(response: IncomingMessage): Readable {
  const encoding = response.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  const isEmpty = response.statusCode === 204 || response.statusCode === 304;
  const decoder = isEmpty || !Object.hasOwn(DECODERS, encoding) ? undefined : DECODERS[encoding];
  // An error of either side surfaces where the decoder is read.
  return decoder ? pipeline(response, decoder(), () => {}) : response;
}

// SECURITY: the connection goes to what was checked, whatever the name resolves to by now. test/host/fetch.test.ts
function answering(addresses: readonly Address[]): LookupFunction {
  return (_host, options, callback) => {
    if (options.all) callback(null, [...addresses]);
    else callback(null, addresses[0]!.address, addresses[0]!.family);
  };
}
