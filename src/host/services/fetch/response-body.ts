/**
 * Trusted side: the body of a response on its way to a plugin, in pieces that the plugin requests. Reads no more ahead
 * than one piece and what the sockets hold. Removes secrets before it hands anything on.
 */
import { isUtf8 } from "node:buffer";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Redactor } from "../secrets/redact.ts";

/** A piece, in one of the two forms of protocol/messages/fetch.ts. */
export type Piece = { readonly text: string } | { readonly bytes: string };

export interface ResponseBodyOptions {
  readonly source: Readable;
  readonly redactor: Redactor;
  /** Most bytes to read. */
  readonly limit: number;
  /** The error beyond that. */
  tooLong(): Error;
  /** Does work on the body and charges the time to the plugin. */
  readonly measure?: <T>(work: () => T) => T;
}

export class ResponseBody {
  readonly #options: ResponseBodyOptions;
  #waiting: Buffer = Buffer.alloc(0);
  #read = 0;
  #hasEnded = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(options: ResponseBodyOptions) {
    this.#options = options;
    const { source } = options;
    source.on("readable", () => this.#wake?.());
    source.on("end", () => this.#over(undefined));
    source.on("error", (error) => this.#over(error));
    const cut = (): void => this.#over(Object.assign(new Error("cut"), { code: "ECONNRESET" }));
    source.on("close", cut);
    if (source.destroyed && !source.readableEnded) cut();
  }

  /** Nothing more will come, and nothing is left. */
  get isOver(): boolean {
    return this.#hasEnded && this.#waiting.length === 0;
  }

  /** Waits for the end, for this many bytes, or for the time to pass. */
  async gather(bytes: number, waitMs: number): Promise<void> {
    if (this.#isEnough(bytes)) return;
    const clock = new AbortController();
    const over = sleep(waitMs, "over", { signal: clock.signal, ref: false }).catch(() => "over");
    try {
      while (!this.#isEnough(bytes)) if ((await Promise.race([this.#more(), over])) === "over") return;
    } finally {
      clock.abort();
    }
  }

  /** Waits for at least one byte or the end, then briefly for more. Rejects with the source's error. */
  async next(bytes: number, waitMs: number): Promise<Piece> {
    while (!this.#isEnough(1)) await this.#more();
    if (waitMs > 0) await this.gather(bytes, waitMs);
    for (;;) {
      const piece = this.take(bytes);
      if (piece) return piece;
      await this.#more();
    }
  }

  /**
   * What has arrived, up to this many bytes. Undefined: it ends within a character, whose other bytes are still to
   * come.
   */
  take(bytes: number): Piece | undefined {
    this.#isEnough(bytes);
    return this.#measured(() => this.#taken(bytes));
  }

  #taken(bytes: number): Piece | undefined {
    if (this.#error) throw this.#error;
    const found = this.#waiting.subarray(0, bytes);
    const whole = this.#isLast(found) ? found : found.subarray(0, wholeLength(found));
    if (found.length > 0 && whole.length === 0 && !this.#hasEnded) return undefined;
    const isText = isUtf8(whole);
    const taken = isText ? whole : found;
    this.#waiting = this.#waiting.subarray(taken.length);
    return isText ? { text: taken.toString("utf8") } : { bytes: taken.toString("latin1") };
  }

  destroy(): void {
    this.#options.source.destroy();
  }

  #isLast(found: Buffer): boolean {
    return this.#hasEnded && found.length === this.#waiting.length;
  }

  /** Reads what has arrived. True: enough bytes are there, or no more will come. */
  #isEnough(bytes: number): boolean {
    return this.#measured(() => this.#fill(bytes));
  }

  #measured<T>(work: () => T): T {
    const { measure } = this.#options;
    return measure ? measure(work) : work();
  }

  #fill(bytes: number): boolean {
    while (this.#waiting.length < bytes && !this.#hasEnded && !this.#error) {
      const chunk = this.#options.source.read() as Buffer | null;
      if (chunk === null) break;
      this.#read += chunk.length;
      if (this.#read > this.#options.limit) this.#fail(this.#options.tooLong());
      else this.#add(this.#options.redactor.push(chunk));
    }
    return this.#hasEnded || this.#error !== undefined || this.#waiting.length >= bytes;
  }

  #add(chunk: Buffer): void {
    this.#waiting = this.#waiting.length === 0 ? chunk : Buffer.concat([this.#waiting, chunk]);
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #over(error: Error | undefined): void {
    if (this.#hasEnded || this.#error) return;
    if (error) return this.#fail(error);
    this.#add(this.#options.redactor.end());
    this.#hasEnded = true;
    this.#wake?.();
  }

  #fail(error: Error): void {
    this.#error = error;
    this.#waiting = Buffer.alloc(0);
    this.#options.source.destroy();
    this.#wake?.();
  }
}

/** The length without an incomplete character at the end. */
function wholeLength(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) break;
    // The first byte of a character encodes its length.
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
