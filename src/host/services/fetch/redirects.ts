/**
 * Trusted side: the HTTP requests of a fetch: the first, which the plugin asked for, and those that redirects ask for.
 */
import { CreelError } from "../../../protocol/errors.ts";
import type { FetchRequest, FetchTarget } from "../../../protocol/messages/fetch.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import type { HttpRequest } from "./request.ts";
import { sendable, withoutBody, withoutSecrets } from "./headers.ts";

/** The target, as the URL parser reads it. */
export function targetOf({ url: text, method }: FetchTarget): Pick<HttpRequest, "url" | "method"> {
  const url = URL.parse(text);
  if (!url) throw new CreelError("ERR_FETCH_URL", { detail: "it is not an absolute URL" });
  if (!isHttp(url)) throw new CreelError("ERR_FETCH_URL", { detail: `its scheme is ${url.protocol.slice(0, -1).slice(0, 32)}` });
  if (hasCredentials(url)) throw new CreelError("ERR_FETCH_URL", { detail: "it contains a user name or password" });
  url.hash = "";
  return { url, method };
}

/** The whole first request, after a grant matched its target. */
export function firstRequest(
  { url, method }: Pick<HttpRequest, "url" | "method">,
  { headers, text: body, bytes }: FetchRequest,
): HttpRequest {
  const chars = body?.length ?? bytes?.length ?? 0;
  if (chars > LIMITS.fetch.requestBytes) throw new CreelError("ERR_FETCH_REQUEST_SIZE", { bytes: chars, limit: LIMITS.fetch.requestBytes });
  const content = body === undefined ? bytes && Buffer.from(bytes, "latin1") : Buffer.from(body);
  const sent = content || undefined;
  if (sent && (method === "GET" || method === "HEAD")) throw new CreelError("ERR_FETCH_URL", { detail: `a ${method} has no body` });
  if (sent && sent.length > LIMITS.fetch.requestBytes)
    throw new CreelError("ERR_FETCH_REQUEST_SIZE", { bytes: sent.length, limit: LIMITS.fetch.requestBytes });
  return { url, method, headers: sendable(headers), body: sent };
}

/**
 * By the Fetch standard: a 303 becomes a GET, and so does a POST after a 301 or 302. Any other request is repeated
 * unchanged.
 */
export function redirectedRequest({ url, method, headers, body }: HttpRequest, status: number, location: string): HttpRequest | undefined {
  const to = URL.parse(location, url.href);
  if (!to || !isHttp(to) || hasCredentials(to)) return undefined;
  to.hash = "";
  const kept = to.origin === url.origin ? headers : withoutSecrets(headers);
  const becomesGet = status === 303 ? method !== "GET" && method !== "HEAD" : status < 303 && method === "POST";
  return becomesGet ? { url: to, method: "GET", headers: withoutBody(kept), body: undefined } : { url: to, method, headers: kept, body };
}

function isHttp({ protocol }: URL): boolean {
  return protocol === "https:" || protocol === "http:";
}

function hasCredentials({ username, password }: URL): boolean {
  return username !== "" || password !== "";
}
