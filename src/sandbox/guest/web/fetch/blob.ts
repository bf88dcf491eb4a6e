/** Inside the isolate: `Blob` and `File`. Their bytes are on the plugin's own heap, copied when the blob is made. */
import { TextDecoder, TextEncoder } from "../encoding.ts";
import { cloneAs, coded, expose, inspectAs, missing, wrongType } from "../idl.ts";
import { ReadableStream } from "../streams.ts";
import { TextDecoderStream } from "../text-streams.ts";
import { str } from "../text.ts";

/** The size of a stream's chunks. */
const PIECE = 65_536;
const encoder = new TextEncoder();

interface BlobOptions {
  type?: unknown;
  endings?: unknown;
}

/** Checks the private field, not the prototype. */
export let isBlob: (value: unknown) => value is Blob;
/** The bytes themselves. Callers must not change them. */
export let blobBytes: (blob: Blob) => Uint8Array<ArrayBuffer>;
let blobOf: (bytes: Uint8Array<ArrayBuffer>, type: string) => Blob;
let adopt: (blob: Blob, from: Blob) => void;

export class Blob {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array();
  #type = "";

  static {
    isBlob = (value): value is Blob => typeof value === "object" && value !== null && #bytes in value;
    blobBytes = (blob) => blob.#bytes;
    blobOf = (bytes, type) => {
      const blob = new Blob();
      blob.#bytes = bytes;
      blob.#type = type;
      return blob;
    };
    adopt = (blob, from) => {
      blob.#bytes = from.#bytes;
      blob.#type = from.#type;
    };
  }

  constructor(...[parts, options]: [parts?: unknown, options?: BlobOptions | null]) {
    if (parts !== undefined && !(typeof parts === "object" && parts !== null && Symbol.iterator in parts))
      throw coded(TypeError, "ERR_INVALID_ARG_TYPE", "Value cannot be converted to sequence.");
    if (options !== undefined && options !== null && typeof options !== "object" && typeof options !== "function")
      throw wrongType("options", "a dictionary", options);
    // In alphabetical order, as Web IDL reads dictionaries.
    const { endings = "transparent", type = "" } = options ?? {};
    const mode = str(endings);
    if (mode !== "transparent" && mode !== "native")
      throw coded(TypeError, "ERR_INVALID_ARG_VALUE", `The property 'options.endings' is invalid. Received '${mode}'`);
    const pieces: Uint8Array[] = [];
    for (const part of (parts ?? []) as Iterable<unknown>) pieces.push(bytesOf(part, mode === "native"));
    this.#bytes = join(pieces);
    this.#type = typeOf(type);
  }

  get type(): string {
    return this.#type;
  }
  get size(): number {
    return this.#bytes.length;
  }
  slice(...[start, end, type = ""]: unknown[]): Blob {
    const from = clamp(start, 0, this.size);
    const to = clamp(end, this.size, this.size);
    return blobOf(this.#bytes.subarray(from, Math.max(from, to)), typeOf(type));
  }
  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#bytes.slice().buffer;
  }
  async text(): Promise<string> {
    return new TextDecoder().decode(this.#bytes);
  }
  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#bytes.slice();
  }
  textStream(): ReadableStream<string> {
    return this.stream().pipeThrough(new TextDecoderStream());
  }
  stream(): ReadableStream<Uint8Array> {
    const bytes = this.#bytes;
    let at = 0;
    return new ReadableStream({
      type: "bytes",
      pull(controller) {
        if (at < bytes.length) controller.enqueue(bytes.slice(at, (at += PIECE)));
        if (at < bytes.length) return;
        controller.close();
        controller.byobRequest?.respond(0);
      },
    });
  }
}

export class File extends Blob {
  readonly #name: string;
  readonly #lastModified: number;

  constructor(parts: unknown, name: unknown, ...[options]: [options?: (BlobOptions & { lastModified?: unknown }) | null]) {
    if (arguments.length < 2) throw missing("fileBits", "fileName");
    super(parts, options);
    this.#name = str(name).toWellFormed();
    const { lastModified = Date.now() } = options ?? {};
    // A `long long` of Web IDL: NaN becomes 0.
    this.#lastModified = Math.trunc(Number(lastModified)) || 0;
  }

  get name(): string {
    return this.#name;
  }
  get lastModified(): number {
    return this.#lastModified;
  }
}

/** A file over a blob's bytes, without a copy. */
export function fileOf(blob: Blob, name: string): File {
  const file = new File([], name, isFile(blob) ? { lastModified: blob.lastModified } : {});
  adopt(file, blob);
  return file;
}

export function isFile(value: unknown): value is File {
  return value instanceof File;
}

function bytesOf(part: unknown, isNative: boolean): Uint8Array {
  if (isBlob(part)) return blobBytes(part);
  if (ArrayBuffer.isView(part)) return new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
  if (part instanceof ArrayBuffer) return new Uint8Array(part);
  const text = str(part);
  return encoder.encode(isNative ? text.replaceAll(/\r\n?/g, "\n") : text);
}

export function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

function typeOf(type: unknown): string {
  const text = str(type);
  return /^[\x20-\x7e]*$/.test(text) ? text.toLowerCase() : "";
}

/** A negative index counts from the end, as for arrays. */
function clamp(value: unknown, usual: number, size: number): number {
  if (value === undefined) return usual;
  const at = rounded(Number(value));
  return at < 0 ? Math.max(size + at, 0) : Math.min(at, size);
}

/** Web IDL's clamp: rounds to the nearest integer, halves to the even one. */
function rounded(value: number): number {
  const down = Math.floor(value);
  const isUp = value - down > 0.5 || (value - down === 0.5 && down % 2 !== 0);
  return (isUp ? down + 1 : down) || 0;
}

for (const Class of [Blob, File]) expose(Class);
Object.defineProperty(Blob, "length", { value: 0 });
inspectAs<Blob>(Blob, ({ size, type }) => ({ size, type }));
inspectAs<File>(File, ({ size, type, name, lastModified }) => ({ size, type, name, lastModified }));
cloneAs<Blob>(Blob, (blob) => blobOf(blobBytes(blob), blob.type));
cloneAs<File>(File, (file) => fileOf(file, file.name));
