/** Inside the isolate: hashes and HMAC by @noble/hashes, with Node's names and errors. */
import { blake2b, blake2s } from "@noble/hashes/blake2.js";
import { hmac } from "@noble/hashes/hmac.js";
import { md5, ripemd160, sha1 } from "@noble/hashes/legacy.js";
import { sha224, sha256, sha384, sha512, sha512_224, sha512_256 } from "@noble/hashes/sha2.js";
import { sha3_224, sha3_256, sha3_384, sha3_512, shake128, shake256 } from "@noble/hashes/sha3.js";
import type { CHash } from "@noble/hashes/utils.js";
import { Buffer } from "../buffer/buffer-class.ts";
import { dataBytes, secretBytes } from "./crypto-bytes.ts";
import { checkInteger, checkString, nodeError } from "../errors.ts";
import { encodingNamed } from "../buffer/codecs.ts";

const HASHES: Readonly<Record<string, CHash>> = {
  blake2b512: blake2b,
  blake2s256: blake2s,
  md5,
  ripemd160,
  sha1,
  sha224,
  sha256,
  "sha3-224": sha3_224,
  "sha3-256": sha3_256,
  "sha3-384": sha3_384,
  "sha3-512": sha3_512,
  sha384,
  sha512,
  "sha512-224": sha512_224,
  "sha512-256": sha512_256,
};

/** Hashes whose length the caller chooses. The defaults are OpenSSL's. */
const EXTENDABLE: Readonly<Record<string, { readonly make: (length: number) => Running; readonly bytes: number }>> = {
  shake128: { make: (dkLen) => shake128.create({ dkLen }), bytes: 16 },
  shake256: { make: (dkLen) => shake256.create({ dkLen }), bytes: 32 },
};

/** A hash or HMAC being computed. */
interface Running {
  update(data: Uint8Array): unknown;
  digest(): Uint8Array;
  clone?(): Running;
}

const ALIASES: Readonly<Record<string, string>> = {
  ripemd: "ripemd160",
  rmd160: "ripemd160",
  "ripemd-160": "ripemd160",
  "blake2b-512": "blake2b512",
  "blake2s-256": "blake2s256",
  "ssl3-md5": "md5",
  "ssl3-sha1": "sha1",
};

function plainName(name: string): string {
  const lower = name.toLowerCase().replace(/^rsa-/, "");
  if (Object.hasOwn(ALIASES, lower)) return ALIASES[lower]!;
  // SHA-256 and SHA2-256 are the same.
  return lower.replace(/^sha2?-(\d)/, "sha$1").replace(/^sha512\/(\d+)$/, "sha512-$1");
}

function hashNamed(name: string): CHash | undefined {
  const plain = plainName(name);
  return Object.hasOwn(HASHES, plain) ? HASHES[plain] : undefined;
}

/** The hash function for HMAC and what is built on it. */
export function digestNamed(name: unknown, argument: string): CHash {
  checkString(name, argument);
  const hash = hashNamed(name);
  if (!hash) throw nodeError(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${name}`);
  return hash;
}

function running(name: string, length: unknown): Running | undefined {
  const plain = plainName(name);
  if (length !== undefined) checkInteger(length, "options.outputLength", 0, 2 ** 31 - 1);
  if (Object.hasOwn(EXTENDABLE, plain)) {
    const { make, bytes } = EXTENDABLE[plain]!;
    return make(length ?? bytes);
  }
  const hash = hashNamed(name);
  if (hash && length !== undefined && length !== hash.outputLen)
    throw nodeError(Error, "ERR_OSSL_EVP_NOT_XOF_OR_INVALID_LENGTH", "error:030000B2:digital envelope routines::not XOF or invalid length");
  return hash?.create();
}

function output(bytes: Uint8Array, encoding: unknown): Buffer | string {
  const buffer = Buffer.from(bytes);
  if (encoding === undefined || encoding === null || encoding === "buffer" || encoding === "") return buffer;
  return encodingNamed(encoding) ? buffer.toString(encoding) : buffer;
}

function finalized(): Error {
  return nodeError(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
}

export class Hash {
  #running: Running | undefined;

  constructor(algorithm: unknown, options?: { outputLength?: unknown }, copied?: Running) {
    checkString(algorithm, "algorithm");
    this.#running = copied ?? running(algorithm, options?.outputLength);
    if (!this.#running) throw new Error("Digest method not supported");
  }

  update(data: unknown, encoding?: unknown): this {
    if (!this.#running) throw finalized();
    this.#running.update(dataBytes(data, "data", encoding));
    return this;
  }

  digest(encoding?: unknown): Buffer | string {
    if (!this.#running) throw finalized();
    const bytes = this.#running.digest();
    this.#running = undefined;
    return output(bytes, encoding);
  }

  copy(): Hash {
    if (!this.#running) throw finalized();
    return new Hash("sha256", undefined, this.#running.clone!());
  }
}

const KEY = "of type string or an instance of ArrayBuffer, Buffer, TypedArray, DataView, KeyObject, or CryptoKey";

export class Hmac {
  #running: Running | undefined;

  constructor(algorithm: unknown, key: unknown) {
    checkString(algorithm, "hmac");
    const secret = secretBytes(key, "key", KEY);
    this.#running = hmac.create(digestNamed(algorithm, "hmac"), secret) as unknown as Running;
  }

  update(data: unknown, encoding?: unknown): this {
    if (!this.#running) throw finalized();
    this.#running.update(dataBytes(data, "data", encoding));
    return this;
  }

  /** A second call returns nothing, as in Node. */
  digest(encoding?: unknown): Buffer | string {
    const bytes = this.#running?.digest() ?? new Uint8Array(0);
    this.#running = undefined;
    return output(bytes, encoding);
  }
}

export function hashOnce(algorithm: unknown, input: unknown, options: unknown = "hex"): Buffer | string {
  checkString(algorithm, "algorithm");
  const data = dataBytes(input, "input");
  const { outputEncoding = "hex", outputLength } = (
    typeof options === "object" && options !== null ? options : { outputEncoding: options }
  ) as { outputEncoding?: unknown; outputLength?: unknown };
  const computation = running(algorithm, outputLength);
  if (!computation) throw new Error(`Digest method ${algorithm} is not supported`);
  computation.update(data);
  return output(computation.digest(), outputEncoding);
}

export function getHashes(): string[] {
  return [...Object.keys(HASHES), ...Object.keys(EXTENDABLE)].toSorted();
}
