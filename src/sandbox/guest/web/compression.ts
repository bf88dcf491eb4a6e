/** Inside the isolate: `CompressionStream` and `DecompressionStream`. */
import { TransformStream } from "web-streams-polyfill";
import { Engine } from "../node/zlib/engine.ts";
import type { Mode } from "../node/zlib/engine.ts";
import { settingsOf } from "../node/zlib/zlib-options.ts";
import { expose, wrongType } from "./idl.ts";
import { str } from "./text.ts";

const COMPRESS: Readonly<Record<string, Mode>> = { deflate: 1, gzip: 3, "deflate-raw": 5 };
const DECOMPRESS: Readonly<Record<string, Mode>> = { deflate: 2, gzip: 4, "deflate-raw": 6 };
const CHUNK = 16_384;
const FINISH = 4;

function attempt(run: () => void): void {
  try {
    run();
  } catch (cause) {
    // Not the data's fault: no memory was left.
    if (cause instanceof RangeError) throw cause;
    throw new TypeError("The compressed data was not valid", { cause });
  }
}

function transformer(modes: typeof COMPRESS, given: unknown, name: string): TransformStream {
  const format = str(given);
  if (!Object.hasOwn(modes, format))
    throw Object.assign(
      new TypeError(`Failed to construct '${name}': 1st argument '${format}' is not a valid enum value of type CompressionFormat.`),
      { code: "ERR_INVALID_ARG_VALUE" },
    );
  const isCompressing = modes === COMPRESS;
  const engine = new Engine(modes[format]!, settingsOf());
  const drain = (controller: { enqueue(chunk: Uint8Array): void }, flush: number): void => {
    for (;;) {
      const output = new Uint8Array(CHUNK);
      const made = engine.take(output, 0, flush);
      if (made > 0) controller.enqueue(output.subarray(0, made));
      if (made < CHUNK) return;
    }
  };
  return new TransformStream<unknown, Uint8Array>({
    transform(chunk, controller) {
      if (!ArrayBuffer.isView(chunk) && !(chunk instanceof ArrayBuffer))
        throw wrongType("chunk", "an instance of ArrayBuffer or ArrayBufferView", chunk);
      const bytes = ArrayBuffer.isView(chunk) ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength) : new Uint8Array(chunk);
      if (engine.hasEnded && !isCompressing && bytes.length > 0)
        throw new TypeError("Trailing junk found after the end of the compressed stream");
      attempt(() => {
        engine.feed(bytes);
        drain(controller, 0);
      });
      if (engine.hasEnded && engine.unread > 0) throw new TypeError("Trailing junk found after the end of the compressed stream");
    },
    flush(controller) {
      attempt(() => {
        if (engine.hasEnded) return;
        engine.feed(new Uint8Array(0));
        drain(controller, FINISH);
      });
    },
  });
}

export class CompressionStream {
  readonly #inner: TransformStream;
  constructor(format: unknown) {
    this.#inner = transformer(COMPRESS, format, "CompressionStream");
  }
  get readable(): TransformStream["readable"] {
    return this.#inner.readable;
  }
  get writable(): TransformStream["writable"] {
    return this.#inner.writable;
  }
}

export class DecompressionStream {
  readonly #inner: TransformStream;
  constructor(format: unknown) {
    this.#inner = transformer(DECOMPRESS, format, "DecompressionStream");
  }
  get readable(): TransformStream["readable"] {
    return this.#inner.readable;
  }
  get writable(): TransformStream["writable"] {
    return this.#inner.writable;
  }
}

expose(CompressionStream, [], "CompressionStream");
expose(DecompressionStream, [], "DecompressionStream");
