/**
 * Trusted side: the console over HTTP, on loopback alone. Beside the three files of the page nothing is answered without a token; the
 * request itself is judged before (request-check.ts). No cookie, no WebSocket, no CORS.
 */
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { userInfo } from "node:os";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import { toWire } from "../protocol/serve.ts";
import { defaultLogger } from "../host/report/log.ts";
import type { Logger } from "../host/report/log.ts";
import { keptToken } from "../os/kept-token.ts";
import type { ConsoleHost } from "./console-host.ts";
import type { ConsoleTools } from "./console-tools.ts";
import { Feed } from "./feed.ts";
import { METHODS } from "./methods.ts";
import { openMetrics } from "./metrics.ts";
import { pageFiles } from "./page-files.ts";
import { isPagePath, pathOf, refusedBecause, SAFE_HEADERS } from "./request-check.ts";
import { readJson } from "./request-body.ts";
import { Sessions } from "./sessions.ts";
import type { Scope } from "./sessions.ts";

export type { ConsoleHost } from "./console-host.ts";
export type { ConsoleTools } from "./console-tools.ts";

export interface ConsoleOptions {
  /** 0 (the default): any free one. */
  readonly port?: number;
  /** `127.0.0.1` (the default) or `::1`. No other: use `ssh -L` to look from another machine. */
  readonly address?: string;
  /** A browser with the page may look, and not act. */
  readonly readOnly?: boolean;
  /** Holds the token of /metrics, for its owner alone; it stays the same. Default: `console-token` in the host's state folder; without one, no file. */
  readonly tokenFile?: string;
  /** Replays, permissions and updates; `creel console` has them. Without them the page names the commands. */
  readonly tools?: ConsoleTools;
  readonly logger?: Logger;
}

export interface ConsoleServer extends AsyncDisposable {
  readonly port: number;
  /** Without a code: it opens no door. */
  readonly origin: string;
  readonly tokenFile: string | undefined;
  /** Pages that are shown now; a hidden tab is none. Without one, nothing is asked of the host but a sample of measurements. */
  readonly openPages: number;
  /** An address to open: it works once, within a minute. */
  newAddress(): string;
  close(): Promise<void>;
}

const HEAD_BYTES = 8 * 1024;
const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "::1"]);

