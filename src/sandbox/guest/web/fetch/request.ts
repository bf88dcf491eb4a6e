/**
 * Inside the isolate: `Request`. Options that only matter in browsers (mode, credentials, cache) are accepted and have
 * no effect.
 */
import { NativeString, NativeTypeError, upperCase } from "../../boot/primordials.ts";
import type { AbortSignal } from "../abort.ts";
import { Body, copyBody, isUsable, stateOf, takeBody } from "./body.ts";
import { Headers } from "./headers.ts";
import { cloneAs, expose, inspectAs } from "../idl.ts";
import { abortPart, parsedUrl } from "./parts.ts";

export interface RequestInit {
  method?: unknown;
  headers?: unknown;
  body?: unknown;
  redirect?: unknown;
  signal?: unknown;
  duplex?: unknown;
  mode?: unknown;
  credentials?: unknown;
  cache?: unknown;
  referrer?: unknown;
  referrerPolicy?: unknown;
  integrity?: unknown;
  keepalive?: unknown;
}

export let isRequest: (value: unknown) => value is Request;

const KNOWN = new Set(["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]);
const INERT = {
  mode: "cors",
  credentials: "same-origin",
  cache: "default",
  referrer: "about:client",
  referrerPolicy: "",
  integrity: "",
} as const;
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  mode: ["navigate", "same-origin", "no-cors", "cors"],
  credentials: ["omit", "same-origin", "include"],
  cache: ["default", "no-store", "reload", "no-cache", "force-cache", "only-if-cached"],
  redirect: ["follow", "error", "manual"],
};

export class Request extends Body {
  #method = "GET";
  #url = "";
  #headers = new Headers();
  #redirect = "follow";
  #signal: AbortSignal | undefined;
  #keepalive = false;
  readonly #inert: Record<keyof typeof INERT, string> = { ...INERT };

  static {
    isRequest = (value): value is Request => typeof value === "object" && value !== null && #method in value;
  }

  constructor(input: unknown, init?: RequestInit) {
    super();
    if (arguments.length === 0) throw new TypeError("Request constructor: 1 argument required, but only 0 present.");
    if (init !== undefined && init !== null && typeof init !== "object" && typeof init !== "function")
      throw new TypeError("RequestInit: cannot be converted to a dictionary");
    const given: RequestInit = init ?? {};
    const from = isRequest(input) ? input : undefined;
    if (from) this.#become(from);
    else this.#url = parsed(input);
    if (given.method !== undefined) this.#method = methodOf(given.method);
    if (given.redirect !== undefined) this.#redirect = oneOf("redirect", given.redirect);
    if (given.keepalive !== undefined) this.#keepalive = Boolean(given.keepalive);
    for (const key of Object.keys(INERT) as (keyof typeof INERT)[]) if (given[key] !== undefined) this.#inert[key] = oneOf(key, given[key]);
    const signal = given.signal === undefined && from ? from.#signal : given.signal;
    if (signal !== undefined && signal !== null) this.#signal = followed(signal);
    this.#headers = new Headers(given.headers ?? (from ? from.#headers : undefined));
    const hasOwnBody = given.body !== undefined && given.body !== null;
    const inherits = !hasOwnBody && from !== undefined && from.body !== null;
    if ((hasOwnBody || inherits) && (this.#method === "GET" || this.#method === "HEAD"))
      throw new NativeTypeError("Request with GET/HEAD method cannot have body.");
    if (hasOwnBody) {
      const type = takeBody(this, given.body);
      if (stateOf(this).stream && given.duplex === undefined)
        throw new TypeError("RequestInit: duplex option is required when sending a body.");
      if (type !== undefined && !this.#headers.has("content-type")) this.#headers.append("content-type", type);
    } else if (inherits) {
      const state = stateOf(from);
      if (!isUsable(state)) throw new TypeError("Cannot construct a Request with a Request object that has already been used.");
      const { content, source, stream } = state;
      // The body moves to the new request; the old one counts as used.
      Object.assign(stateOf(this), { content, source, stream });
      Object.assign(state, { content: content ?? {}, source: undefined, stream: undefined, isUsed: true });
    }
  }

  #become(from: Request): void {
    this.#method = from.#method;
    this.#url = from.#url;
    this.#redirect = from.#redirect;
    this.#keepalive = from.#keepalive;
    Object.assign(this.#inert, from.#inert);
  }

  get method(): string {
    return this.#method;
  }
  get url(): string {
    return this.#url;
  }
  get headers(): Headers {
    return this.#headers;
  }
  get destination(): string {
    return "";
  }
  get referrer(): string {
    return this.#inert.referrer;
  }
  get referrerPolicy(): string {
    return this.#inert.referrerPolicy;
  }
  get mode(): string {
    return this.#inert.mode;
  }
  get credentials(): string {
    return this.#inert.credentials;
  }
  get cache(): string {
    return this.#inert.cache;
  }
  get redirect(): string {
    return this.#redirect;
  }
  get integrity(): string {
    return this.#inert.integrity;
  }
  get keepalive(): boolean {
    return this.#keepalive;
  }
  get isReloadNavigation(): boolean {
    return false;
  }
  get isHistoryNavigation(): boolean {
    return false;
  }
  /** Made on first access, since most requests are never aborted. */
  get signal(): AbortSignal {
    return (this.#signal ??= new (abortPart().AbortController)().signal);
  }
  get duplex(): string {
    return "half";
  }

  clone(): Request {
    const copy = new Request(this.#url, {
      method: this.#method,
      headers: this.#headers,
      redirect: this.#redirect,
      keepalive: this.#keepalive,
      signal: this.#signal,
      ...this.#inert,
    });
    copyBody(this, copy);
    return copy;
  }
}

/** A new signal that follows the given one. */
function followed(signal: unknown): AbortSignal {
  const { AbortSignal: Signal, isSignal } = abortPart();
  if (!isSignal(signal)) throw new NativeTypeError("RequestInit: Expected signal to be an instance of AbortSignal.");
  return Signal.any([signal]);
}

function parsed(input: unknown): string {
  const { href, username, password } = parsedUrl(input);
  if (username !== "" || password !== "")
    throw new TypeError(`Request cannot be constructed from a URL that includes credentials: ${href}`);
  return href;
}

function methodOf(given: unknown): string {
  const text = NativeString(given);
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(text)) throw new NativeTypeError(`'${text}' is not a valid HTTP method.`);
  const upper = upperCase(text);
  if (["CONNECT", "TRACE", "TRACK"].includes(upper)) throw new NativeTypeError(`'${text}' HTTP method is unsupported.`);
  return KNOWN.has(upper) ? upper : text;
}

function oneOf(key: string, given: unknown): string {
  const text = NativeString(given);
  const choices = CHOICES[key];
  if (choices && !choices.includes(text))
    throw new TypeError(`RequestInit: ${key} "${text}" is not an accepted value. Expected one of ${choices.join(", ")}.`);
  return text;
}

Object.defineProperty(Request, "length", { value: 1 });
expose(Request);
cloneAs(Request);
inspectAs<Request>(
  Request,
  ({ method, url, headers, destination, referrer, referrerPolicy, mode, credentials, cache, redirect, integrity, keepalive, signal }) => ({
    method,
    url,
    headers,
    destination,
    referrer,
    referrerPolicy,
    mode,
    credentials,
    cache,
    redirect,
    integrity,
    keepalive,
    signal,
  }),
);
