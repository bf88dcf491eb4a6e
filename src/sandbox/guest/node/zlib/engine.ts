/**
 * Inside the isolate: one run of deflate or inflate. The package pako is zlib in JavaScript; this drives it piece by
 * piece, so that no output is made before the reader takes it. All of it is paid from the cell's heap and CPU budgets.
 */
import {
  zlibDeflate,
  zlibDeflateInit2,
  zlibDeflateReset,
  zlibDeflateSetDictionary,
  zlibInflate,
  zlibInflateInit2,
  zlibInflateReset,
  zlibInflateSetDictionary,
  ZStream,
} from "pako";
import { nodeError } from "../errors.ts";
import { constants } from "./zlib-constants.ts";

/** Node's numbers, see zlib-constants.ts. */
export type Mode = 1 | 2 | 3 | 4 | 5 | 6 | 7;
const [DEFLATE, INFLATE, GZIP, GUNZIP, DEFLATERAW, INFLATERAW, UNZIP] = [1, 2, 3, 4, 5, 6, 7] as const;
const [Z_OK, Z_STREAM_END, Z_NEED_DICT, Z_BUF_ERROR, Z_DATA_ERROR, Z_FINISH] = [0, 1, 2, -5, -3, 4] as const;
const DEFLATED = 8;

export interface EngineOptions {
  readonly level: number;
  readonly windowBits: number;
  readonly memLevel: number;
  readonly strategy: number;
  readonly chunkSize: number;
  readonly dictionary: Uint8Array | undefined;
}

export class Engine {
  readonly #mode: Mode;
  readonly #options: EngineOptions;
  readonly #stream = new ZStream();
  readonly #isDeflate: boolean;
  /** The first bytes decide what `unzip` is. */
  #kind: Mode;
  #hasEnded = false;
  #isFirst = true;

  constructor(mode: Mode, options: EngineOptions) {
    this.#mode = this.#kind = mode;
    this.#options = options;
    this.#isDeflate = mode === DEFLATE || mode === GZIP || mode === DEFLATERAW;
    this.#begin();
  }

  /** Hands over input. All of the earlier must have been taken. */
  feed(bytes: Uint8Array): void {
    const stream = this.#stream;
    if (this.#hasEnded && this.#kind === GUNZIP && bytes.length > 0 && bytes[0] !== 0) this.#again();
    if (this.#isFirst && bytes.length > 0) {
      this.#isFirst = false;
      if (this.#mode === UNZIP) this.#kind = bytes[0] === 0x1f ? GUNZIP : INFLATE;
    }
    stream.input = bytes;
    stream.next_in = 0;
    stream.avail_in = bytes.length;
  }

  get unread(): number {
    return this.#stream.avail_in;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Fills `output` from `at` on. Gives how many bytes it wrote; fewer than fit means that it needs input. */
  take(output: Uint8Array<ArrayBuffer>, at: number, flush: number): number {
    const stream = this.#stream;
    stream.output = output;
    stream.next_out = at;
    stream.avail_out = output.length - at;
    while (stream.avail_out > 0) {
      if (this.#hasEnded) {
        // Another member of the same archive. Zeros at the end are padding.
        if (this.#kind !== GUNZIP || stream.avail_in === 0 || stream.input[stream.next_in] === 0) break;
        this.#again();
      }
      const status = this.#step(flush);
      if (status === Z_STREAM_END) this.#hasEnded = true;
      else if (status === Z_OK) {
        if (stream.avail_out > 0 && stream.avail_in === 0 && flush !== Z_FINISH) break;
        if (stream.avail_out > 0 && this.#isDeflate && flush !== Z_FINISH) break;
      } else if (status === Z_BUF_ERROR) {
        if (flush === Z_FINISH && stream.avail_out > 0) throw failure("Z_BUF_ERROR", "unexpected end of file");
        break;
      } else throw this.#failure(status);
    }
    return stream.next_out - at;
  }

  reset(): void {
    if (this.#isDeflate) zlibDeflateReset(this.#stream);
    else zlibInflateReset(this.#stream);
    this.#hasEnded = false;
    this.#isFirst = true;
    this.#kind = this.#mode;
    this.#setDictionary();
  }

  #again(): void {
    zlibInflateReset(this.#stream);
    this.#hasEnded = false;
  }

  #begin(): void {
    const { level, memLevel, strategy } = this.#options;
    const stream = this.#stream;
    const status = this.#isDeflate
      ? zlibDeflateInit2(stream, level, DEFLATED, this.#bits(), memLevel, strategy as 0)
      : zlibInflateInit2(stream, this.#bits());
    if (status !== Z_OK) throw failure("Z_STREAM_ERROR", "Init error");
    this.#setDictionary();
  }

  /** zlib's own way to say which wrapper it is. */
  #bits(): number {
    const { windowBits } = this.#options;
    switch (this.#mode) {
      case GZIP:
      case GUNZIP:
        return windowBits + 16;
      case UNZIP:
        return windowBits + 32;
      case DEFLATERAW:
      case INFLATERAW:
        // zlib cannot make raw data with a window of 8 bits.
        return -(this.#isDeflate && windowBits === 8 ? 9 : windowBits);
      default:
        return windowBits;
    }
  }

  #setDictionary(): void {
    const { dictionary } = this.#options;
    if (!dictionary) return;
    if (this.#isDeflate) this.#checkDictionary(zlibDeflateSetDictionary(this.#stream, dictionary));
    else if (this.#mode === INFLATERAW) this.#checkDictionary(zlibInflateSetDictionary(this.#stream, dictionary));
  }

  #checkDictionary(status: number): void {
    if (status !== Z_OK) throw failure("Z_DATA_ERROR", "Bad dictionary");
  }

  #step(flush: number): number {
    if (this.#isDeflate) return zlibDeflate(this.#stream, flush as 0);
    const status = zlibInflate(this.#stream, flush as 0);
    if (status !== Z_NEED_DICT) return status;
    const { dictionary } = this.#options;
    if (!dictionary) throw failure("Z_NEED_DICT", "Missing dictionary");
    if (zlibInflateSetDictionary(this.#stream, dictionary) !== Z_OK) throw failure("Z_NEED_DICT", "Bad dictionary");
    return zlibInflate(this.#stream, flush as 0);
  }

  #failure(status: number): Error {
    const name = Object.keys(constants).find((one) => one.startsWith("Z_") && /ERR/.test(one) && constants[one] === status);
    const { msg } = this.#stream;
    return failure(name ?? "Z_DATA_ERROR", msg === "" ? "Zlib error" : msg);
  }
}

function failure(code: string, message: string): Error {
  return Object.assign(nodeError(Error, code, message), { errno: constants[code] ?? Z_DATA_ERROR });
}
