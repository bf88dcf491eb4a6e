/**
 * Trusted side: HTTP requests for plugins. The plugin says what it wants; whether it may, where the name leads, what is sent
 * along and how much comes back is decided here, again for every redirect. It learns an answer, or a code and one line that
 * say nothing about the gateway's network.
 */
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { CreelError } from "../../protocol/errors.ts";
import { fetchQuestion } from "../../protocol/fetch-message.ts";
import type { FetchAnswer, FetchQuestion } from "../../protocol/fetch-message.ts";
import type { FetchMethod } from "../../protocol/fetch-grant.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { CAUSE_HEADER } from "../cause-tokens.ts";
import type { Causes } from "../causes.ts";
import type { Plugin } from "../plugin.ts";
import type { RecursionGuard } from "../recursion.ts";
import { pinned, resolveBySystem } from "./addresses.ts";
import type { Resolve } from "./addresses.ts";
import { Allowance } from "./allowance.ts";
import { readBody, send } from "./exchange.ts";
import type { Hop } from "./exchange.ts";
import { sendable, visible, withoutBody, withoutSecrets } from "./fetch-headers.ts";
import { judge } from "./origins.ts";
import type { Verdict } from "./origins.ts";
import type { ServiceGroup } from "./service.ts";
import { checked } from "./session.ts";

/** Whose request it is. */
export type Requester = Pick<Plugin, "id" | "grants">;

/** What the request follows from. */
export interface Cause {
  /** Throws when the request could be one more round of a loop. */
  check(): void;
  /** What the server may bring back. */
  token(): string;
}

