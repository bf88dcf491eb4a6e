/**
 * Trusted side: HTTP requests for plugins. The plugin names a URL. The host decides whether the plugin may reach it,
 * which address it resolves to, which secrets are sent and how much comes back, and decides again for every redirect.
 * The plugin gets a response, or a code and one line that reveal nothing about the gateway's network.
 */
import { untilAborted } from "../../until-aborted.ts";
import { CreelError } from "../../../protocol/errors.ts";
import { fetchRequest, fetchReference, fetchTarget } from "../../../protocol/messages/fetch.ts";
import type { FetchResponse, FetchPiece, FetchRequest } from "../../../protocol/messages/fetch.ts";
import type { FetchMethod } from "../../../protocol/config/fetch-grant.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { CAUSE_HEADER } from "../../causality/cause-tokens.ts";
import type { Causes } from "../../causality/causes.ts";
import type { TracedRequest, Tracing } from "../../telemetry/tracing.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import type { GatewayTime } from "../gateway-time.ts";
import type { RecursionGuard } from "../../causality/recursion.ts";
import { pinned } from "./addresses.ts";
import type { Resolve } from "./addresses.ts";
import { ResponseBody } from "./response-body.ts";
import { Connections } from "./connections.ts";
import { send } from "./request.ts";
import type { HttpRequest, Network, HttpResponse } from "./request.ts";
import { faultOf } from "./faults.ts";
import { visible, withoutPackedLength } from "./headers.ts";
import { firstRequest, redirectedRequest, targetOf } from "./redirects.ts";
import { sharedNames } from "./names.ts";
import { FetchQuota, OpenFetch, OpenFetches } from "./open-fetch.ts";
import type { OpenFetchOptions } from "./open-fetch.ts";
import { matchGrant } from "./match-grant.ts";
import type { GrantMatch } from "./match-grant.ts";
import { Redactor } from "../secrets/redact.ts";
import { Secrets } from "../secrets/secrets.ts";
import { checked } from "../service.ts";
import type { ServiceGroup } from "../service.ts";

/** The plugin that makes the request, and its cell. */
export type Requester = Pick<Plugin, "id" | "grants"> & { readonly cell: number; readonly gatewayTime?: GatewayTime };

/** What caused the request. */
export interface Cause {
  /** Throws when the request could be one more round of a loop. */
  check(): void;
  /** A token that the server may send back. */
  token(): string;
  /** Traces one request; undefined: the gateway wants no traces. */
  readonly trace?: ((method: string, url: URL) => TracedRequest) | undefined;
}

export interface FetchOptions {
  readonly resolve?: Resolve;
  readonly timeoutMs?: number;
  readonly bodyMs?: number;
  readonly idleMs?: number;
  readonly secrets?: Secrets;
  /** Called for every request and every redirect, with whether a grant matches. */
  readonly onMatch?: ((plugin: string, url: URL, method: FetchMethod, isGranted: boolean) => void) | undefined;
  readonly network?: Network | undefined;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * The response that was not redirected further, and the origins that were requested on the way, whose secrets it may
 * contain.
 */
interface Arrived {
  readonly response: HttpResponse;
  readonly request: HttpRequest;
  readonly redirects: number;
  readonly origins: ReadonlySet<string>;
}

export class Fetches {
  readonly #quota = new FetchQuota();
  readonly #connections = new Connections();
  readonly #open = new OpenFetches();
  readonly #resolve: Resolve;
  readonly #clocks: Pick<OpenFetchOptions, "timeoutMs" | "bodyMs" | "idleMs">;
  readonly #secrets: Secrets;
  readonly #network: Network | undefined;
  readonly #onMatch: FetchOptions["onMatch"];

