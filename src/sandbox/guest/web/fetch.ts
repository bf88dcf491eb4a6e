/** Inside the isolate: `fetch`. A question to the host, which makes the request if the operator granted its origin. */
import type { FetchAnswer, FetchPiece } from "../../../protocol/fetch-message.ts";
import { LIMITS } from "../../../protocol/limits.ts";
import { ask, say } from "../asks.ts";
import { bare, call, NativePromise, NativeString, NativeTypeError, promiseThen, upperCase } from "../primordials.ts";
import type { AbortSignal } from "./abort.ts";
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
  // What is there as a whole is sent in this very turn.
  const sent = source || stream ? await heeding(collected(body), signal) : (content ?? bare<Content>({}));
  const id = next++;
  const question = bare({ id, url, method, headers, redirect, text: sent.text, bytes: sent.bytes });
  const remote = new Remote(id, signal);
  const answer = (await remote.asking("fetch", question, LIMITS.eventBytes)) as FetchAnswer;
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

/** A body that is made as it goes is put together before it is sent. */
async function collected(body: Body): Promise<Content> {
  const { stream } = stateOf(body);
  if (!stream) return consume(stateOf(body));
  const copy = new Body();
  let bytes = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of stream) {
      bytes += chunk.byteLength;
      if (bytes > LIMITS.fetchRequestBytes)
        throw Object.assign(new TypeError(`the request's body has more than ${LIMITS.fetchRequestBytes} bytes`), {
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

/** One request, by the number under which the host knows it, until its answer was read. */
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

  asking(service: string, args: object, limit?: number): Promise<unknown> {
    const id = this.#id;
    // A call that ran out of time must not leave its request behind.
    const dropped = (owner: number): void => say("fetch.abort", bare({ id }), owner);
    return new NativePromise((resolve, reject) => {
      this.#reject = reject;
      void call(promiseThen, ask(service, args, limit, dropped), [
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
    const piece = bare((await this.asking("fetch.read", bare({ id: this.#id }))) as FetchPiece);
    if (piece.more !== true) this.over();
    return piece;
  }

  cancel(): void {
    if (this.#isOver) return;
    this.over();
    say("fetch.abort", bare({ id: this.#id }));
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
