/** Inside the isolate: `fetch`. The host makes the request, if the operator granted its origin. */
import type { FetchResponse, FetchPiece } from "../../../../protocol/messages/fetch.ts";
import { LIMITS } from "../../../../protocol/limits.ts";
import { notifyHost, requestHost, serviceError } from "../../turn/requests.ts";
import { bare, call, NativePromise, NativeString, NativeTypeError, promiseThen, upperCase } from "../../boot/primordials.ts";
import type { AbortSignal } from "../abort.ts";
import { Body, consume, stateOf, takeBody } from "./body.ts";
import type { Source } from "./body.ts";
import type { Content } from "./content.ts";
import { Headers, tableOf } from "./headers.ts";
import type { HeaderTable } from "./headers.ts";
import { abortPart, streamsPart } from "./parts.ts";
import { isRequest, Request } from "./request.ts";
import type { RequestInit } from "./request.ts";
import { received, Response } from "./response.ts";

interface Outgoing {
  url: string;
  method: string;
  headers: HeaderTable;
  redirect: unknown;
  body: Body;
  signal: AbortSignal | undefined;
}

let next = 1;

export async function fetch(input: unknown, init?: RequestInit): Promise<Response> {
  if (arguments.length === 0) throw new NativeTypeError("fetch: 1 argument required, but only 0 present.");
  const { url, method, headers, redirect, body, signal } = outgoing(input, init);
  if (signal?.aborted) throw signal.reason;
  const { content, source, stream } = stateOf(body);
  // A complete body is sent in this very turn.
  const sent = source || stream ? await heeding(collected(body), signal) : (content ?? bare<Content>({}));
  // The host refuses them too. A text that is refused here costs the lane and the gateway nothing.
  if (url.length > LIMITS.fetch.urlChars)
    throw serviceError("ERR_FETCH_URL", `the URL has ${url.length} characters, the limit is ${LIMITS.fetch.urlChars}`);
  const bodyChars = (sent.text ?? sent.bytes ?? "").length;
  if (bodyChars > LIMITS.fetch.requestBytes)
    throw serviceError("ERR_FETCH_REQUEST_SIZE", `the request's body has more than ${LIMITS.fetch.requestBytes} bytes`);
  // A long body that the host would refuse is not written as JSON.
  if (bodyChars > LIMITS.fetch.askChars) await heeding(requestHost("fetch.ask", bare({ url, method })), signal);
  const id = next++;
  const message = bare({ id, url, method, headers, redirect, text: sent.text, bytes: sent.bytes });
  const remote = new Remote(id, signal);
  const answer = (await remote.request("fetch", message, LIMITS.call.eventBytes)) as FetchResponse;
  if (answer.more !== true) remote.over();
  return received(answer, answer.more === true ? remote : undefined, method);
}

function outgoing(input: unknown, init: RequestInit | undefined): Outgoing {
  if (isRequest(input)) {
    const request = new Request(input, init);
    const { url, method, redirect, signal } = request;
    return { url, method: upperCase(method), headers: tableOf(request.headers), redirect, body: request, signal };
  }
  const { method = "GET", headers, body: given, redirect = "follow", signal } = init ?? bare<RequestInit>({});
  const body = new Body();
  const type = takeBody(body, given);
  const name = upperCase(NativeString(method));
  if (given !== undefined && given !== null && (name === "GET" || name === "HEAD"))
    throw new NativeTypeError("Request with GET/HEAD method cannot have body.");
  const table = tableOf(new Headers(headers));
  if (type !== undefined) table["content-type"] ??= type;
  return { url: NativeString(input), method: name, headers: table, redirect, body, signal: signalOf(signal) };
}

function signalOf(given: unknown): AbortSignal | undefined {
  if (given === undefined || given === null) return undefined;
  if (!abortPart().isSignal(given)) throw new NativeTypeError("RequestInit: Expected signal to be an instance of AbortSignal.");
  return given;
}

/** A body from a stream is collected before it is sent. */
async function collected(body: Body): Promise<Content> {
  const { stream } = stateOf(body);
  if (!stream) return consume(stateOf(body));
  const copy = new Body();
  let bytes = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of stream) {
      bytes += chunk.byteLength;
      if (bytes > LIMITS.fetch.requestBytes)
        throw Object.assign(new TypeError(`the request's body has more than ${LIMITS.fetch.requestBytes} bytes`), {
          code: "ERR_FETCH_REQUEST_SIZE",
        });
      yield chunk;
    }
  };
  stateOf(copy).stream = streamsPart().ReadableStream.from(counted());
  return consume(stateOf(copy));
}

function heeding<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new NativePromise((resolve, reject) => {
    const forget = abortPart().onAbort(signal, () => reject(signal.reason));
    void call(promiseThen, work, [resolve, reject]);
    void call(promiseThen, work, [forget, forget]);
  });
}

/** One request, by the number that the host knows it by, until its response was read. */
class Remote implements Source {
  readonly #id: number;
  readonly #signal: AbortSignal | undefined;
  #forget: (() => void) | undefined;
  #reject: ((reason: unknown) => void) | undefined;
  #isOver = false;
  failed: ((reason: unknown) => void) | undefined;

  constructor(id: number, signal: AbortSignal | undefined) {
    this.#id = id;
    this.#signal = signal;
    this.failed = undefined;
    if (signal) this.#forget = abortPart().onAbort(signal, () => this.#abort(signal.reason));
  }

  request(service: string, args: object, limit?: number): Promise<unknown> {
    const id = this.#id;
    // A call that ran out of time must not leave its request behind.
    const dropped = (owner: number): void => notifyHost("fetch.abort", bare({ id }), owner);
    return new NativePromise((resolve, reject) => {
      this.#reject = reject;
      void call(promiseThen, requestHost(service, args, limit, dropped), [
        resolve,
        (error: unknown) => {
          this.over();
          reject(error);
        },
      ]);
    });
  }

  async read(): Promise<FetchPiece> {
    if (this.#signal?.aborted) throw this.#signal.reason;
    const piece = bare((await this.request("fetch.read", bare({ id: this.#id }))) as FetchPiece);
    if (piece.more !== true) this.over();
    return piece;
  }

  cancel(): void {
    if (this.#isOver) return;
    this.over();
    notifyHost("fetch.abort", bare({ id: this.#id }));
  }

  over(): void {
    this.#isOver = true;
    this.#forget?.();
    this.#forget = undefined;
  }

  #abort(reason: unknown): void {
    this.cancel();
    this.#reject?.(reason);
    this.failed?.(reason);
  }
}

Object.defineProperty(fetch, "length", { value: 1 });

export { Headers, Request, Response };
