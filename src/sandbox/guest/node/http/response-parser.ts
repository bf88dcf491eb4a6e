/**
 * Inside the isolate: reads an HTTP/1.1 response from the bytes of a connection, for requests that bring a connection of
 * their own. What fetch asks for never comes here: the host parses that.
 */
import { Buffer } from "../buffer/buffer-class.ts";
import { nodeError } from "../errors.ts";

const HEAD_BYTES = 64 * 1024;

export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly rawHeaders: readonly string[];
}

export interface ParserListener {
  /** True: the rest of the bytes is not HTTP. */
  onHead(head: ResponseHead): boolean;
  onBody(chunk: Uint8Array): void;
  onEnd(): void;
}

type State = "head" | "length" | "chunk-size" | "chunk" | "chunk-end" | "trailer" | "until-close" | "over";

export class ResponseParser {
  readonly #listener: ParserListener;
  readonly #hasBody: boolean;
  #state: State = "head";
  #held: Uint8Array = Buffer.alloc(0);
  #left = 0;

  constructor(listener: ParserListener, method: string) {
    this.#listener = listener;
    this.#hasBody = method !== "HEAD";
  }

  get isOver(): boolean {
    return this.#state === "over";
  }

  /** Gives what follows the response, once it is over. Throws for what is not HTTP. */
  push(chunk: Uint8Array): Uint8Array {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    while (this.#state !== "over" && this.#step());
    return this.#state === "over" ? this.#held : new Uint8Array(0);
  }

  /** The connection has ended. */
  end(): void {
    if (this.#state === "over") return;
    if (this.#state !== "until-close") throw nodeError(Error, "ECONNRESET", "socket hang up");
    this.#finish();
  }

  /** False: more bytes are needed. */
  #step(): boolean {
    switch (this.#state) {
      case "head":
        return this.#head();
      case "chunk-size": {
        const line = this.#line();
        if (line === undefined) return false;
        if (!/^[\da-f]{1,8}(?:;.*)?$/i.test(line)) throw invalid();
        this.#left = Number.parseInt(line, 16);
        this.#state = this.#left === 0 ? "trailer" : "chunk";
        return true;
      }
      case "chunk-end": {
        const line = this.#line();
        if (line === undefined) return false;
        if (line !== "") throw invalid();
        this.#state = "chunk-size";
        return true;
      }
      case "trailer": {
        const line = this.#line();
        if (line === undefined) return false;
        if (line === "") this.#finish();
        return true;
      }
      default:
        return this.#body();
    }
  }

  #body(): boolean {
    if (this.#held.length === 0) return false;
    const size = this.#state === "until-close" ? this.#held.length : Math.min(this.#left, this.#held.length);
    const piece = this.#take(size);
    this.#left -= size;
    this.#listener.onBody(piece);
    if (this.#state === "until-close" || this.#left > 0) return false;
    if (this.#state === "chunk") this.#state = "chunk-end";
    else this.#finish();
    return true;
  }

  #head(): boolean {
    const text = Buffer.from(this.#held.subarray(0, HEAD_BYTES)).toString("latin1");
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) {
      if (this.#held.length >= HEAD_BYTES) throw nodeError(Error, "HPE_HEADER_OVERFLOW", "Parse Error: Header overflow");
      return false;
    }
    this.#take(end + 4);
    const [first = "", ...lines] = text.slice(0, end).split("\r\n");
    const [, code, statusText = ""] = /^HTTP\/1\.[01] (\d{3})(?: (.*))?$/.exec(first) ?? [];
    if (code === undefined) throw invalid();
    const rawHeaders = lines.flatMap((line) => {
      const at = line.indexOf(":");
      if (at < 1) throw invalid();
      return [line.slice(0, at), line.slice(at + 1).trim()];
    });
    this.#begin({ status: Number(code), statusText, rawHeaders });
    return true;
  }

  #begin(head: ResponseHead): void {
    const { status, rawHeaders } = head;
    // An interim response; the real one follows.
    if (status >= 100 && status < 200 && status !== 101) return;
    const header = (name: string): string | undefined => {
      const at = rawHeaders.findIndex((one, index) => index % 2 === 0 && one.toLowerCase() === name);
      return at < 0 ? undefined : rawHeaders[at + 1];
    };
    const length = header("content-length");
    if (length !== undefined && !/^\d{1,15}$/.test(length)) throw invalid();
    if (this.#listener.onHead(head)) this.#state = "over";
    else if (!this.#hasBody || status === 204 || status === 304 || (length === "0" && !header("transfer-encoding"))) this.#finish();
    else if (/\bchunked\s*$/i.test(header("transfer-encoding") ?? "")) this.#state = "chunk-size";
    else if (length === undefined) this.#state = "until-close";
    else {
      this.#left = Number(length);
      this.#state = "length";
    }
  }

  #line(): string | undefined {
    const at = this.#held.indexOf(10);
    if (at < 0 && this.#held.length > HEAD_BYTES) throw invalid();
    return at < 0
      ? undefined
      : Buffer.from(this.#take(at + 1))
          .toString("latin1")
          .replace(/\r?\n$/, "");
  }

  #take(size: number): Uint8Array {
    const taken = this.#held.subarray(0, size);
    this.#held = this.#held.subarray(size);
    return taken;
  }

  #finish(): void {
    this.#state = "over";
    this.#listener.onEnd();
  }
}

function invalid(): Error {
  return nodeError(Error, "HPE_INVALID_CONSTANT", "Parse Error: Expected HTTP/1.1");
}
