/**
 * Trusted side: `creel serve --http`, for agents with HTTP hooks: `POST /hook/<agent>/<event>` on loopback. Any process
 * of the machine and any page in a browser can reach the port, so nothing is done for a request without the token, from
 * a browser, or for another host's name. A request with the token is the agent's: what Creel cannot read or judge in
 * time is answered with a denial and status 200, since agents let a tool run after any other status.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CreelError } from "../protocol/errors.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Host } from "../host/host-api.ts";
import type { Logger } from "../host/report/log.ts";
import { keptToken } from "../os/kept-token.ts";
import { agentOf } from "./agents/agents.ts";
import { readPayload } from "./agents/format.ts";
import type { AgentFormat, Bag, HookDecision } from "./agents/format.ts";
import { explained, judge, refusal } from "./agents/judge.ts";
import type { HookQuestion, HookRunner } from "./agents/judge.ts";

export interface HttpHooks {
  readonly url: string;
  /** Holds the token, for its owner alone. */
  readonly tokenFile: string;
  close(): Promise<void>;
}

const HEAD_BYTES = 8 * 1024;

export interface HttpOptions {
  /** 0: any free one. */
  readonly port: number;
  readonly socket: string;
  readonly host: Host;
  readonly logger: Logger;
}

export async function listenHttp({ port, socket, host, logger }: HttpOptions): Promise<HttpHooks> {
  const tokenFile = `${socket}.http-token`;
  // Agents have it in their environment.
  const token = await keptToken(tokenFile);
  let names: ReadonlySet<string> = new Set();
  const server = createServer({ maxHeaderSize: HEAD_BYTES, requireHostHeader: false }, (request, response) => {
    const refused = refusedBecause(request, names, token);
    if (refused !== undefined) {
      logger.warn({ status: refused.status, detail: refused.why }, "http request refused");
      return refuse(request, response, refused.status);
    }
    const [, format, event] = routeOf(request.url)!;
    void answer(request, format, event, host).then(
      ({ json, problem }) => {
        if (problem !== undefined) logger.warn({ agent: format.name, event, detail: problem }, "http hook not judged");
        send(request, response, 200, json);
      },
      (error: unknown) => {
        logger.error({ err: error }, "http request failed");
        send(request, response, 500, {});
      },
    );
  });
  // SECURITY: connections without a complete request, and more of them than agents need, are closed. test/serve/http.test.ts
  server.maxConnections = LIMITS.serve.httpConnections;
  server.headersTimeout = LIMITS.serve.helloMs;
  server.requestTimeout = LIMITS.serve.hookMs;
  await listening(server, port);
  const bound = (server.address() as AddressInfo).port;
  names = new Set([`127.0.0.1:${bound}`, `localhost:${bound}`]);
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeIdleConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${bound}`, tokenFile, close };
}

interface Refused {
  readonly status: number;
  readonly why: string;
}

/** SECURITY: the order matters: only a holder of the token learns which paths there are. test/serve/http.test.ts */
function refusedBecause(request: IncomingMessage, names: ReadonlySet<string>, token: string): Refused | undefined {
  const { headers, method, url } = request;
  // A page whose own name was made to point here has that name as Host.
  if (headers.host === undefined || !names.has(headers.host)) return { status: 421, why: "the Host header is not this server's address" };
  // Browsers add these, agents do not. No answer has CORS headers.
  if (headers.origin !== undefined || headers["sec-fetch-site"] !== undefined)
    return { status: 403, why: "the request comes from a browser" };
  if (!isToken(headers.authorization, token)) return { status: 401, why: "the token is missing or wrong" };
  if (!routeOf(url)) return { status: 404, why: "there is no such agent or event" };
  if (method !== "POST") return { status: 405, why: "the method is not POST" };
  return undefined;
}

function isToken(authorization: string | undefined, token: string): boolean {
  return timingSafeEqual(digest(authorization ?? ""), digest(`Bearer ${token}`));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function routeOf(url: string | undefined): [string, AgentFormat, string] | undefined {
  const [, agent, event] = /^\/hook\/([\w-]{1,32})\/(\w{1,32})$/.exec(url ?? "") ?? [];
  const format = agentOf(agent);
  return format && event !== undefined && Object.hasOwn(format.events, event) ? [url!, format, event] : undefined;
}

async function answer(request: IncomingMessage, format: AgentFormat, event: string, host: Host): Promise<{ json: Bag; problem?: string }> {
  const moment = format.events[event]!;
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(new CreelError("ERR_HOOK_SLOW", { ms: LIMITS.serve.hookMs })), LIMITS.serve.hookMs);
  request.once("close", () => request.complete || stop.abort(new CreelError("ERR_SERVE_CANCELLED")));
  const written = (decided: HookDecision): Bag => format.answer(moment, event, decided) ?? {};
  try {
    const { reading } = readPayload(format, event, await bodyOf(request, format, event));
    return { json: written(await judge(format, moment, reading, runnerOf(host, stop.signal))) };
  } catch (thrown) {
    const error: unknown = stop.signal.aborted ? stop.signal.reason : thrown;
    return { json: written(refusal(format, moment, error)), problem: explained(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** Throws a CreelError. */
async function bodyOf(request: IncomingMessage, format: AgentFormat, event: string): Promise<unknown> {
  const wrong = (detail: string): CreelError => new CreelError("ERR_HOOK_PAYLOAD", { agent: format.title, event, detail });
  const chunks: Buffer[] = [];
  let bytes = 0;
  const body = new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => reject(wrong(`it did not arrive within ${LIMITS.serve.helloMs} ms`)), LIMITS.serve.helloMs);
    const end = (settle: () => void) => (): void => {
      clearTimeout(late);
      settle();
    };
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > LIMITS.serve.hookBytes) end(() => reject(wrong(`it has more than ${LIMITS.serve.hookBytes} bytes`)))();
      else chunks.push(chunk);
    });
    request.once(
      "end",
      end(() => resolve(Buffer.concat(chunks).toString("utf8"))),
    );
    request.once(
      "error",
      end(() => reject(wrong("the connection broke"))),
    );
  });
  try {
    return JSON.parse(await body) as unknown;
  } catch (error) {
    throw error instanceof CreelError ? error : wrong("it is not JSON");
  }
}

function runnerOf(host: Host, signal: AbortSignal): HookRunner {
  return {
    async run(hook, event, ctx) {
      let question: HookQuestion | undefined;
      // There is no one to ask here: the agent asks its user after this answer.
      const requestApproval = async (asked: HookQuestion): Promise<undefined> => void (question = asked);
      const outcome = await host.run(hook as never, event as never, ctx as never, { signal, requestApproval });
      return { outcome, question };
    },
    emit: async (hook, event, ctx) => host.emit(hook as never, event as never, ctx as never)?.kept,
  };
}

/** Without a body, and without reading one. */
function refuse(request: IncomingMessage, response: ServerResponse, status: number): void {
  request.pause();
  response.writeHead(status, { connection: "close", ...(status === 405 && { allow: "POST" }) }).end(() => request.socket.destroySoon());
}

function send(request: IncomingMessage, response: ServerResponse, status: number, json: Bag): void {
  // The rest of a body that is too large or too slow is not waited for.
  const close = request.complete ? {} : { connection: "close" };
  response.writeHead(status, { "content-type": "application/json", ...close }).end(JSON.stringify(json), () => {
    if (!request.complete) request.socket.destroySoon();
  });
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", ({ message }) => reject(new CreelError("ERR_SERVE_HTTP", { port, detail: message })));
    server.listen(port, "127.0.0.1", resolve);
  });
}
