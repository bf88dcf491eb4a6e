/**
 * Inside the isolate: `zlib.BrotliDecompress` and its functions. The decoder needs all of the input, so the stream
 * collects it and gives the output when it has ended.
 */
import type { TransformCallback } from "node:stream";
import { part } from "../../boot/library.ts";
import { Buffer, MAX_LENGTH } from "../buffer/buffer-class.ts";
import Stream from "../stream/stream.ts";
import type * as Brotli from "./brotli.ts";
import { bytesOf, within } from "./zlib-options.ts";
import type { ZlibOptions } from "./zlib-options.ts";

/** BROTLI_OPERATION_EMIT_METADATA. */
const MAX_OPERATION = 3;

function maxOutputLength(options: ZlibOptions = {}): number {
  within(options.chunkSize, "options.chunkSize", 64, Infinity, 16_384);
  within(options.flush, "options.flush", 0, MAX_OPERATION, 0);
  within(options.finishFlush, "options.finishFlush", 0, MAX_OPERATION, 2);
  return within(options.maxOutputLength, "options.maxOutputLength", 1, MAX_LENGTH, MAX_LENGTH);
}

const decompressed: typeof Brotli.decompressed = (bytes, limit) => (part("node/zlib/brotli") as typeof Brotli).decompressed(bytes, limit);

export class BrotliStream extends Stream.Transform {
  bytesWritten = 0;
  readonly #limit: number;
  readonly #input: Uint8Array[] = [];
  #output: Uint8Array[] = [];
  #done: TransformCallback | undefined;
  /** Packages look for it: once it is gone, the stream is closed. */
  _handle: object | null = { close: () => {} };

  constructor(options?: ZlibOptions) {
    super({ ...options, autoDestroy: true } as object);
    this.#limit = maxOutputLength(options);
  }

  override _transform(chunk: unknown, _encoding: string, done: TransformCallback): void {
    const bytes = bytesOf(chunk);
    this.bytesWritten += bytes.length;
    // A copy: the writer may use its buffer again.
    this.#input.push(bytes.slice());
    done();
  }

  override _flush(done: TransformCallback): void {
    try {
      this.#output = decompressed(Buffer.concat(this.#input.splice(0)), this.#limit);
    } catch (error) {
      done(error as Error);
      return;
    }
    this.#done = done;
    this.#give();
  }

  override _read(size: number): void {
    if (this.#done) this.#give();
    else super._read(size);
  }

  #give(): void {
    while (this.#output.length > 0) {
      const piece = this.#output.shift()!;
      if (!this.push(Buffer.from(piece.buffer, piece.byteOffset, piece.length))) return;
    }
    const done = this.#done;
    this.#done = undefined;
    done?.();
  }

  flush(kind?: unknown, done?: unknown): void {
    const callback = typeof kind === "function" ? kind : done;
    if (typeof callback === "function") this.write(Buffer.alloc(0), callback as never);
  }

  close(done?: (error?: Error | null) => void): void {
    if (done) Stream.finished(this, done as never);
    this.destroy();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this._handle = null;
    this.#output = [];
    this.#done = undefined;
    done(error);
  }
}

/** All at once. */
export function brotliProcessed(data: unknown, options?: ZlibOptions): unknown {
  const limit = maxOutputLength(options);
  const all = Buffer.concat(decompressed(bytesOf(data), limit));
  return options?.info ? { buffer: all, engine: new BrotliStream(options) } : all;
}
