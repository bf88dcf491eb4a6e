/**
 * Trusted side: HTTP requests for plugins. The plugin says what it wants; whether it may, where the name leads, what is sent
 * along and how much comes back is decided here, again for every redirect. It learns an answer, or a code and one line that
 * say nothing about the gateway's network.
 */
import { abortable } from "../abortable.ts";
import { CreelError } from "../../protocol/errors.ts";
import { fetchQuestion, fetchReference } from "../../protocol/fetch-message.ts";
import type { FetchAnswer, FetchPiece, FetchQuestion } from "../../protocol/fetch-message.ts";
import type { FetchMethod } from "../../protocol/fetch-grant.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { CAUSE_HEADER } from "../cause-tokens.ts";
import type { Causes } from "../causes.ts";
import type { Plugin } from "../plugin.ts";
import type { RecursionGuard } from "../recursion.ts";
import { pinned, resolveBySystem } from "./addresses.ts";
import type { Resolve } from "./addresses.ts";
import { Allowance } from "./allowance.ts";
import { AnswerBody } from "./answer-body.ts";
import { Connections } from "./connections.ts";
import { send } from "./exchange.ts";
import type { Hop, Network, Reply } from "./exchange.ts";
import { faultOf } from "./fetch-faults.ts";
import { visible, withoutPackedLength } from "./fetch-headers.ts";
import { firstHop, nextHop } from "./hops.ts";
import { OpenFetch, OpenFetches } from "./open-fetch.ts";
import type { OpenFetchOptions } from "./open-fetch.ts";
import { judge } from "./origins.ts";
import type { Verdict } from "./origins.ts";
import { Redactor } from "./redact.ts";
import { Secrets } from "./secrets.ts";
import type { ServiceGroup } from "./service.ts";
import { checked } from "./session.ts";

/** Whose request it is, and in which cell it was made. */
export type Requester = Pick<Plugin, "id" | "grants"> & { readonly cell: number };

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
  readonly bodyMs?: number;
  readonly idleMs?: number;
  readonly secrets?: Secrets;
  /** Told of every request that was judged, and every redirect. */
  readonly judged?: ((plugin: string, url: URL, method: FetchMethod, isGranted: boolean) => void) | undefined;
  readonly network?: Network | undefined;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The last hop of a request, and what may not be shown of what it gave. */
interface Arrived {
  readonly reply: Reply;
  readonly hop: Hop;
  readonly redirects: number;
  readonly origins: ReadonlySet<string>;
}

export class Fetches {
  readonly #allowance = new Allowance();
  readonly #connections = new Connections();
  readonly #open = new OpenFetches();
  readonly #resolve: Resolve;
  readonly #clocks: Pick<OpenFetchOptions, "timeoutMs" | "bodyMs" | "idleMs">;
  readonly #secrets: Secrets;
  readonly #network: Network | undefined;
  readonly #judged: FetchOptions["judged"];

  constructor({
    resolve = resolveBySystem,
    timeoutMs = LIMITS.fetchMs,
    bodyMs = LIMITS.fetchBodyMs,
    idleMs = LIMITS.fetchIdleMs,
    secrets = new Secrets(),
    network,
    judged,
  }: FetchOptions = {}) {
    this.#judged = judged;
    this.#resolve = resolve;
    this.#clocks = { timeoutMs, bodyMs, idleMs };
    this.#secrets = secrets;
    this.#network = network;
  }

