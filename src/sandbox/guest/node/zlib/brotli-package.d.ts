/** Parts of the package brotli that it does not export; scripts/guest-build/thin.ts finds them. */
declare module "brotli/dec/decode.js" {
  import type { Source } from "brotli/dec/bit_reader.js";
  export function BrotliDecompress(
    input: Source,
    output: { buffer: { length: number }; write(window: Uint8Array, count: number): void },
  ): void;
}

declare module "brotli/dec/bit_reader.js" {
  export interface Source {
    /** Copies up to `count` bytes to `buffer` from `at` on. */
    read(buffer: Uint8Array, at: number, count: number): number;
  }
  /** Its fields are the package's own. */
  export default class BrotliBitReader {
    readonly input_: Source;
    /** Bytes taken since `reset`, four of them ahead; these four; how many of their bits have been used. */
    readonly pos_: number;
    readonly val_: number;
    readonly bit_pos_: number;
    /** The input gave fewer bytes than it was asked for. */
    readonly eos_: 0 | 1;
    reset(): unknown;
    readMoreInput(): void;
  }
}