export interface FetchOptions {
  readonly resolve?: Resolve;
  readonly timeoutMs?: number;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export class Fetches {
  readonly #allowance = new Allowance();
  readonly #pending = new Set<AbortController>();
  readonly #resolve: Resolve;
  readonly #timeoutMs: number;

  constructor({ resolve = resolveBySystem, timeoutMs = LIMITS.fetchMs }: FetchOptions = {}) {
    this.#resolve = resolve;
    this.#timeoutMs = timeoutMs;
  }

  /** Rejects with nothing but a CreelError. */
  async fetch(plugin: Requester, args: unknown, cause: Cause): Promise<FetchAnswer> {
    const asked = checked(fetchQuestion, args, "fetch");
    const hop = firstHop(asked);
    refuse(plugin, hop.url, hop.method, judge(plugin.grants.fetch ?? [], hop.url, hop.method));
    cause.check();
    const leave = this.#allowance.enter(plugin.id);
    const ending = new AbortController();
    this.#pending.add(ending);
    const clock = setTimeout(
      () => ending.abort(new CreelError("ERR_FETCH_TIMEOUT", { origin: hop.url.origin, ms: this.#timeoutMs })),
      this.#timeoutMs,
    );
    try {
      return await this.#follow(plugin, hop, asked.redirect, cause.token(), ending.signal);
    } catch (error) {
      if (ending.signal.aborted) throw ending.signal.reason;
      throw error instanceof CreelError ? error : new CreelError("ERR_FETCH_FAILED", { origin: hop.url.origin, detail: wordsFor(error) });
    } finally {
      clearTimeout(clock);
      this.#pending.delete(ending);
      leave();
    }
  }

  /** Ends what is under way. */
  close(): void {
    for (const ending of this.#pending) ending.abort(new CreelError("ERR_HOST_CLOSED"));
  }

  async #follow(
    plugin: Requester,
    first: Hop,
    redirect: FetchQuestion["redirect"],
    cause: string,
    signal: AbortSignal,
  ): Promise<FetchAnswer> {
    let hop = first;
    for (let redirects = 0; ; redirects++) {
      const response = await this.#send({ ...hop, headers: { ...hop.headers, [CAUSE_HEADER]: cause } }, signal);
      const location = REDIRECTS.has(response.statusCode!) ? response.headers.location : undefined;
      if (location === undefined || redirect === "manual") return answer(response, hop, redirects > 0);
      response.destroy();
      const refused = (detail: string) => new CreelError("ERR_FETCH_REDIRECT", { origin: hop.url.origin, detail });
      if (redirect === "error") throw refused('its redirect is "error"');
      if (redirects === LIMITS.fetchRedirects) throw refused(`it is number ${redirects + 1} in a row`);
      const next = nextHop(hop, response.statusCode!, location);
      if (!next) throw refused("where it leads is not an http or https URL");
      // SECURITY: a granted server must not be able to send a plugin's request, or the plugin, anywhere else. test/contract/fetch.test.ts
      const verdict = judge(plugin.grants.fetch ?? [], next.url, next.method);
      if (verdict !== "granted") throw refused(`it leads to ${REFUSED[verdict]} that is not granted to ${plugin.id}`);
      hop = next;
    }
  }

  async #send(hop: Hop, signal: AbortSignal): Promise<IncomingMessage> {
    const addresses = await abortable(pinned(hop.url, this.#resolve), signal);
    if (!addresses) throw new CreelError("ERR_FETCH_ADDRESS", { origin: hop.url.origin });
    return send(hop, addresses, signal);
  }
}

export function fetchServices(fetches: Fetches, causes: Causes, guard: RecursionGuard): ServiceGroup {
  return {
    services: {
      fetch: {
        // A body may be as long as an event.
        maxBytes: LIMITS.eventBytes,
        answer: ({ plugin, run, args }) => {
          const chain = causes.next(run, plugin.id);
          return fetches.fetch(plugin, args, { check: () => guard.checkRequest(plugin.id, chain), token: () => causes.token(chain) });
        },
      },
    },
    close: () => fetches.close(),
  };
}

const REFUSED = { origin: "an origin", path: "a path", method: "a method" } as const;

function refuse({ id }: Requester, { origin }: URL, method: FetchMethod, verdict: Verdict): void {
  switch (verdict) {
    case "granted":
      return;
    case "method":
      throw new CreelError("ERR_FETCH_METHOD", { origin, method, plugin: id });
    case "path":
      throw new CreelError("ERR_FETCH_PATH", { origin, plugin: id });
    case "origin":
      throw new CreelError("ERR_GRANT_MISSING", { service: `fetch from ${origin}`, plugin: id, grant: `fetch: ["${origin}"]` });
  }
}

function firstHop({ url: text, method, headers, text: body, bytes }: FetchQuestion): Hop {
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
function nextHop({ url, method, headers, body }: Hop, status: number, location: string): Hop | undefined {
  const to = URL.parse(location, url.href);
  if (!to || !isHttp(to) || hasCredentials(to)) return undefined;
  to.hash = "";
  const kept = to.origin === url.origin ? headers : withoutSecrets(headers);
  const becomesGet = status === 303 ? method !== "GET" && method !== "HEAD" : status < 303 && method === "POST";
  return becomesGet ? { url: to, method: "GET", headers: withoutBody(kept), body: undefined } : { url: to, method, headers: kept, body };
}

async function answer(response: IncomingMessage, { url, method }: Hop, redirected: boolean): Promise<FetchAnswer> {
  const body = await readBody(response, method, LIMITS.fetchResponseBytes);
  if (!body) throw new CreelError("ERR_FETCH_RESPONSE_SIZE", { origin: url.origin, limit: LIMITS.fetchResponseBytes });
  return {
    status: response.statusCode!,
    statusText: response.statusMessage ?? "",
    headers: visible(response.headers),
    url: url.href,
    redirected,
    ...(isUtf8(body) ? { text: body.toString("utf8") } : { bytes: body.toString("latin1") }),
  };
}

function isHttp({ protocol }: URL): boolean {
  return protocol === "https:" || protocol === "http:";
}

function hasCredentials({ username, password }: URL): boolean {
  return username !== "" || password !== "";
}

/** A look-up cannot be stopped, but need not be waited for. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason as Error);
  signal.addEventListener("abort", stop, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener("abort", stop));
}

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^ENOTFOUND$|^EAI_/, "its name does not resolve"],
  [/^ECONNREFUSED$/, "the connection was refused"],
  [/^ECONNRESET$|^EPIPE$|^ERR_STREAM_PREMATURE_CLOSE$/, "the connection was cut"],
  [/^E(?:TIMEDOUT|HOSTUNREACH|NETUNREACH|ADDRNOTAVAIL)$/, "it cannot be reached"],
  [/CERT|^UNABLE_TO_/, "its certificate is not valid"],
  [/^ERR_SSL_|^ERR_TLS_|^EPROTO$/, "no secure connection could be made"],
  [/^HPE_/, "it does not answer in HTTP"],
  [/^Z_|^ERR_BROTLI|^ERR__ERROR/, "its answer is not encoded as it says"],
];

/** SECURITY: Node's messages name addresses and paths; the plugin gets words of ours. test/contract/fetch.test.ts */
function wordsFor(error: unknown): string {
  const code = (error as { code?: string } | null)?.code ?? "";
  return WORDS.find(([pattern]) => pattern.test(code))?.[1] ?? "the connection failed";
}
