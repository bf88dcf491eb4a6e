/**
 * Inside the isolate: `TextEncoder` and `TextDecoder`. They know UTF-8, UTF-16 and the single-byte encodings. East
 * Asian encodings are left out, because their tables are large.
 */
import * as bytes from "@exodus/bytes/encoding-lite.js";
import { coded, expose, inspectAs, wrongType } from "./idl.ts";
import { str } from "./text.ts";

/** Encodings that the package knows only by name. */
const ABSENT = new Set(["big5", "euc-jp", "euc-kr", "gb18030", "gbk", "iso-2022-jp", "shift_jis"]);
const PLAIN = new bytes.TextEncoder();

export class TextEncoder {
  get encoding(): string {
    return PLAIN.encoding;
  }
  encode(text: unknown = ""): Uint8Array {
    return PLAIN.encode(str(text));
  }
  encodeInto(text: unknown, target: unknown): { read: number; written: number } {
    if (typeof text !== "string") throw wrongType("src", "of type string", text);
    if (!(target instanceof Uint8Array)) throw wrongType("dest", "an instance of Uint8Array", target);
    return PLAIN.encodeInto(text, target);
  }
}

interface DecoderOptions {
  fatal?: unknown;
  ignoreBOM?: unknown;
}

export class TextDecoder {
  readonly #inner: InstanceType<typeof bytes.TextDecoder>;

  constructor(encoding: unknown = "utf-8", options: DecoderOptions | null = {}) {
    const label = str(encoding);
    const name = bytes.normalizeEncoding(label);
    if (name === null || ABSENT.has(name) || name === "replacement")
      throw coded(RangeError, "ERR_ENCODING_NOT_SUPPORTED", `The "${label}" encoding is not supported`);
    if (options !== null && typeof options !== "object" && typeof options !== "function")
      throw wrongType("options", "of type object", options);
    this.#inner = new bytes.TextDecoder(name, { fatal: Boolean(options?.fatal), ignoreBOM: Boolean(options?.ignoreBOM) });
  }

  get encoding(): string {
    return this.#inner.encoding;
  }
  get fatal(): boolean {
    return this.#inner.fatal;
  }
  get ignoreBOM(): boolean {
    return this.#inner.ignoreBOM;
  }

  decode(input: unknown = new Uint8Array(), options: { stream?: unknown } | null = {}): string {
    // Checks the receiver before the input, as Web IDL says.
    const inner = this.#inner;
    if (!(input instanceof ArrayBuffer) && !ArrayBuffer.isView(input))
      throw wrongType("list", "an instance of SharedArrayBuffer, ArrayBuffer or ArrayBufferView", input);
    if (options !== null && typeof options !== "object" && typeof options !== "function")
      throw wrongType("options", "of type object", options);
    try {
      return inner.decode(input as ArrayBuffer, { stream: Boolean(options?.stream) });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw coded(TypeError, "ERR_ENCODING_INVALID_ENCODED_DATA", `The encoded data was not valid for encoding ${inner.encoding}`);
    }
  }
}

expose(TextEncoder, [], "TextEncoder");
expose(TextDecoder, [], "TextDecoder");
inspectAs<TextEncoder>(TextEncoder, ({ encoding }) => ({ encoding }));
inspectAs<TextDecoder>(TextDecoder, ({ encoding, fatal, ignoreBOM }) => ({ encoding, fatal, ignoreBOM }));
