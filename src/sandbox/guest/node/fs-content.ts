/**
 * Inside the isolate: what is in a file. Kept as it was given, as text or as bytes: most files are text, are read as text, and never need to be bytes.
 */
import { LIMITS } from "../../../protocol/limits.ts";
import { moduleNamed } from "../library.ts";
import { utf8Length } from "./codecs.ts";
import { Fault } from "./fs-errors.ts";

type BufferClass = typeof Buffer;
let buffers: BufferClass | undefined;

/** Loaded when the first bytes are wanted. */
export function bufferClass(): BufferClass {
  return (buffers ??= (moduleNamed("buffer")!.exports as { Buffer: BufferClass }).Buffer);
}

/** Text must be well-formed: it is what bytes in UTF-8 would say. */
export type Data = string | Uint8Array;

const EMPTY = "";

export function bytesOf(data: Data): Uint8Array {
  return typeof data === "string" ? bufferClass().from(data, "utf8") : data;
}

/** V8 finds out much faster than we do whether there is anything to count. */
const BEYOND_ASCII = /[^\0-\x7f]/;

export function sizeOf(data: Data): number {
  if (typeof data !== "string") return data.length;
  return BEYOND_ASCII.test(data) ? utf8Length(data) : data.length;
}

export class Content {
  #data: Data;
  #size: number;
  /** Not decoded yet. */
  #base64: string | undefined;
  readonly #isText: boolean;
  /** It was too large to be sent into the cell. */
  readonly isLacking: boolean;

  constructor(data: Data = EMPTY, more: { base64?: string; isText?: boolean; lacking?: number } = {}) {
    this.#data = data;
    this.#base64 = more.base64;
    this.#isText = more.isText === true;
    this.isLacking = more.lacking !== undefined;
    this.#size = more.lacking ?? (more.base64 === undefined ? sizeOf(data) : base64Size(more.base64));
  }

  get size(): number {
    return this.#size;
  }

  /** The characters it has, while it is text. */
  get chars(): number | undefined {
    if (this.isLacking) return undefined;
    const { data } = this;
    return typeof data === "string" ? data.length : undefined;
  }

  /** As it is: not to be written to. */
  get data(): Data {
    if (this.isLacking)
      throw new Fault(
        "EFBIG",
        `the file was not sent into the sandbox: of a plugin's own files the smallest are, up to ${LIMITS.packageBytes} bytes in all`,
      );
    if (this.#base64 !== undefined) {
      const bytes = bufferClass().from(this.#base64, "base64");
      this.#data = this.#isText ? bytes.toString("utf8") : bytes;
      this.#base64 = undefined;
    }
    return this.#data;
  }

  replace(data: Data, size = sizeOf(data)): void {
    this.#base64 = undefined;
    this.#data = data;
    this.#size = size;
  }

  /** Text stays text if text is added. */
  append(data: Data, size = sizeOf(data)): void {
    const old = this.data;
    if (typeof old === "string" && typeof data === "string") {
      this.#data = old + data;
      this.#size += size;
    } else if (this.#size === 0) {
      this.replace(data, size);
    } else {
      this.write(bytesOf(data), this.#size);
    }
  }

  /** What lies between the old end and the place is zeros. */
  write(bytes: Uint8Array, at: number): void {
    const old = bytesOf(this.data);
    const size = Math.max(old.length, at + bytes.length);
    const made = size === old.length && this.#data === old ? old : new Uint8Array(size);
    if (made !== old) made.set(old);
    made.set(bytes, at);
    this.#data = made;
    this.#size = size;
  }

  resize(size: number): void {
    if (size === this.#size) return;
    if (size === 0) return this.replace(EMPTY);
    const old = bytesOf(this.data);
    const made = new Uint8Array(size);
    made.set(old.subarray(0, size));
    this.#data = made;
    this.#size = size;
  }
}

function base64Size(text: string): number {
  return (text.length / 4) * 3 - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);
}
