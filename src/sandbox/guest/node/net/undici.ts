/**
 * Inside the isolate: what a plugin gets for the package `undici`. Node's own `fetch` is that package, so its classes
 * here are those among the globals; dispatchers carry options, because the host keeps the connections.
 */
import { Headers, Request, Response, fetch } from "../../web/fetch/fetch.ts";
import { EventEmitter } from "../events.ts";
import { nodeError, refuse } from "../errors.ts";
import Stream from "../stream/stream.ts";

interface RequestOptions {
  readonly origin?: string | URL;
  readonly path?: string;
  readonly query?: Record<string, unknown>;
  readonly method?: string;
  readonly headers?: unknown;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly throwOnError?: boolean;
}

const HOST = "the host makes the connections; use fetch or request";
const { Readable } = Stream;

async function request(url: unknown, options: RequestOptions = {}): Promise<object> {
  const target = new URL(String(url));
  for (const [name, value] of Object.entries(options.query ?? {})) target.searchParams.append(name, String(value));
  const { method = "GET", headers = {}, body, signal } = options;
  const response = await fetch(target.href, {
    method,
    headers: headersOf(headers) as never,
    redirect: "manual",
    ...(body !== undefined && body !== null && { body }),
    ...(signal && { signal }),
  });
  if (options.throwOnError && response.status >= 400)
    throw nodeError(Error, "UND_ERR_RESPONSE_STATUS_CODE", `Response status code ${response.status}`);
  return { statusCode: response.status, headers: tableOf(response), trailers: {}, opaque: null, context: {}, body: readable(response) };
}

/** A table, pairs, or a flat list of names and values. */
function headersOf(given: unknown): unknown {
  if (!Array.isArray(given) || given.every((one) => Array.isArray(one))) return given;
  return Array.from({ length: given.length / 2 }, (_, at) => [given[2 * at], given[2 * at + 1]]);
}

function tableOf({ headers }: Response): Record<string, string | string[]> {
  const table: Record<string, string | string[]> = {};
  for (const [name, value] of headers as unknown as Iterable<[string, string]>) table[name] = value;
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) table["set-cookie"] = cookies;
  return table;
}

/** A stream with the methods of a response's body. */
function readable(response: Response): object {
  const stream = Readable.from(pieces(response), { objectMode: false });
  let isUsed = false;
  for (const name of ["text", "json", "arrayBuffer", "blob", "bytes", "formData"] as const) {
    const value = (): Promise<unknown> => {
      isUsed = true;
      return response[name]();
    };
    Object.defineProperty(stream, name, { value, configurable: true, writable: true });
  }
  Object.defineProperty(stream, "dump", { value: async () => void stream.destroy() });
  Object.defineProperty(stream, "bodyUsed", { get: () => isUsed || stream.readableDidRead });
  return stream;
}

async function* pieces(response: Response): AsyncGenerator<Uint8Array> {
  const { body } = response;
  if (body) for await (const piece of body as unknown as AsyncIterable<Uint8Array>) yield piece;
}

const Emitter = EventEmitter as unknown as new () => EventEmitter;

class Dispatcher extends Emitter {
  readonly #origin: string | undefined;
  closed = false;
  destroyed = false;

  constructor(first?: unknown) {
    super();
    this.#origin = typeof first === "string" || first instanceof URL ? String(first) : undefined;
  }

  async request(options: RequestOptions): Promise<object> {
    return request(new URL(options.path ?? "/", String(options.origin ?? this.#origin)), options);
  }

  compose(): this {
    return this;
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  async destroy(): Promise<void> {
    this.destroyed = true;
  }
}
Object.assign(Dispatcher.prototype, {
  dispatch: refuse("undici.Dispatcher.dispatch", HOST),
  stream: refuse("undici.Dispatcher.stream", HOST),
  pipeline: refuse("undici.Dispatcher.pipeline", HOST),
  connect: refuse("undici.Dispatcher.connect", HOST),
  upgrade: refuse("undici.Dispatcher.upgrade", HOST),
});

class Agent extends Dispatcher {}
class Pool extends Dispatcher {}
class Client extends Dispatcher {}
class BalancedPool extends Dispatcher {}
class RetryAgent extends Dispatcher {}
class EnvHttpProxyAgent extends Dispatcher {}

let dispatcher: unknown = new Agent();

class UndiciError extends Error {
  code = "UND_ERR";
}

const globals: Record<string, unknown> = {};
for (const name of ["FormData", "File", "WebSocket", "EventSource", "CloseEvent", "MessageEvent"])
  Object.defineProperty(globals, name, { get: () => Reflect.get(globalThis, name) as unknown, enumerable: true });

const undici: Record<string, unknown> = {
  fetch,
  Headers,
  Request,
  Response,
  request,
  Dispatcher,
  Agent,
  Pool,
  Client,
  BalancedPool,
  RetryAgent,
  EnvHttpProxyAgent,
  ProxyAgent: refuse("undici.ProxyAgent", "the host decides how a request travels"),
  stream: refuse("undici.stream", HOST),
  pipeline: refuse("undici.pipeline", HOST),
  connect: refuse("undici.connect", HOST),
  upgrade: refuse("undici.upgrade", HOST),
  MockAgent: refuse("undici.MockAgent", "tests run outside"),
  getGlobalDispatcher: () => dispatcher,
  setGlobalDispatcher: (value: unknown): void => void (dispatcher = value),
  getGlobalOrigin: (): undefined => undefined,
  setGlobalOrigin: (): void => {},
  interceptors: Object.fromEntries(
    ["redirect", "retry", "dump", "dns", "cache", "responseError", "decompress"].map((name) => [name, () => (next: unknown) => next]),
  ),
  errors: new Proxy<Record<string, unknown>>(
    { UndiciError },
    {
      get: (known, name) =>
        typeof name === "string" && name.endsWith("Error") ? (known[name] ??= class extends UndiciError {}) : undefined,
    },
  ),
};
Object.defineProperties(undici, Object.getOwnPropertyDescriptors(globals));
Object.defineProperty(undici, "default", { get: () => undici });

export default undici;
