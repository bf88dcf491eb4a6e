/**
 * Trusted side: serves the HTTP routes that plugins declare, from a server of the gateway's. A request is handed over as
 * data, and what the plugin answers is checked before it is sent.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import * as z from "zod";
import type { DeclaredFunction } from "../../host/functions/functions.ts";
import type { Host } from "../../host/host-api.ts";
import { LIMITS } from "../../protocol/limits.ts";

export interface ServeRoutesOptions {
  /** Is it the operator, or whom the gateway lets in? Asked for routes whose `auth` is `gateway`; without it they answer 401. */
  readonly isAuthorized?: (request: IncomingMessage) => boolean | Promise<boolean>;
  /**
   * Tokens and passwords of the gateway. A header or parameter with one of them is not handed to a plugin. With this option a route whose
   * `auth` is `plugin` keeps its own `token` parameter; without it no route does, because it may be the gateway's.
   */
  readonly secrets?: () => readonly string[];
}

type Route = Pick<DeclaredFunction<"route">, "name" | "plugin" | "about">;

/**
 * SECURITY: the gateway's own credentials are not the plugin's, also where the plugin checks the request itself. test/sdk/gateway/http-routes.test.ts
 * A browser sends cookies, and the page that a request came from, to every path of the gateway's origin.
 */
const CREDENTIALS = new Set(["authorization", "cookie", "proxy-authorization", "referer"]);
/** Parameters in which a gateway's own token travels. */
const CREDENTIAL_PARAMETER = /^(?:access[-_]?token|auth|authorization|password|token)$/i;
/** Shorter texts are in every request. */
const MIN_SECRET_CHARS = 6;
/** About the connection, which is the gateway's. */
const CONNECTION = new Set(["connection", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"]);
/** SECURITY: a plugin's page is no page of the gateway's origin. test/sdk/gateway/http-routes.test.ts */
const PAGE = "sandbox allow-scripts allow-forms allow-popups";
const NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]{0,8192}$/;

const value = z.string().regex(VALUE);
const answerSchema = z.union([
  z.object({ handled: z.literal(false) }),
  z.object({
    handled: z.literal(true),
    status: z.int().min(200).max(599),
    headers: z.record(z.string().regex(NAME), z.union([value, z.array(value).max(64)])),
    body: z.string(),
    encoding: z.literal("base64").optional(),
  }),
]);

/** A listener of a Node server. Gives false if the request is for none of the routes: the gateway goes on with it. */
export function serveRoutes(
  host: Pick<Host, "routes" | "call">,
  { isAuthorized, secrets }: ServeRoutesOptions = {},
): (request: IncomingMessage, response: ServerResponse) => Promise<boolean> {
  return async (request, response) => {
    const path = (request.url ?? "/").replace(/[?#].*$/s, "");
    // The longest first: it is the most exact.
    const found = host.routes().toSorted((a, b) => b.name.length - a.name.length);
    let body: Promise<Buffer | undefined> | undefined;
    for (const route of found) {
      if (!isFor(route, path)) continue;
      if (route.about.auth === "gateway" && !(await isAuthorized?.(request))) return says(response, 401, "not authorized");
      // Read once, for every route that may have the request.
      body ??= bodyOf(request);
      if (await serveRoute(host, route, request, response, { body, ...(secrets && { secrets: secrets() }) })) return true;
    }
    return false;
  };
}

function isFor({ name, about }: Route, path: string): boolean {
  return path === name || (about.match === "prefix" && path.startsWith(name.endsWith("/") ? name : `${name}/`));
}

/** One request, which is known to be for this route and authorized. */
export async function serveRoute(
  host: Pick<Host, "call">,
  { name, plugin, about }: Route,
  request: IncomingMessage,
  response: ServerResponse,
  { body: reading = bodyOf(request), secrets }: { readonly body?: Promise<Buffer | undefined>; readonly secrets?: readonly string[] } = {},
): Promise<boolean> {
  const body = await reading;
  if (body === undefined) return says(response, 413, "the body is too long");
  const hidden = (secrets ?? []).filter(({ length }) => length >= MIN_SECRET_CHARS);
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([header, text]) => !CREDENTIALS.has(header) && !holds(String(text), hidden)),
  );
  const isText = Buffer.from(body.toString("utf8"), "utf8").equals(body);
  const { value: given, status } = await host.call(
    { route: name, plugin },
    {
      method: request.method,
      url: urlWithout(request.url ?? "/", hidden, about.auth === "gateway" || !secrets),
      headers,
      remoteAddress: request.socket.remoteAddress,
      ...(isText ? { body: body.toString("utf8") } : { body: body.toString("base64"), encoding: "base64" }),
    },
  );
  if (status !== "ok") return says(response, status === "timeout" ? 504 : 502, "the plugin did not answer");
  const answer = answerSchema.safeParse(given);
  if (!answer.success) return says(response, 502, "the plugin's answer is not valid");
  if (!answer.data.handled) return false;
  for (const [header, text] of Object.entries(answer.data.headers))
    if (!CONNECTION.has(header.toLowerCase())) response.setHeader(header, text);
  response.setHeader("content-security-policy", PAGE);
  response.setHeader("x-content-type-options", "nosniff");
  response.statusCode = answer.data.status;
  response.end(Buffer.from(answer.data.body, answer.data.encoding ?? "utf8"));
  return true;
}

/** The address without parameters that hold a secret, or, with `byName`, may hold one. Others stay as they were written. */
function urlWithout(url: string, hidden: readonly string[], byName: boolean): string {
  const at = url.indexOf("?");
  if (at < 0) return url;
  const kept = url
    .slice(at + 1)
    .split("&")
    .filter((parameter) => {
      const [name = "", ...rest] = parameter.split("=");
      return !(byName && CREDENTIAL_PARAMETER.test(decoded(name))) && !holds(decoded(rest.join("=")), hidden);
    });
  return kept.length === 0 ? url.slice(0, at) : `${url.slice(0, at)}?${kept.join("&")}`;
}

/** As it is, or in base64, as in basic authorization. */
function holds(text: string, hidden: readonly string[]): boolean {
  if (hidden.length === 0) return false;
  const texts = [text, ...text.split(/[\s,;]+/).map((word) => Buffer.from(word, "base64").toString())];
  return hidden.some((secret) => texts.some((one) => one.includes(secret)));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

function says(response: ServerResponse, status: number, text: string): true {
  response.writeHead(status, { "content-type": "text/plain" }).end(text);
  return true;
}

/** Undefined: it is too long. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > LIMITS.fetch.responseBytes) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
