/** Inside the isolate: `http.OutgoingMessage`: headers, and a body that is kept until it is complete. */
import { LIMITS } from "../../../../protocol/limits.ts";
import { serviceError } from "../../turn/requests.ts";
import { Buffer } from "../buffer/buffer-class.ts";
import { invalidArgType, nodeError } from "../errors.ts";
import Stream from "../stream/stream.ts";

type Callback = (error?: Error | null) => void;

const NAME = /^[\^_`a-zA-Z\-0-9!#$%&'*+.|~]+$/;
const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

export function validateHeaderName(name: unknown, label = "Header name"): asserts name is string {
  if (typeof name !== "string" || !NAME.test(name))
    throw nodeError(TypeError, "ERR_INVALID_HTTP_TOKEN", `${label} must be a valid HTTP token ["${String(name)}"]`);
}

export function validateHeaderValue(name: string, value: unknown): void {
  if (value === undefined) throw nodeError(TypeError, "ERR_HTTP_INVALID_HEADER_VALUE", `Invalid value "undefined" for header "${name}"`);
  for (const one of Array.isArray(value) ? (value as unknown[]) : [value])
    if (BAD_VALUE.test(String(one))) throw nodeError(TypeError, "ERR_INVALID_CHAR", `Invalid character in header content ["${name}"]`);
}

export type HeaderValue = string | number | readonly string[];

export class OutgoingMessage extends Stream.Writable {
  /** By lower-case name: the name as it was given, and its value. */
  readonly #headers = new Map<string, { name: string; value: HeaderValue }>();
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  headersSent = false;
  finished = false;
  sendDate = false;
  shouldKeepAlive = true;

  setHeader(name: string, value: HeaderValue): this {
    if (this.headersSent) throw nodeError(Error, "ERR_HTTP_HEADERS_SENT", "Cannot set headers after they are sent to the client");
    validateHeaderName(name);
    validateHeaderValue(name, value);
    this.#headers.set(name.toLowerCase(), { name, value });
    return this;
  }

  setHeaders(headers: Iterable<[string, HeaderValue]>): this {
    if (typeof (headers as Iterable<unknown> | null)?.[Symbol.iterator] !== "function" || Array.isArray(headers))
      throw invalidArgType("headers", "an instance of Headers or Map", headers);
    for (const [name, value] of headers) this.setHeader(name, value);
    return this;
  }

  appendHeader(name: string, value: HeaderValue): this {
    const before = this.getHeader(name);
    const added = Array.isArray(value) ? (value as string[]) : [String(value)];
    return this.setHeader(
      name,
      before === undefined ? value : [...(Array.isArray(before) ? (before as string[]) : [String(before)]), ...added],
    );
  }

  getHeader(name: string): HeaderValue | undefined {
    return this.#headers.get(name.toLowerCase())?.value;
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase());
  }

  removeHeader(name: string): void {
    if (this.headersSent) throw nodeError(Error, "ERR_HTTP_HEADERS_SENT", "Cannot remove headers after they are sent to the client");
    this.#headers.delete(name.toLowerCase());
  }

  getHeaders(): Record<string, HeaderValue> {
    const headers = Object.create(null) as Record<string, HeaderValue>;
    for (const [name, { value }] of this.#headers) headers[name] = value;
    return headers;
  }

  getHeaderNames(): string[] {
    return [...this.#headers.keys()];
  }

  getRawHeaderNames(): string[] {
    return Array.from(this.#headers.values(), ({ name }) => name);
  }

  flushHeaders(): void {}

  addTrailers(): void {}

  override _write(chunk: Uint8Array, _encoding: string, done: Callback): void {
    this.#bytes += chunk.length;
    if (this.#bytes > LIMITS.fetch.requestBytes)
      return done(serviceError("ERR_FETCH_REQUEST_SIZE", `the request's body has more than ${LIMITS.fetch.requestBytes} bytes`));
    this.#chunks.push(chunk);
    return done();
  }

  /** All that was written. */
  protected body(): Uint8Array | undefined {
    return this.#bytes === 0 ? undefined : Buffer.concat(this.#chunks);
  }

  /** As one text per name, as the host takes them. */
  protected headerTable(): Record<string, string> {
    const table: Record<string, string> = {};
    for (const [name, { value }] of this.#headers)
      table[name] = Array.isArray(value) ? value.join(name === "cookie" ? "; " : ", ") : String(value);
    return table;
  }
}
