/** Inside the isolate: secret keys as objects, for HMAC. Keys of other kinds need the lane; `crypto.subtle` has them. */
import { Buffer } from "../buffer/buffer-class.ts";
import { encode, encodingNamed } from "../buffer/codecs.ts";
import { invalidArgType, invalidArgValue } from "../errors.ts";

/** The bytes of a secret key. Undefined: it is none. */
export let keyBytes: (value: unknown) => Uint8Array | undefined;

export class KeyObject {
  readonly #bytes: Uint8Array;

  static {
    keyBytes = (value) => (typeof value === "object" && value !== null && #bytes in value ? value.#bytes : undefined);
  }

  constructor(type: unknown, bytes: Uint8Array) {
    if (type !== "secret") throw invalidArgValue("type", type);
    this.#bytes = bytes;
  }

  get type(): string {
    return "secret";
  }

  get symmetricKeySize(): number {
    return this.#bytes.length;
  }

  export(options: { format?: unknown } = {}): unknown {
    if (options.format !== "jwk") return Buffer.from(this.#bytes);
    return { kty: "oct", k: Buffer.from(this.#bytes).toString("base64url") };
  }

  equals(other: unknown): boolean {
    const bytes = keyBytes(other);
    if (!bytes) throw invalidArgType("otherKeyObject", "an instance of KeyObject", other);
    return Buffer.compare(this.#bytes, bytes) === 0;
  }
}

export function createSecretKey(key: unknown, encoding?: unknown): KeyObject {
  if (typeof key === "string") return new KeyObject("secret", encode(key, encodingNamed(encoding) ?? "utf8"));
  if (ArrayBuffer.isView(key)) return new KeyObject("secret", Uint8Array.from(new Uint8Array(key.buffer, key.byteOffset, key.byteLength)));
  if (key instanceof ArrayBuffer) return new KeyObject("secret", new Uint8Array(key.slice(0)));
  throw invalidArgType("key", "an instance of ArrayBuffer, Buffer, TypedArray, or DataView", key);
}