  /** Rejects with nothing but a CreelError. */
  async fetch(plugin: Requester, args: unknown, cause: Cause): Promise<FetchAnswer> {
    const asked = checked(fetchQuestion, args, "fetch");
    const hop = firstHop(asked);
    const { origin } = hop.url;
    refuse(plugin, hop.url, hop.method, this.#judge(plugin, hop));
    if (this.#open.find(plugin.id, plugin.cell, asked.id))
      throw new CreelError("ERR_SERVICE_ARGUMENT", { service: "fetch", field: "id", detail: "it is in use" });
    cause.check();
    const leave = this.#allowance.enter(plugin.id);
    const open = new OpenFetch({ ...this.#clocks, origin, released: leave });
    this.#open.add(plugin.id, plugin.cell, asked.id, open);
    let hasMore = false;
    try {
      const arrived = await this.#follow(plugin, hop, asked.redirect, cause.token(), open.signal);
      const answer = await this.#answer(plugin, arrived, open);
      hasMore = answer.more === true;
      return answer;
    } catch (error) {
      throw faultOf(error, origin, open.signal);
    } finally {
      if (!hasMore) this.#over(plugin, asked.id, open);
    }
  }

  /** The next piece of an answer's body. Rejects with nothing but a CreelError. */
  async read(plugin: Requester, args: unknown): Promise<FetchPiece> {
    const { id } = checked(fetchReference, args, "fetch.read");
    const open = this.#open.find(plugin.id, plugin.cell, id);
    if (!open) throw new CreelError("ERR_FETCH_BODY", { detail: "it was read or given up" });
    try {
      const { piece, isOver } = await open.read();
      if (!isOver) return { ...piece, more: true };
      this.#over(plugin, id, open);
      return piece;
    } catch (error) {
      const fault = faultOf(error, open.origin, open.signal);
      // Two readers at once are one too many, but no reason to end the first.
      if (!open.isReading) this.#over(plugin, id, open);
      throw fault;
    }
  }

  /** Ends a request, or the reading of its answer. What is over already is left alone. */
  abort(plugin: Requester, args: unknown): void {
    const { id } = checked(fetchReference, args, "fetch.abort");
    this.#open.find(plugin.id, plugin.cell, id)?.abort(new CreelError("ERR_FETCH_ABORTED"));
    this.#open.remove(plugin.id, plugin.cell, id);
  }

  /** The cell is gone, and with it whoever waited. */
  left(plugin: string, cell: number): void {
    this.#open.left(plugin, cell, new CreelError("ERR_FETCH_ABORTED"));
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.#open.close(new CreelError("ERR_HOST_CLOSED"));
    await this.#connections.close();
  }

  #over({ id: plugin, cell }: Requester, id: number, open: OpenFetch): void {
    open.release();
    this.#open.remove(plugin, cell, id);
  }

  async #follow(plugin: Requester, first: Hop, redirect: FetchQuestion["redirect"], cause: string, signal: AbortSignal): Promise<Arrived> {
    let hop = first;
    const origins = new Set<string>();
    for (let redirects = 0; ; redirects++) {
      origins.add(hop.url.origin);
      const reply = await this.#send(plugin, { ...hop, headers: { ...hop.headers, [CAUSE_HEADER]: cause } }, signal);
      const location = REDIRECTS.has(reply.status) ? reply.headers.location : undefined;
      if (typeof location !== "string" || redirect === "manual") return { reply, hop, redirects, origins };
      reply.body.destroy();
      const refused = (detail: string) => new CreelError("ERR_FETCH_REDIRECT", { origin: hop.url.origin, detail });
      if (redirect === "error") throw refused('its redirect is "error"');
      if (redirects === LIMITS.fetchRedirects) throw refused(`it is number ${redirects + 1} in a row`);
      const next = nextHop(hop, reply.status, location);
      if (!next) throw refused("where it leads is not an http or https URL");
      // SECURITY: a granted server must not be able to send a plugin's request, or the plugin, anywhere else. test/contract/fetch.test.ts
      const verdict = this.#judge(plugin, next);
      if (verdict !== "granted") throw refused(`it leads to ${REFUSED[verdict]} that is not granted to ${plugin.id}`);
      hop = { ...next, url: this.#secrets.undress(plugin.grants.fetch, next) };
      // SECURITY: nor to have one origin tell another what it was told. test/contract/secrets.test.ts
      if (this.#secrets.isRevealed(hop.url, origins)) throw refused("it would tell a secret to an origin that it is not for");
    }
  }

  #judge({ id, grants }: Requester, { url, method }: Pick<Hop, "url" | "method">): Verdict {
    const verdict = judge(grants.fetch ?? [], url, method);
    this.#judged?.(id, url, method, verdict === "granted");
    return verdict;
  }

  async #send({ id, grants }: Requester, hop: Hop, signal: AbortSignal): Promise<Reply> {
    if (this.#network?.answers(hop.url)) return abortable(this.#network.answer(this.#secrets.dress(id, grants.fetch, hop)), signal);
    const addresses = await abortable(pinned(hop.url, this.#resolve), signal);
    if (!addresses) throw new CreelError("ERR_FETCH_ADDRESS", { origin: hop.url.origin });
    return send(this.#secrets.dress(id, grants.fetch, hop), this.#connections.to(id, hop.url, addresses), signal);
  }

  /** All of it if it is short and there, else its beginning. */
  async #answer({ id, grants }: Requester, { reply, hop, redirects, origins }: Arrived, open: OpenFetch): Promise<FetchAnswer> {
    const { url, method } = hop;
    const secrets = this.#secrets.redactions(grants.fetch, origins);
    // SECURITY: what cannot be read cannot be searched, either. test/contract/secrets.test.ts
    if (secrets.length > 0 && !reply.isDecoded && method !== "HEAD") {
      reply.body.destroy();
      throw new CreelError("ERR_FETCH_FAILED", { origin: url.origin, detail: "its answer has an encoding that was not asked for" });
    }
    const redactor = new Redactor(secrets, this.#secrets.finder(id, url.origin));
    // SECURITY: every text of the server's that a plugin sees goes through here, or through the body's own redactor. test/contract/secrets.test.ts
    const clean = (text: string): string => redactor.text(text);
    const tooLong = () => new CreelError("ERR_FETCH_RESPONSE_SIZE", { origin: url.origin, limit: LIMITS.fetchResponseBytes });
    const body = new AnswerBody({ source: reply.body, redactor, limit: LIMITS.fetchResponseBytes, tooLong });
    open.streams(body);
    // The headers of a HEAD speak of a body that is not there.
    if (method !== "HEAD" && Number(reply.headers["content-length"] ?? 0) > LIMITS.fetchResponseBytes) throw tooLong();
    await body.gather(LIMITS.fetchInlineBytes, LIMITS.fetchInlineMs);
    const piece = body.take(LIMITS.fetchInlineBytes) ?? { text: "" };
    return {
      status: reply.status,
      statusText: clean(reply.statusText),
      headers: visible(secrets.length > 0 ? withoutPackedLength(reply.headers) : reply.headers, clean),
      url: clean(url.href),
      redirected: redirects > 0,
      ...piece,
      ...(!body.isOver && { more: true }),
    };
  }
}

export function fetchServices(fetches: Fetches, causes: Causes, guard: RecursionGuard): ServiceGroup {
  return {
    services: {
      fetch: {
        // A body may be as long as an event.
        maxBytes: LIMITS.eventBytes,
        answer: ({ plugin, cell, run, args }) => {
          const chain = causes.next(run, plugin.id);
          const { id, grants } = plugin;
          const cause = { check: () => guard.checkRequest(id, chain), token: () => causes.token(chain) };
          return fetches.fetch({ id, grants, cell }, args, cause);
        },
      },
      "fetch.read": { answer: ({ plugin: { id, grants }, cell, args }) => fetches.read({ id, grants, cell }, args) },
      "fetch.abort": { answer: ({ plugin: { id, grants }, cell, args }) => fetches.abort({ id, grants, cell }, args) },
    },
    left: ({ id }, cell) => fetches.left(id, cell),
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
