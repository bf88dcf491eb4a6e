/** Inside the isolate: the streams of `zlib`. They make output only as fast as it is read. */
import type { TransformCallback } from "node:stream";
import { Buffer } from "../buffer/buffer-class.ts";
import { nextTick } from "../next-tick.ts";
import Stream from "../stream/stream.ts";
import { Engine } from "./engine.ts";
import type { Mode } from "./engine.ts";
import { bytesOf, settingsOf, tooLarge } from "./zlib-options.ts";
import type { Settings, ZlibOptions } from "./zlib-options.ts";

type Callback = (error?: Error | null) => void;

/** Z_FULL_FLUSH. */
const FULL = 3;
const FLUSH = Symbol("flush");
const NOTHING = new Uint8Array(0);

export class ZlibStream extends Stream.Transform {
  bytesWritten = 0;
  readonly #engine: Engine;
  readonly #settings: Settings;
  #output: Uint8Array<ArrayBuffer> | undefined;
  #made = 0;
  #resume: (() => void) | undefined;
  /** Packages look for it: once it is gone, the stream is closed. */
  _handle: object | null = { close: () => {} };
  readonly _level: number;
  readonly _strategy: number;
  readonly _chunkSize: number;

  constructor(mode: Mode, options?: ZlibOptions) {
    super({ ...options, autoDestroy: true } as object);
    this.#settings = settingsOf(options);
    this.#engine = new Engine(mode, this.#settings);
    ({ level: this._level, strategy: this._strategy, chunkSize: this._chunkSize } = this.#settings);
  }

  override _transform(chunk: unknown, _encoding: string, done: TransformCallback): void {
    const { flush, finishFlush } = this.#settings;
    const kind = (chunk as { [FLUSH]?: number })[FLUSH];
    const state = (this as unknown as { writableLength: number; writableEnded: boolean }) ?? undefined;
    const bytes = bytesOf(chunk);
    // The last piece ends the data at once, as in Node.
    const isLast = kind === undefined && state.writableEnded && state.writableLength === bytes.length;
    this.bytesWritten += bytes.length;
    this.#engine.feed(bytes);
    this.#run(kind ?? (isLast ? finishFlush : flush), done);
  }

  override _flush(done: TransformCallback): void {
    this.#engine.feed(NOTHING);
    this.#run(this.#settings.finishFlush, done);
  }

  override _read(size: number): void {
    const resume = this.#resume;
    this.#resume = undefined;
    if (resume) resume();
    else super._read(size);
  }

  /** Takes output until there is no more, or until the reader has enough for now. */
  #run(flush: number, done: TransformCallback): void {
    try {
      for (;;) {
        const { piece, isOver } = this.#piece(flush);
        const isWanted = piece === undefined || this.push(piece);
        if (isOver) {
          if (this.#engine.hasEnded && this.#engine.unread > 0) this.push(null);
          return done();
        }
        if (this.destroyed) return undefined;
        if (isWanted) continue;
        this.#resume = () => this.#run(flush, done);
        return undefined;
      }
    } catch (error) {
      return done(error as Error);
    }
  }

  #piece(flush: number): { piece: Uint8Array | undefined; isOver: boolean } {
    const { chunkSize, maxOutputLength } = this.#settings;
    const output = (this.#output ??= Buffer.allocUnsafe(chunkSize) as unknown as Uint8Array<ArrayBuffer>);
    const made = this.#engine.take(output, 0, flush);
    this.#made += made;
    if (this.#made > maxOutputLength) throw tooLarge(maxOutputLength);
    if (made === 0) return { piece: undefined, isOver: true };
    const isFull = made === output.length;
    if (isFull) this.#output = undefined;
    return { piece: isFull ? output : Buffer.from(output.subarray(0, made)), isOver: !isFull };
  }

  /** At once, whatever has been written. Packages call it, although Node does not document it. */
  _processChunk(chunk: unknown, flush: number, done?: (error?: Error | null, data?: unknown) => void): unknown {
    const bytes = bytesOf(chunk);
    this.bytesWritten += bytes.length;
    this.#engine.feed(bytes);
    if (typeof done === "function") return this.#run(flush, done);
    const pieces: Uint8Array[] = [];
    for (let isOver = false; !isOver;) {
      const taken = this.#piece(flush);
      if (taken.piece) pieces.push(taken.piece);
      ({ isOver } = taken);
    }
    return Buffer.concat(pieces);
  }

  flush(kind?: number | Callback, done?: Callback): void {
    const callback = typeof kind === "function" ? kind : done;
    if (this.writableFinished) return callback && nextTick(callback);
    if (this.writableEnded) return void (callback && this.once("end", callback));
    const mark = Object.assign(Buffer.alloc(0), { [FLUSH]: typeof kind === "number" ? kind : FULL });
    this.write(mark, callback as never);
    return undefined;
  }

  reset(): void {
    this.#engine.reset();
  }

  params(_level: number, _strategy: number, done?: Callback): void {
    if (done) nextTick(done);
  }

  close(done?: Callback): void {
    if (done) Stream.finished(this, done as never);
    this.destroy();
  }

  override _destroy(error: Error | null, done: Callback): void {
    this._handle = null;
    this.#resume = undefined;
    done(error);
  }
}

/** All at once. */
export function processed(mode: Mode, data: unknown, options?: ZlibOptions): unknown {
  const settings = settingsOf(options);
  const { chunkSize, finishFlush, maxOutputLength } = settings;
  const engine = new Engine(mode, settings);
  engine.feed(bytesOf(data));
  const pieces: Uint8Array[] = [];
  let total = 0;
  for (;;) {
    const output = Buffer.allocUnsafe(chunkSize) as unknown as Uint8Array<ArrayBuffer>;
    const made = engine.take(output, 0, finishFlush);
    total += made;
    // SECURITY: a bomb stops here, or at the cell's heap and CPU limits. test/escape/node-modules.test.ts
    if (total > maxOutputLength) throw tooLarge(maxOutputLength);
    pieces.push(output.subarray(0, made));
    if (made < output.length) break;
  }
  const all = pieces.length === 1 ? Buffer.from(pieces[0]) : Buffer.concat(pieces);
  return options?.info ? { buffer: all, engine: new ZlibStream(mode, options) } : all;
}
