/** Inside the isolate: `string_decoder`, which makes text from bytes that come in pieces. */
import { Buffer } from "./buffer-class.ts";
import { decode, encodingNamed } from "./codecs.ts";
import type { Encoding } from "./codecs.ts";
import { invalidArgType, nodeError } from "../errors.ts";

interface StringDecoder {
  encoding: Encoding;
  lastNeed: number;
  lastTotal: number;
  lastChar: Buffer;
}

const HELD = Symbol("held");
type Holding = StringDecoder & { [HELD]: Uint8Array };

function StringDecoder(this: Holding, name?: unknown): void {
  const encoding = encodingNamed(name);
  if (!encoding) throw nodeError(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${String(name)}`);
  this.encoding = encoding;
  Object.defineProperty(this, HELD, { value: new Uint8Array(0), writable: true });
}

/** How many bytes at the end belong to an incomplete character. */
function incomplete(bytes: Uint8Array, encoding: Encoding): number {
  if (encoding === "base64" || encoding === "base64url") return bytes.length % 3;
  if (encoding === "utf16le") {
    const odd = bytes.length % 2;
    const unit = bytes.length - odd >= 2 ? bytes[bytes.length - odd - 1]! : 0;
    // A high surrogate waits for the low one.
    return odd + (unit >= 0xd8 && unit <= 0xdb ? 2 : 0);
  }
  if (encoding !== "utf8") return 0;
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const size = byte >= 0xf0 && byte <= 0xf4 ? 4 : byte >= 0xe0 && byte < 0xf0 ? 3 : byte >= 0xc2 && byte < 0xe0 ? 2 : 1;
    if (back >= size) return 0;
    // Only a beginning that can still become a character waits.
    return decode(bytes, "utf8", bytes.length - back) === "\ufffd" ? back : 0;
  }
  return 0;
}

StringDecoder.prototype = {
  constructor: StringDecoder,
  write(this: Holding, chunk: unknown): string {
    if (typeof chunk === "string") return chunk;
    if (!ArrayBuffer.isView(chunk)) throw invalidArgType("buf", "an instance of Buffer, TypedArray, or DataView", chunk);
    const bytes = Buffer.concat([this[HELD], new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength)]);
    const end = bytes.length - incomplete(bytes, this.encoding);
    this[HELD] = Uint8Array.from(bytes.subarray(end));
    return decode(bytes, this.encoding, 0, end);
  },
  end(this: Holding & { write(chunk: unknown): string }, chunk?: unknown): string {
    const text = chunk === undefined ? "" : this.write(chunk);
    const rest = this[HELD];
    this[HELD] = new Uint8Array(0);
    // Half a unit at the end is dropped. A lone surrogate is given as it is.
    return text + decode(rest, this.encoding);
  },
  text(this: Holding & { write(chunk: unknown): string }, chunk: Uint8Array, offset: number): string {
    this[HELD] = new Uint8Array(0);
    return this.write(chunk.subarray(offset));
  },
  get lastNeed(): number {
    return (this as unknown as Holding)[HELD].length > 0 ? 1 : 0;
  },
};

export { StringDecoder };

export default { StringDecoder };