/** Rejects with a CreelError. */
export async function serveConsole(host: ConsoleHost, options: ConsoleOptions = {}): Promise<ConsoleServer> {
  const { port = 0, address = "127.0.0.1", readOnly = false, tools, logger = defaultLogger() } = options;
  // SECURITY: test/console/security.test.ts
  if (!LOOPBACK.has(address)) throw new CreelError("ERR_CONSOLE_ADDRESS", { address });
  const sessions = new Sessions(readOnly ? ["read"] : ["read", "act"]);
  const names = new Set<string>();
  const log = (error: unknown): void => logger.warn({ err: error }, "console: the host does not answer");
  const server = createServer({ maxHeaderSize: HEAD_BYTES, requireHostHeader: false }, (request, response) => {
    for (const [name, value] of Object.entries(SAFE_HEADERS)) response.setHeader(name, value!);
    const refused = refusedBecause(request, names);
    if (refused) {
      logger.warn({ status: refused.status, detail: refused.why }, "console: request refused");
      return refuse(request, response, refused.status);
    }
    void handler(request, response).catch((error: unknown) => {
      logger.error({ err: error }, "console: request failed");
      if (response.headersSent) response.destroy();
      else answer(request, response, 500, { error: toWire(error) });
    });
  });
  server.maxConnections = LIMITS.console.connections;
  server.headersTimeout = LIMITS.serve.helloMs;
  await listening(server, port, address);
  const bound = (server.address() as AddressInfo).port;
  const literal = address === "::1" ? "[::1]" : address;
  for (const name of [literal, "localhost"]) names.add(`${name}:${bound}`);
  const feed = new Feed(host, { log, hasTools: tools !== undefined });
  const handler = handlerOf({ host, feed, sessions, tools });
  const tokenFile = options.tokenFile ?? (host.stateDir && join(host.stateDir, "console-token"));
  // The same for all consoles of a host: what a scraper was told works with each of them.
  if (tokenFile !== undefined) sessions.addMetricsToken(await keptToken(tokenFile));
  // Calls that need an approval wait for an answer from this page, even if their gateway cannot ask a user.
  const endOffer = readOnly ? undefined : host.offerAnswers();
  let closing: Promise<void> | undefined;
  const shut = async (): Promise<void> => {
    endOffer?.();
    feed[Symbol.dispose]();
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  const close = (): Promise<void> => (closing ??= shut());
  const origin = `http://${literal}:${bound}`;
  return {
    port: bound,
    origin,
    tokenFile,
    get openPages() {
      return feed.openPages;
    },
    newAddress: () => `${origin}/#${sessions.newCode()}`,
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Parts {
  readonly host: ConsoleHost;
  readonly feed: Feed;
  readonly sessions: Sessions;
  readonly tools: ConsoleTools | undefined;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

function handlerOf({ host, feed, sessions, tools }: Parts): Handler {
  const by = `${userInfo().username} (console)`;
  return async (request, response) => {
    const { method, url = "/", headers } = request;
    const path = pathOf(url);
    if (method === "GET" && isPagePath(path)) return page(path, request, response);
    if (sessions.isLocked) return refuse(request, response, 429);
    // A header of ours: a page of another origin could send it only after a preflight, which is never granted.
    if (method === "POST" && path === "/session" && headers["x-creel-console"] === "1") {
      const body = await readJson(request);
      if (!isFields(body)) return refuse(request, response, 400);
      const session = typeof body.code === "string" ? sessions.redeem(body.code) : undefined;
      return session ? answer(request, response, 200, session) : refuse(request, response, 401);
    }
    const scopes = sessions.scopesOf(headers.authorization);
    if (!scopes) return refuse(request, response, 401);
    if (method === "GET" && path === "/metrics") return metrics(host, response);
    if (!scopes.has("read")) return refuse(request, response, 403);
    if (method === "GET" && path === "/feed") return stream(feed, scopes, url, response);
    if (method !== "POST" || path !== "/rpc") return refuse(request, response, 404);
    const body = await readJson(request, scopes.has("act") ? LIMITS.console.actBodyBytes : LIMITS.console.bodyBytes);
    if (!isFields(body)) return refuse(request, response, 400);
    const found = METHODS.get(String(body.method));
    if (!found) return refuse(request, response, 404);
    // SECURITY: test/console/security.test.ts
    if (!scopes.has(found.scope)) return refuse(request, response, 403);
    const parsed = found.params.safeParse(body.params ?? {});
    if (!parsed.success) return refuse(request, response, 400);
    try {
      answer(request, response, 200, { ok: (await found.run({ host, feed, tools, by }, parsed.data)) ?? null });
    } catch (error) {
      answer(request, response, 200, { error: toWire(error) });
    }
  };
}

function isFields(body: unknown): body is Readonly<Record<string, unknown>> {
  return typeof body === "object" && body !== null;
}

async function page(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const file = (await pageFiles()).get(path);
  if (!file) return refuse(request, response, 404);
  response.writeHead(200, { "content-type": file.type, "content-length": file.body.length }).end(file.body);
}

async function metrics(host: ConsoleHost, response: ServerResponse): Promise<void> {
  const text = openMetrics(await host.stats());
  response.writeHead(200, { "content-type": "application/openmetrics-text; version=1.0.0; charset=utf-8" }).end(text);
}

async function stream(feed: Feed, scopes: ReadonlySet<Scope>, url: string, response: ServerResponse): Promise<void> {
  const query = new URLSearchParams(url.slice(url.indexOf("?") + 1));
  const seq = Number(query.get("since") ?? 0);
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  response.flushHeaders();
  await feed.join(response, [...scopes], { seq: Number.isSafeInteger(seq) ? seq : 0, host: query.get("host") ?? "" });
}

/** Without a body, and without reading one. */
function refuse(request: IncomingMessage, response: ServerResponse, status: number): void {
  request.pause();
  response.writeHead(status, { connection: "close" }).end(() => request.socket?.destroySoon());
}

function answer(request: IncomingMessage, response: ServerResponse, status: number, json: object): void {
  const close = request.complete ? {} : { connection: "close" };
  response.writeHead(status, { "content-type": "application/json", ...close }).end(JSON.stringify(json));
}

function listening(server: Server, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", ({ message }) => reject(new CreelError("ERR_CONSOLE_PORT", { port, detail: message })));
    server.listen(port, address, resolve);
  });
}
