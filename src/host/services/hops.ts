/** Trusted side: the hops of a request: what a plugin asked for, and what a redirect makes of it. */
import { CreelError } from "../../protocol/errors.ts";
import type { FetchQuestion } from "../../protocol/fetch-message.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { Hop } from "./exchange.ts";
import { sendable, withoutBody, withoutSecrets } from "./fetch-headers.ts";

export function firstHop({ url: text, method, headers, text: body, bytes }: FetchQuestion): Hop {
  const url = URL.parse(text);
  if (!url) throw new CreelError("ERR_FETCH_URL", { detail: "it is not an absolute URL" });
  if (!isHttp(url)) throw new CreelError("ERR_FETCH_URL", { detail: `its scheme is ${url.protocol.slice(0, -1).slice(0, 32)}` });
  if (hasCredentials(url)) throw new CreelError("ERR_FETCH_URL", { detail: "it has a user name or password in it" });
  url.hash = "";
  const content = body === undefined ? bytes && Buffer.from(bytes, "latin1") : Buffer.from(body);
  const sent = content || undefined;
  if (sent && (method === "GET" || method === "HEAD")) throw new CreelError("ERR_FETCH_URL", { detail: `a ${method} has no body` });
  if (sent && sent.length > LIMITS.fetchRequestBytes)
    throw new CreelError("ERR_FETCH_REQUEST_SIZE", { bytes: sent.length, limit: LIMITS.fetchRequestBytes });
  return { url, method, headers: sendable(headers), body: sent };
}

/** As the Fetch standard says: 303 becomes a GET, and so does a POST that is moved; anything else is sent again as it was. */
export function nextHop({ url, method, headers, body }: Hop, status: number, location: string): Hop | undefined {
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
