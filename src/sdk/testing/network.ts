/**
 * Trusted side, in an author's test: answers in place of servers beyond this machine. The host checks grants, secrets, redirects and limits as
 * usual; only the connection is not made. A request to a server that the test does not define fails, and says so: a test must not reach a
 * real server because its author forgot a line.
 */
import { Readable } from "node:stream";
import { CAUSE_HEADER } from "../../host/causality/cause-tokens.ts";
import type { HttpRequest, Network, HttpResponse } from "../../host/services/fetch/request.ts";
import { CreelError } from "../../protocol/errors.ts";
import type { Mistakes } from "./mistakes.ts";

/** A request as it would have left the machine, secrets included. */
export interface HarnessRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** As text; undefined: it had none. */
  readonly body: string | undefined;
}

/** What a server says: a `Response`, or its parts. `json` is written as JSON, with its content type. Null: it cuts the connection. */
export type HarnessAnswer =
  | Response
  | null
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | Uint8Array<ArrayBuffer>;
      readonly json?: unknown;
    };

/** An error it throws is a mistake of the test: the harness call that runs the plugin rejects with it. */
export type HarnessServer = (request: Request) => HarnessAnswer | Promise<HarnessAnswer>;

const LOCAL = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

export class HarnessNetwork implements Network {
  readonly requests: HarnessRequest[] = [];
  readonly #servers = new Map<string, HarnessServer>();
  readonly #mistakes: Mistakes;

  constructor(mistakes: Mistakes) {
    this.#mistakes = mistakes;
  }

  serve(origin: string, server: HarnessServer): void {
    const url = URL.parse(origin);
    if (url?.origin !== origin) throw new TypeError(`"${origin}" is not an origin, such as "https://api.example.com"`);
    this.#servers.set(origin, server);
  }

  /** Servers of this machine are real: a test may start its own. */
  answers({ origin, hostname }: URL): boolean {
    return this.#servers.has(origin) || !LOCAL.test(hostname);
  }

  async answer({ url, method, headers: sent, body }: HttpRequest): Promise<HttpResponse> {
    const headers = Object.fromEntries(Object.entries(sent).filter(([name]) => name !== CAUSE_HEADER));
    this.requests.push({ method, url: url.href, headers, body: body?.toString("utf8") });
    const { origin } = url;
    const server = this.#servers.get(origin);
    if (!server)
      throw new CreelError("ERR_FETCH_FAILED", { origin, detail: `no server of the test answers for it: harness.network("${origin}", …)` });
    const request = new Request(url, { method, headers, ...(body && { body: new Uint8Array(body) }) });
    let answer: HarnessAnswer;
    try {
      answer = await server(request);
    } catch (error) {
      this.#mistakes.note(error);
      throw error;
    }
    if (answer === null) throw Object.assign(new Error("cut"), { code: "ECONNRESET" });
    return replyOf(answer, method);
  }
}

function replyOf(answer: NonNullable<HarnessAnswer>, method: string): HttpResponse {
  const response = isResponse(answer) ? answer : responseOf(answer);
  const { status, statusText, headers, body } = response;
  return {
    status,
    statusText,
    headers: { ...Object.fromEntries(headers), ...(headers.has("set-cookie") && { "set-cookie": headers.getSetCookie() }) },
    body: body && method !== "HEAD" ? Readable.fromWeb(body) : Readable.from([]),
    isDecoded: true,
  };
}

/** Not `instanceof`: test runners bring their own classes. */
function isResponse(answer: NonNullable<HarnessAnswer>): answer is Response {
  return typeof (answer as Response).arrayBuffer === "function";
}

function responseOf({ status = 200, headers = {}, body, json }: Exclude<HarnessAnswer, Response | null>): Response {
  if (json !== undefined) return Response.json(json, { status, headers });
  return new Response(body ?? null, { status, headers });
}
