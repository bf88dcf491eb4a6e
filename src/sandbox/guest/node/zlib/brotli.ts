/**
 * Inside the isolate: decompresses Brotli with the package brotli, which is Google's decoder in JavaScript. Loaded when
 * it is first used: the decoder's dictionary is large. It needs the whole input, and is paid from the cell's budgets.
 */
import BitReader from "brotli/dec/bit_reader.js";
import type { Source } from "brotli/dec/bit_reader.js";
import { BrotliDecompress } from "brotli/dec/decode.js";
import { nodeError } from "../errors.ts";
import { constants } from "./zlib-constants.ts";
import { tooLarge } from "./zlib-options.ts";

/** The input, which also knows how far the decoder has used it: the package does not notice data that end too early. */
class Input implements Source {
  readonly #bytes: Uint8Array;
  #at = 0;
  #reader: BitReader | undefined;
  #readerStart = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The reader forgets what it has, and goes on with the next byte that it reads. */
  begin(reader: BitReader): void {
    this.#reader = reader;
    this.#readerStart = this.#at;
  }

  read(buffer: Uint8Array, at: number, count: number): number {
    const piece = this.#bytes.subarray(this.#at, this.#at + count);
    buffer.set(piece, at);
    this.#at += piece.length;
    return piece.length;
  }

  /** Has the decoder used more than there is? */
  get isPastEnd(): boolean {
    const { pos_: taken, bit_pos_: bits } = this.#reader!;
    return this.#readerStart + taken - 4 + Math.ceil(bits / 8) > this.#bytes.length;
  }

  /** Are the bits of the last byte zero that are not used? Text that is not Brotli may look like no data at all. */
  get isPadded(): boolean {
    const { val_: value, bit_pos_: bits } = this.#reader!;
    return ((value >>> bits) & ((1 << (-bits & 7)) - 1)) === 0;
  }

  checkEnd(): void {
    if (this.isPastEnd) throw endOfFile();
  }
}

// oxlint-disable-next-line typescript/unbound-method -- called with the reader that they were called on
const { reset, readMoreInput } = BitReader.prototype;
BitReader.prototype.reset = function (): unknown {
  if (this.input_ instanceof Input) this.input_.begin(this);
  return reset.call(this);
};
BitReader.prototype.readMoreInput = function (): void {
  // The decoder calls this before each symbol. After the end it would go on with what lies behind in its buffer.
  if (this.eos_ === 1 && this.input_ instanceof Input) this.input_.checkEnd();
  else readMoreInput.call(this);
};

/** Gives the output in pieces. */
export function decompressed(bytes: Uint8Array, maxOutputLength: number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let total = 0;
  const output = {
    // The package enlarges a buffer that it thinks is too small.
    buffer: { length: Infinity },
    write(window: Uint8Array, count: number): void {
      total += count;
      // SECURITY: a bomb stops here, or at the cell's heap and CPU limits. test/escape/node-modules.test.ts
      if (total > maxOutputLength) throw tooLarge(maxOutputLength);
      if (count > 0) pieces.push(window.slice(0, count));
    },
  };
  if (bytes.length === 0) throw endOfFile();
  const input = new Input(bytes);
  try {
    BrotliDecompress(input, output);
    input.checkEnd();
    if (!input.isPadded) throw new Error("wrong padding");
  } catch (error) {
    if (error instanceof RangeError) throw error;
    if (input.isPastEnd || /not enough bytes|bit_end_pos_|end of input/.test((error as Error).message)) throw endOfFile();
    throw Object.assign(nodeError(Error, "ERR_BROTLI_DECODER_ERROR_FORMAT", "Decompression failed"), { errno: -1 });
  }
  return pieces;
}

function endOfFile(): Error {
  return Object.assign(nodeError(Error, "Z_BUF_ERROR", "unexpected end of file"), { errno: constants["Z_BUF_ERROR"] });
}
