/**
 * Inside the isolate: the content of a file, kept as text or as bytes, as it was written. Most files are written and
 * read as text and never need to be bytes.
 */
import { LIMITS } from "../../../../protocol/limits.ts";
import { moduleNamed } from "../../boot/library.ts";
import { utf8Length } from "../buffer/codecs.ts";
import { Fault } from "./fs-errors.ts";

type BufferClass = typeof Buffer;
let buffers: BufferClass | undefined;

/** Loaded when bytes are first needed. */
export function bufferClass(): BufferClass {
  return (buffers ??= (moduleNamed("buffer")!.exports as { Buffer: BufferClass }).Buffer);
}

/** Text must be well-formed, so that it equals its bytes in UTF-8. */
export type Data = string | Uint8Array;

const EMPTY = "";

export function bytesOf(data: Data): Uint8Array {
  return typeof data === "string" ? bufferClass().from(data, "utf8") : data;
}

/** V8 checks much faster than we do whether a text has more than ASCII. */
const BEYOND_ASCII = /[^\0-\x7f]/;

export function sizeOf(data: Data): number {
  if (typeof data !== "string") return data.length;
  return BEYOND_ASCII.test(data) ? utf8Length(data) : data.length;
}

export class Content {
  #data: Data;
  #size: number;
  /** Base64 that was not decoded yet. */
  #base64: string | undefined;
  readonly #isText: boolean;
  /** The host did not send it into the cell, because it is too large. */
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

  /** Its length in characters, while it is text. */
  get chars(): number | undefined {
    if (this.isLacking) return undefined;
    const { data } = this;
    return typeof data === "string" ? data.length : undefined;
  }

  /** The data itself. Callers must not change it. */
  get data(): Data {
    if (this.isLacking)
      throw new Fault(
        "EFBIG",
        `the file was not sent into the sandbox: of a plugin's own files the smallest are, up to ${LIMITS.plugin.packageBytes} bytes in all`,
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

  /** Text plus text stays text. */
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

  /** Zeros fill the gap between the old end and the offset. */
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
