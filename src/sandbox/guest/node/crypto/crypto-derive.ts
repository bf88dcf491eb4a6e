/** Inside the isolate: keys from passwords and secrets. They run inside the cell, within the call's CPU budget. */
import { hkdf as nobleHkdf } from "@noble/hashes/hkdf.js";
import { pbkdf2 as noblePbkdf2 } from "@noble/hashes/pbkdf2.js";
import { scrypt as nobleScrypt } from "@noble/hashes/scrypt.js";
import { Buffer } from "../buffer/buffer-class.ts";
import { secretBytes } from "./crypto-bytes.ts";
import { digestNamed } from "./crypto-hash.ts";
import { checkFunction, checkInteger, nodeError } from "../errors.ts";
import { nextTick } from "../next-tick.ts";

const MOST = 2 ** 31 - 1;
const SECRET = "of type string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView";

export function pbkdf2Sync(password: unknown, salt: unknown, iterations: unknown, length: unknown, digest: unknown): Buffer {
  const [secret, seasoning] = [secretBytes(password, "password", SECRET), secretBytes(salt, "salt", SECRET)];
  checkInteger(iterations, "iterations", 1, MOST);
  checkInteger(length, "keylen", 0, MOST);
  const hash = digestNamed(digest, "digest");
  return length === 0 ? Buffer.alloc(0) : Buffer.from(noblePbkdf2(hash, secret, seasoning, { c: iterations, dkLen: length }));
}

interface ScryptOptions {
  N?: number;
  cost?: number;
  r?: number;
  blockSize?: number;
  p?: number;
  parallelization?: number;
  maxmem?: number;
}

export function scryptSync(password: unknown, salt: unknown, length: unknown, options: ScryptOptions = {}): Buffer {
  const [secret, seasoning] = [secretBytes(password, "password", SECRET), secretBytes(salt, "salt", SECRET)];
  checkInteger(length, "keylen", 0, MOST);
  const { N = options.cost ?? 16384, r = options.blockSize ?? 8, p = options.parallelization ?? 1, maxmem = 32 * 1024 * 1024 } = options;
  if (!Number.isInteger(N) || N < 2 || (N & (N - 1)) !== 0 || r < 1 || p < 1)
    throw nodeError(RangeError, "ERR_CRYPTO_INVALID_SCRYPT_PARAMS", "Invalid scrypt params");
  if (128 * N * r + 128 * r * p + 32 * r + 4 * r > maxmem)
    throw nodeError(
      RangeError,
      "ERR_CRYPTO_INVALID_SCRYPT_PARAMS",
      "Invalid scrypt params: error:030000AC:digital envelope routines::memory limit exceeded",
    );
  return length === 0 ? Buffer.alloc(0) : Buffer.from(nobleScrypt(secret, seasoning, { N, r, p, dkLen: length, maxmem: maxmem + 1024 }));
}

export function hkdfSync(digest: unknown, key: unknown, salt: unknown, info: unknown, length: unknown): ArrayBuffer {
  const hash = digestNamed(digest, "digest");
  const [secret, seasoning, label] = [
    secretBytes(key, "ikm", SECRET),
    secretBytes(salt, "salt", SECRET),
    secretBytes(info, "info", SECRET),
  ];
  checkInteger(length, "length", 0, MOST);
  if (length > 255 * hash.outputLen) throw nodeError(RangeError, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length");
  return length === 0 ? new ArrayBuffer(0) : nobleHkdf(hash, secret, seasoning, label, length).slice().buffer;
}

/** The same function with a callback as its last argument. */
export function later(compute: (...args: unknown[]) => unknown): (...args: unknown[]) => void {
  return (...args) => {
    const callback = args.pop();
    checkFunction(callback, "callback");
    nextTick(callback, null, compute(...args));
  };
}
