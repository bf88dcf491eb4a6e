/** Inside the isolate: `http.IncomingMessage`, a response. Its body comes from the host piece by piece, as it is read. */
import type { FetchPiece } from "../../../../protocol/messages/fetch.ts";
import { stateOf } from "../../web/fetch/body.ts";
import type { Source } from "../../web/fetch/body.ts";
import { bytesOf } from "../../web/fetch/content.ts";
import type { Response } from "../../web/fetch/response.ts";
import { Buffer } from "../buffer/buffer-class.ts";
import { nodeError } from "../errors.ts";
import Stream from "../stream/stream.ts";

/** The host has undone these. */
const DECODED = new Set(["gzip", "x-gzip", "deflate", "br"]);
const NO_BODY = new Set([204, 304]);

interface AskedMessage {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly content: Uint8Array;
}

export class IncomingMessage extends Stream.Readable {
  readonly httpVersion = "1.1";
  readonly httpVersionMajor = 1;
  readonly httpVersionMinor = 1;
  readonly socket: unknown;
  readonly connection: unknown;
  headers: Record<string, string | string[]> = {};
  rawHeaders: string[] = [];
  readonly trailers = {};
  readonly rawTrailers: string[] = [];
  statusCode: number | null = null;
  statusMessage: string | null = null;
  url = "";
  method: string | null = null;
  complete = false;
  aborted = false;
  req: unknown;
  #content: Uint8Array | undefined;
  #source: Source | undefined;
  onPiece: (() => void) | undefined;

  constructor(socket?: unknown) {
    super({ autoDestroy: true });
    this.socket = this.connection = socket;
  }

  static of(response: Response, socket: unknown, method: string): IncomingMessage {
    const message = new IncomingMessage(socket);
    message.statusCode = response.status;
    message.statusMessage = response.statusText;
    message.#takeHeaders(response, method);
    const { content, source } = stateOf(response);
    message.#content = content && bytesOf(content);
    message.#source = source;
    if (source) source.failed = (reason) => message.destroy(reason as Error);
    return message;
  }

  /** A request, whose body is there already. */
  static asked({ method, url, headers, content }: AskedMessage, socket: unknown): IncomingMessage {
    const message = new IncomingMessage(socket);
    message.method = method;
    message.url = url;
    for (const [name, value] of Object.entries(headers)) {
      const key = name.toLowerCase();
      message.headers[key] = Array.isArray(value) && key !== "set-cookie" ? value.join(", ") : value;
      for (const one of [value].flat()) message.rawHeaders.push(name, one);
    }
    message.#content = content;
    return message;
  }

  get headersDistinct(): Record<string, string[]> {
    return Object.fromEntries(Object.entries(this.headers).map(([name, value]) => [name, [value].flat()]));
  }

  get trailersDistinct(): Record<string, string[]> {
    return {};
  }

  #takeHeaders({ headers, status }: Response, method: string): void {
    const encoding = (headers.get("content-encoding") ?? "").trim().toLowerCase();
    const isDecoded = DECODED.has(encoding) && method !== "HEAD" && !NO_BODY.has(status);
    for (const [name, value] of headers as unknown as Iterable<[string, string]>) {
      if (isDecoded && (name === "content-encoding" || name === "content-length")) continue;
      this.rawHeaders.push(name, value);
      if (name === "set-cookie") ((this.headers[name] ??= []) as string[]).push(value);
      else this.headers[name] = value;
    }
  }

  override _read(): void {
    const first = this.#content;
    this.#content = undefined;
    if (first && first.length > 0) this.#push(first);
    if (!this.#source) return this.#end();
    if (first && first.length > 0) return undefined;
    return void this.#source.read().then(
      (piece) => this.#take(piece),
      (error: unknown) => this.destroy(error as Error),
    );
  }

  #take(piece: FetchPiece): void {
    if (piece.more !== true) this.#source = undefined;
    const bytes = bytesOf(piece);
    if (bytes.length > 0) this.#push(bytes);
    if (!this.#source) this.#end();
    else if (bytes.length === 0) this._read();
  }

  #push(bytes: Uint8Array): void {
    this.onPiece?.();
    this.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }

  #end(): void {
    this.complete = true;
    this.push(null);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const source = this.#source;
    this.#source = undefined;
    if (source) {
      this.aborted = true;
      source.cancel(error);
      this.emit("aborted");
    }
    // As in Node: a response that was cut off is an error only for those who listen.
    const cut = source && !error && this.listenerCount("error") > 0 ? nodeError(Error, "ECONNRESET", "aborted") : error;
    done(cut);
  }

  setTimeout(ms: number, callback?: () => void): this {
    (this.req as { setTimeout?: (ms: number, callback?: () => void) => void } | undefined)?.setTimeout?.(ms, callback);
    return this;
  }
}
