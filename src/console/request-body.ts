/** Trusted side: the small JSON body of a request. Nothing is read after what is too large, too slow or broken. */
import type { IncomingMessage } from "node:http";
import { LIMITS } from "../protocol/limits.ts";

/** Undefined: it is none, or longer than that. */
export async function readJson(request: IncomingMessage, maxBytes: number = LIMITS.console.bodyBytes): Promise<unknown> {
  const late = setTimeout(() => request.destroy(), LIMITS.serve.helloMs);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) return undefined;
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown;
  } catch {
    return undefined;
  } finally {
    clearTimeout(late);
  }
}
