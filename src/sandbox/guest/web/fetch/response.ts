/** Inside the isolate: `Response`. */
import type { FetchResponse } from "../../../../protocol/messages/fetch.ts";
import { bare, NativeNumber, NativeString, NativeTypeError, stringify } from "../../boot/primordials.ts";
import { Body, copyBody, stateOf, takeBody } from "./body.ts";
import type { Source } from "./body.ts";
import { freeze, Headers, headersOf } from "./headers.ts";
import { cloneAs, expose, inspectAs } from "../idl.ts";
import { parsedUrl } from "./parts.ts";

interface Init {
  status?: unknown;
  statusText?: unknown;
  headers?: unknown;
}

/** Makes a Response from the host's response. The rest of its body comes from `source`. */
export let received: (answer: FetchResponse, source: Source | undefined, method: string) => Response;

/** Statuses that cannot have a body. */
const EMPTY = [101, 204, 205, 304];
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export class Response extends Body {
  #status = 200;
  #statusText = "";
  #headers = new Headers();
  #url = "";
  #redirected = false;
  #type = "default";

  static {
    received = (fields, source, method) => {
      const answer = bare(fields);
      const response = new Response();
      response.#status = answer.status;
      response.#statusText = answer.statusText;
      response.#headers = freeze(headersOf(answer.headers));
      response.#url = answer.url;
      response.#redirected = answer.redirected;
      response.#type = "basic";
      const state = stateOf(response);
      if (method === "HEAD" || isBodyless(answer.status)) return response;
      state.content = bare({ text: answer.text, bytes: answer.bytes });
      state.source = source;
      return response;
    };
  }

  constructor(body?: unknown, init?: Init) {
    super();
    const { status, statusText, headers } = checkedInit(init);
    if (status !== undefined) this.#status = status;
    this.#statusText = statusText;
    this.#headers = new Headers(headers);
    if (body === undefined || body === null) return;
    if (isBodyless(this.#status)) throw new NativeTypeError(`Response constructor: Invalid response status code ${this.#status}`);
    const type = takeBody(this, body);
    if (type !== undefined && !this.#headers.has("content-type")) this.#headers.append("content-type", type);
  }

  static error(): Response {
    const response = new Response();
    response.#status = 0;
    response.#type = "error";
    freeze(response.#headers);
    return response;
  }

  static json(data: unknown, init?: Init): Response {
    const text = stringify(data) as string | undefined;
    if (text === undefined) throw new NativeTypeError("Value is not JSON serializable");
    const response = new Response(text, init);
    const given = new Headers(checkedInit(init).headers).get("content-type");
    response.#headers.set("content-type", given ?? "application/json");
    return response;
  }

  static redirect(url: unknown, status: unknown = 302): Response {
    const { href } = parsedUrl(url);
    const code = NativeNumber(status);
    if (!REDIRECTS.has(code)) throw new RangeError(`Invalid status code ${code}`);
    const response = new Response();
    response.#status = code;
    response.#headers.set("location", href);
    freeze(response.#headers);
    return response;
  }

  get type(): string {
    return this.#type;
  }
  get url(): string {
    return this.#url;
  }
  get redirected(): boolean {
    return this.#redirected;
  }
  get status(): number {
    return this.#status;
  }
  get ok(): boolean {
    return this.#status >= 200 && this.#status < 300;
  }
  get statusText(): string {
    return this.#statusText;
  }
  get headers(): Headers {
    return this.#headers;
  }

  clone(): Response {
    const copy = new Response();
    copyBody(this, copy);
    copy.#status = this.#status;
    copy.#statusText = this.#statusText;
    copy.#headers = new Headers(this.#headers);
    if (this.#type !== "default") freeze(copy.#headers);
    copy.#url = this.#url;
    copy.#redirected = this.#redirected;
    copy.#type = this.#type;
    return copy;
  }
}

function isBodyless(status: number): boolean {
  for (let i = 0; i < EMPTY.length; i++) if (EMPTY[i] === status) return true;
  return false;
}

function checkedInit(init: Init | undefined): { status: number | undefined; statusText: string; headers: unknown } {
  if (init === undefined || init === null) return bare({ status: undefined, statusText: "", headers: undefined });
  const status = init.status === undefined ? undefined : NativeNumber(init.status) & 0xffff;
  if (status !== undefined && (status < 200 || status > 599))
    throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
  const statusText = init.statusText === undefined ? "" : NativeString(init.statusText);
  // oxlint-disable-next-line no-control-regex -- a tab is the one control character that may be in it
  if (/[^\t\x20-\x7e\x80-\xff]/.test(statusText)) throw new TypeError("Invalid statusText");
  return { status, statusText, headers: init.headers };
}

Object.defineProperty(Response, "length", { value: 0 });
expose(Response);
cloneAs(Response);
inspectAs<Response>(Response, ({ status, statusText, headers, body, bodyUsed, ok, redirected, type, url }) => ({
  status,
  statusText,
  headers,
  body,
  bodyUsed,
  ok,
  redirected,
  type,
  url,
}));
