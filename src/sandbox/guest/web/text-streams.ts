/** Inside the isolate: `TextEncoderStream` and `TextDecoderStream`. */
import { TransformStream } from "web-streams-polyfill";
import { TextDecoder, TextEncoder } from "./encoding.ts";
import { expose, wrongType } from "./idl.ts";
import { str } from "./text.ts";

/** A high surrogate that waits for the low one. */
const HALF = /[\uD800-\uDBFF]$/;

export class TextEncoderStream {
  readonly #inner: TransformStream;

  constructor() {
    const encoder = new TextEncoder();
    let half = "";
    this.#inner = new TransformStream<unknown, Uint8Array>({
      transform(chunk, controller) {
        const text = half + str(chunk);
        half = HALF.exec(text)?.[0] ?? "";
        const whole = half === "" ? text : text.slice(0, -1);
        if (whole !== "") controller.enqueue(encoder.encode(whole));
      },
      flush(controller) {
        if (half !== "") controller.enqueue(encoder.encode(half));
      },
    });
  }

  get encoding(): string {
    return "utf-8";
  }
  get readable(): TransformStream["readable"] {
    return this.#inner.readable;
  }
  get writable(): TransformStream["writable"] {
    return this.#inner.writable;
  }
}

export class TextDecoderStream {
  readonly #decoder: TextDecoder;
  readonly #inner: TransformStream;

  constructor(encoding: unknown = "utf-8", options: { fatal?: unknown; ignoreBOM?: unknown } = {}) {
    const decoder = new TextDecoder(encoding, options);
    this.#decoder = decoder;
    this.#inner = new TransformStream<unknown, string>({
      transform(chunk, controller) {
        if (chunk === undefined) throw wrongType("chunk", "an instance of ArrayBuffer or ArrayBufferView", chunk);
        const text = decoder.decode(chunk, { stream: true });
        if (text !== "") controller.enqueue(text);
      },
      flush(controller) {
        const text = decoder.decode();
        if (text !== "") controller.enqueue(text);
      },
    });
  }

  get encoding(): string {
    return this.#decoder.encoding;
  }
  get fatal(): boolean {
    return this.#decoder.fatal;
  }
  get ignoreBOM(): boolean {
    return this.#decoder.ignoreBOM;
  }
  get readable(): TransformStream["readable"] {
    return this.#inner.readable;
  }
  get writable(): TransformStream["writable"] {
    return this.#inner.writable;
  }
}

expose(TextEncoderStream, [], "TextEncoderStream");
expose(TextDecoderStream, [], "TextDecoderStream");