  constructor({
    resolve = sharedNames.resolve.bind(sharedNames),
    timeoutMs = LIMITS.fetch.wallMs,
    bodyMs = LIMITS.fetch.bodyMs,
    idleMs = LIMITS.fetch.idleMs,
    secrets = new Secrets(),
    network,
    onMatch,
  }: FetchOptions = {}) {
    this.#onMatch = onMatch;
    this.#resolve = resolve;
    this.#clocks = { timeoutMs, bodyMs, idleMs };
    this.#secrets = secrets;
    this.#network = network;
  }

  /** Rejects only with a CreelError. */
  async fetch(plugin: Requester, args: unknown, cause: Cause): Promise<FetchResponse> {
    const target = targetOf(checked(fetchTarget, args, "fetch"));
    const { origin } = target.url;
    // SECURITY: nothing reads headers or body before a grant matches. test/host/services/fetch/fetch.test.ts
    refuse(plugin, target, this.#matchGrant(plugin, target));
    const wanted = checked(fetchRequest, args, "fetch");
    const request = firstRequest(target, wanted);
    if (this.#open.find(plugin.id, plugin.cell, wanted.id))
      throw new CreelError("ERR_SERVICE_ARGUMENT", { service: "fetch", field: "id", detail: "it is in use" });
    cause.check();
    const leave = this.#quota.enter(plugin.id);
    const open = new OpenFetch({ ...this.#clocks, origin, released: leave });
    this.#open.add(plugin.id, plugin.cell, wanted.id, open);
    let hasMore = false;
    try {
      const arrived = await this.#follow(plugin, request, wanted.redirect, cause, open.signal);
      const answer = await this.#answer(plugin, arrived, open);
      hasMore = answer.more === true;
      return answer;
    } catch (error) {
      throw faultOf(error, origin, open.signal);
    } finally {
      if (!hasMore) this.#over(plugin, wanted.id, open);
    }
  }

  /**
   * Throws when no grant matches the beginning of the request. Does not parse the rest, which may be a body of
   * megabytes.
   */
  permit(plugin: Pick<Requester, "id" | "grants">, text: string): void {
    const [, url, method] = TARGET.exec(text.slice(0, TARGET_CHARS)) ?? [];
    if (url !== undefined) this.ask(plugin, { url: JSON.parse(url) as unknown, method });
  }

  /** Throws when no grant matches a target. A cell asks before it writes a long body. */
  ask(plugin: Pick<Requester, "id" | "grants">, args: unknown): void {
    const target = targetOf(checked(fetchTarget, args, "fetch"));
    const match = matchGrant(plugin.grants.fetch ?? [], target.url, target.method);
    // A granted request is counted when it is sent.
    if (match === "granted") return;
    this.#onMatch?.(plugin.id, target.url, target.method, false);
    refuse(plugin, target, match);
  }

  /** The next piece of a response body. Rejects only with a CreelError. */
  async read(plugin: Requester, args: unknown): Promise<FetchPiece> {
    const { id } = checked(fetchReference, args, "fetch.read");
    const open = this.#open.find(plugin.id, plugin.cell, id);
    if (!open) throw new CreelError("ERR_FETCH_BODY", { detail: "it was read, aborted or dropped" });
    try {
      const { piece, isOver } = await open.read();
      if (!isOver) return { ...piece, more: true };
      this.#over(plugin, id, open);
      return piece;
    } catch (error) {
      const fault = faultOf(error, open.origin, open.signal);
      // A second concurrent read fails, but does not end the first.
      if (!open.isReading) this.#over(plugin, id, open);
      throw fault;
    }
  }

  /** Ends a request or the reading of its response. Ignores one that has ended already. */
  abort(plugin: Requester, args: unknown): void {
    const { id } = checked(fetchReference, args, "fetch.abort");
    this.#open.find(plugin.id, plugin.cell, id)?.abort(new CreelError("ERR_FETCH_ABORTED"));
    this.#open.remove(plugin.id, plugin.cell, id);
  }

  /** The cell is gone: aborts its requests. */
  left(plugin: string, cell: number): void {
    this.#open.left(plugin, cell, new CreelError("ERR_FETCH_ABORTED"));
  }

  /** Ends pending requests. */
  async close(): Promise<void> {
    this.#open.close(new CreelError("ERR_HOST_CLOSED"));
    await this.#connections.close();
  }

  #over({ id: plugin, cell }: Requester, id: number, open: OpenFetch): void {
    open.release();
    this.#open.remove(plugin, cell, id);
  }

  async #follow(
    plugin: Requester,
    first: HttpRequest,
    redirect: FetchRequest["redirect"],
    cause: Cause,
    signal: AbortSignal,
  ): Promise<Arrived> {
    let request = first;
    const token = cause.token();
    const origins = new Set<string>();
    for (let redirects = 0; ; redirects++) {
      origins.add(request.url.origin);
      const headers = { ...request.headers, [CAUSE_HEADER]: token };
      const response = await traced(cause, request, headers, (all) => this.#send(plugin, { ...request, headers: all }, signal));
      const location = REDIRECTS.has(response.status) ? response.headers.location : undefined;
      if (typeof location !== "string" || redirect === "manual") return { response, request, redirects, origins };
      response.body.destroy();
      const refused = (detail: string) => new CreelError("ERR_FETCH_REDIRECT", { origin: request.url.origin, detail });
      if (redirect === "error") throw refused('its redirect is "error"');
      if (redirects === LIMITS.fetch.redirects) throw refused(`the limit is ${LIMITS.fetch.redirects} redirects`);
      const next = redirectedRequest(request, response.status, location);
      if (!next) throw refused("its target is not an http or https URL");
      // SECURITY: a granted server must not redirect a plugin's request to an origin that is not granted.
      // test/contract/fetch.test.ts
      const match = this.#matchGrant(plugin, next);
      if (match !== "granted") throw refused(`it leads to ${REFUSED[match]} that is not granted to ${plugin.id}`);
      request = { ...next, url: this.#secrets.stripSecrets(plugin.grants.fetch, next) };
      // SECURITY: nor may one origin pass a secret on to another through a redirect. test/contract/secrets.test.ts
      if (this.#secrets.isRevealed(request.url, origins)) throw refused("it would reveal a secret to an origin that it is not for");
    }
  }

  #matchGrant({ id, grants }: Requester, { url, method }: Pick<HttpRequest, "url" | "method">): GrantMatch {
    const match = matchGrant(grants.fetch ?? [], url, method);
    this.#onMatch?.(id, url, method, match === "granted");
    return match;
  }

  async #send({ id, grants }: Requester, request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    if (this.#network?.answers(request.url))
      return untilAborted(this.#network.answer(this.#secrets.injectSecrets(id, grants.fetch, request)), signal);
    const addresses = await untilAborted(pinned(request.url, this.#resolve, id), signal);
    if (!addresses) throw new CreelError("ERR_FETCH_ADDRESS", { origin: request.url.origin });
    return send(this.#secrets.injectSecrets(id, grants.fetch, request), await this.#connections.to(id, request.url, addresses), signal);
  }

  /** The whole body if it is short and arrives soon, else its beginning. */
  async #answer(
    { id, grants, gatewayTime }: Requester,
    { response, request, redirects, origins }: Arrived,
    open: OpenFetch,
  ): Promise<FetchResponse> {
    const { url, method } = request;
    const secrets = this.#secrets.redactions(grants.fetch, origins);
    // SECURITY: a body that cannot be decoded cannot be searched for secrets. test/contract/secrets.test.ts
    if (secrets.length > 0 && !response.isDecoded && method !== "HEAD") {
      response.body.destroy();
      throw new CreelError("ERR_FETCH_FAILED", { origin: url.origin, detail: "its response has an encoding that was not requested" });
    }
    const redactor = new Redactor(secrets, this.#secrets.finder(id, url.origin));
    // SECURITY: every server text that a plugin sees passes this redactor, or the body's own.
    // test/contract/secrets.test.ts
    const clean = (text: string): string => redactor.text(text);
    const tooLong = () => new CreelError("ERR_FETCH_RESPONSE_SIZE", { origin: url.origin, limit: LIMITS.fetch.responseBytes });
    const measure = <T>(work: () => T): T => (gatewayTime ? gatewayTime.measure(work) : work());
    const body = new ResponseBody({ source: response.body, redactor, limit: LIMITS.fetch.responseBytes, tooLong, measure });
    open.streams(body);
    // The headers of a HEAD response describe a body that is not sent.
    if (method !== "HEAD" && Number(response.headers["content-length"] ?? 0) > LIMITS.fetch.responseBytes) throw tooLong();
    await body.gather(LIMITS.fetch.inlineBytes, LIMITS.fetch.inlineMs);
    const piece = body.take(LIMITS.fetch.inlineBytes) ?? { text: "" };
    return measure(() => ({
      status: response.status,
      statusText: clean(response.statusText),
      headers: visible(secrets.length > 0 ? withoutPackedLength(response.headers) : response.headers, clean),
      url: clean(url.href),
      redirected: redirects > 0,
      ...piece,
      ...(!body.isOver && { more: true }),
    }));
  }
}

type Headers = HttpRequest["headers"];

/** With traces, a plugin's own trace headers are not sent: they would join its request to a trace that is not the gateway's. */
async function traced(
  { trace }: Cause,
  { method, url }: HttpRequest,
  headers: Headers,
  perform: (headers: Headers) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  if (!trace) return perform(headers);
  const request = trace(method, url);
  const { traceparent: _, tracestate: __, ...rest } = headers;
  try {
    const response = await perform({ ...rest, ...request.headers });
    request.ended(response.status);
    return response;
  } catch (error) {
    request.ended(undefined, error instanceof CreelError ? error.code : "ERR_FETCH_FAILED");
    throw error;
  }
}

function requester({ id, grants, gatewayTime }: Plugin, cell: number): Requester {
  return { id, grants, gatewayTime, cell };
}

export function fetchServices(fetches: Fetches, causes: Causes, guard: RecursionGuard, tracing?: Tracing): ServiceGroup {
  return {
    services: {
      fetch: {
        // A body may be as long as an event.
        maxBytes: LIMITS.call.eventBytes,
        permit: (plugin, text) => fetches.permit(plugin, text),
        answer: ({ plugin, cell, run, args }) => {
          const chain = causes.next(run, plugin.id);
          const cause: Cause = {
            check: () => guard.checkRequest(plugin.id, chain),
            token: () => causes.token(chain),
            trace: tracing && ((method, url) => tracing.request(plugin.id, method, url, chain)),
          };
          return fetches.fetch(requester(plugin, cell), args, cause);
        },
      },
      "fetch.ask": { answer: ({ plugin, args }) => fetches.ask(plugin, args) },
      "fetch.read": { answer: ({ plugin, cell, args }) => fetches.read(requester(plugin, cell), args) },
      "fetch.abort": { answer: ({ plugin, cell, args }) => fetches.abort(requester(plugin, cell), args) },
    },
    left: ({ id }, cell) => fetches.left(id, cell),
    close: () => fetches.close(),
  };
}

const REFUSED = { origin: "an origin", path: "a path", method: "a method" } as const;

/** The form in which a cell writes a request. A request in any other form is parsed whole before it is refused. */
const TARGET_CHARS = 8 * LIMITS.fetch.urlChars;
const TARGET = /^\{"id":\d{1,16},"url":("(?:[^"\\]|\\.)*"),"method":"([A-Z]{1,16})"/;

function refuse({ id }: Pick<Requester, "id">, { url: { origin }, method }: Pick<HttpRequest, "url" | "method">, match: GrantMatch): void {
  switch (match) {
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
