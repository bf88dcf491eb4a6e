/** Inside the isolate: what `http.request` was asked for, in any of its forms. */
import { Buffer } from "../buffer/buffer-class.ts";
import { invalidArgType, nodeError } from "../errors.ts";
import { Agent } from "./agent.ts";
import type { HeaderValue } from "./outgoing-message.ts";
import { validateHeaderName } from "./outgoing-message.ts";

export type RequestOptions = Record<string, unknown>;

export interface Target {
  readonly url: string;
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly protocol: string;
  readonly headers: readonly [string, HeaderValue][];
  readonly agent: Agent | undefined;
  readonly timeout: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** `(url, options, callback)`, `(url, callback)`, `(options, callback)`. */
export function argumentsOf(args: readonly unknown[]): { options: RequestOptions; callback: unknown } {
  const [first, second, third] = args;
  const base = typeof first === "string" ? ofUrl(parsed(first)) : isUrl(first) ? ofUrl(first) : (first as RequestOptions | undefined);
  const hasOptions = typeof second === "object" && second !== null;
  return { options: { ...base, ...(hasOptions ? second : {}) }, callback: hasOptions ? third : (second ?? third) };
}

function parsed(text: string): URL {
  try {
    return new URL(text);
  } catch (cause) {
    throw Object.assign(nodeError(TypeError, "ERR_INVALID_URL", "Invalid URL"), { input: text, cause });
  }
}

function isUrl(value: unknown): value is URL {
  return typeof value === "object" && value !== null && "searchParams" in value && "href" in value && "protocol" in value;
}

function ofUrl(url: URL): RequestOptions {
  const { protocol, hostname, hash, search, pathname, href, port, username, password } = url;
  return {
    protocol,
    hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    hash,
    search,
    pathname,
    path: `${pathname}${search}`,
    href,
    ...(port !== "" && { port: Number(port) }),
    ...((username !== "" || password !== "") && { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` }),
  };
}

const BAD_PATH = /[^\u0021-\u00ff]/;
const BAD_HOST = /[\s/\\@?#]/;

export function targetOf(options: RequestOptions, usual: Agent): Target {
  const agent = options["agent"] === undefined || options["agent"] === null ? usual : options["agent"];
  if (agent !== false && !(agent instanceof Agent) && typeof (agent as { addRequest?: unknown }).addRequest !== "function")
    throw invalidArgType("options.agent", "an Agent-like Object, undefined, or false", agent);
  const protocol = textOr(options["protocol"], usual.protocol);
  if (protocol !== usual.protocol)
    throw nodeError(TypeError, "ERR_INVALID_PROTOCOL", `Protocol "${protocol}" not supported. Expected "${usual.protocol}"`);
  if (options["socketPath"])
    throw nodeError(
      Error,
      "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
      "sockets of the machine are not available to http.request inside the sandbox",
    );
  const method = methodOf(options["method"]);
  const path = textOr(options["path"], "/");
  if (BAD_PATH.test(path)) throw nodeError(TypeError, "ERR_UNESCAPED_CHARACTERS", "Request path contains unescaped characters");
  const host = hostOf(options);
  const port = Number(options["port"] || options["defaultPort"] || usual.defaultPort);
  const authority = `${host.includes(":") ? `[${host}]` : host}${port === usual.defaultPort ? "" : `:${port}`}`;
  const headers = headersOf(options["headers"]);
  if (typeof options["auth"] === "string" && !headers.some(([name]) => name.toLowerCase() === "authorization"))
    headers.push(["Authorization", `Basic ${Buffer.from(options["auth"]).toString("base64")}`]);
  if (!headers.some(([name]) => name.toLowerCase() === "host") && options["setHost"] !== false) headers.push(["Host", authority]);
  return {
    url: `${protocol}//${authority}${/^[/?]/.test(path) ? "" : "/"}${path}`,
    method,
    host,
    path,
    protocol,
    headers,
    agent: agent instanceof Agent ? agent : undefined,
    timeout: options["timeout"] as number | undefined,
    signal: options["signal"] as AbortSignal | undefined,
  };
}

function textOr(value: unknown, usual: string): string {
  return value === undefined || value === null || value === "" ? usual : (value as string);
}

function methodOf(method: unknown): string {
  if (method === undefined || method === null || method === "") return "GET";
  if (typeof method !== "string") throw invalidArgType("options.method", "of type string", method);
  validateHeaderName(method, "Method");
  return method.toUpperCase();
}

function hostOf(options: RequestOptions): string {
  for (const name of ["hostname", "host"]) {
    const value = options[name];
    if (value !== undefined && value !== null && typeof value !== "string")
      throw invalidArgType(`options.${name}`, "of type string or one of undefined or null", value);
  }
  const host = ((options["hostname"] || options["host"] || "localhost") as string).replace(/^\[(.*)\]$/, "$1");
  if (BAD_HOST.test(host)) throw nodeError(Error, "ENOTFOUND", `getaddrinfo ENOTFOUND ${host}`);
  return host;
}

function headersOf(given: unknown): [string, HeaderValue][] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) return Object.entries(given as Record<string, HeaderValue>).filter(([, value]) => value !== undefined);
  if (given.every((one) => Array.isArray(one))) return given as [string, HeaderValue][];
  return Array.from({ length: given.length / 2 }, (_, at) => [given[2 * at] as string, given[2 * at + 1] as HeaderValue]);
}
