/**
 * Trusted side: the body of an answer on its way to a plugin, in pieces the plugin asks for. No more is read ahead than one
 * piece and what the sockets hold. Secrets are taken out here, before anything is given on.
 */
import { isUtf8 } from "node:buffer";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Redactor } from "./redact.ts";

/** A piece, in one of the two forms of protocol/fetch-message.ts. */
export type Piece = { readonly text: string } | { readonly bytes: string };

export interface AnswerBodyOptions {
  readonly source: Readable;
  readonly redactor: Redactor;
  /** Past so many bytes it is not read further. */
  readonly limit: number;
  /** What to fail with then. */
  tooLong(): Error;
}

export class AnswerBody {
  readonly #options: AnswerBodyOptions;
  #waiting: Buffer = Buffer.alloc(0);
  #read = 0;
  #hasEnded = false;
  #error: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(options: AnswerBodyOptions) {
    this.#options = options;
    const { source } = options;
    source.on("readable", () => this.#wake?.());
    source.on("end", () => this.#over(undefined));
    source.on("error", (error) => this.#over(error));
    const cut = (): void => this.#over(Object.assign(new Error("cut"), { code: "ECONNRESET" }));
    source.on("close", cut);
    if (source.destroyed && !source.readableEnded) cut();
  }

  /** Nothing is to come, and nothing is left. */
  get isOver(): boolean {
    return this.#hasEnded && this.#waiting.length === 0;
  }

  /** Waits until all of it is there, or so many bytes, or so much time is over. */
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

  /** Waits for at least one byte, or the end; then a little for more. Rejects with what the source fails with. */
  async next(bytes: number, waitMs: number): Promise<Piece> {
    while (!this.#isEnough(1)) await this.#more();
    if (waitMs > 0) await this.gather(bytes, waitMs);
    for (;;) {
      const piece = this.take(bytes);
      if (piece) return piece;
      await this.#more();
    }
  }

  /** What is there, up to so many bytes. Undefined: it ends within a character, and the rest of that is still to come. */
  take(bytes: number): Piece | undefined {
    this.#isEnough(bytes);
    if (this.#error) throw this.#error;
    const found = this.#waiting.subarray(0, bytes);
    const whole = this.#isLast(found) ? found : found.subarray(0, wholeLength(found));
    if (found.length > 0 && whole.length === 0 && !this.#hasEnded) return undefined;
    const isText = isUtf8(whole);
    const taken = isText ? whole : found;
    this.#waiting = this.#waiting.subarray(taken.length);
    return isText ? { text: taken.toString("utf8") } : { bytes: taken.toString("latin1") };
  }

  /** Ends it, wherever it is. */
  destroy(): void {
    this.#options.source.destroy();
  }

  #isLast(found: Buffer): boolean {
    return this.#hasEnded && found.length === this.#waiting.length;
  }

  /** Takes what has arrived. True: there are so many bytes, or there will be no more. */
  #isEnough(bytes: number): boolean {
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

/** Without the beginning of a character that is not complete. */
function wholeLength(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) break;
    // The first byte of a character says how many it has.
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
