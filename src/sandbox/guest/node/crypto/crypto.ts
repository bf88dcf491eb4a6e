/**
 * Inside the isolate: `crypto`. Hashes, random numbers and derived keys are computed in the cell. Keys and ciphers need
 * the lane, so only the asynchronous `crypto.subtle` has them.
 */
import { crypto as webcrypto } from "../../web/crypto.ts";
import { viewBytes } from "./crypto-bytes.ts";
import { hkdfSync, later, pbkdf2Sync, scryptSync } from "./crypto-derive.ts";
import { getHashes, Hash, hashOnce, Hmac } from "./crypto-hash.ts";
import { createSecretKey, KeyObject } from "./crypto-key.ts";
import { randomBytes, randomFill, randomFillSync, randomInt, randomUUID } from "./crypto-random.ts";
import { nodeError } from "../errors.ts";

function timingSafeEqual(a: unknown, b: unknown): boolean {
  const [x, y] = [viewBytes(a), viewBytes(b)];
  for (const [bytes, name] of [
    [x, "buf1"],
    [y, "buf2"],
  ] as const)
    if (!bytes)
      throw nodeError(
        TypeError,
        "ERR_INVALID_ARG_TYPE",
        `The "${name}" argument must be an instance of ArrayBuffer, Buffer, TypedArray, or DataView.`,
      );
  if (x!.length !== y!.length)
    throw nodeError(RangeError, "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH", "Input buffers must have the same byte length");
  let difference = 0;
  for (let i = 0; i < x!.length; i++) difference |= x![i]! ^ y![i]!;
  return difference === 0;
}

/** Synchronous functions that would need the lane. Each throws when it is called. */
export const REFUSED =
  "Certificate Cipheriv Decipheriv DiffieHellman DiffieHellmanGroup ECDH Sign Verify X509Certificate argon2 argon2Sync checkPrime checkPrimeSync createCipheriv createDecipheriv createDiffieHellman createDiffieHellmanGroup createECDH createPrivateKey createPublicKey createSign createVerify decapsulate diffieHellman encapsulate generateKey generateKeyPair generateKeyPairSync generateKeySync generatePrime generatePrimeSync getCipherInfo getDiffieHellman privateDecrypt privateEncrypt publicDecrypt publicEncrypt secureHeapUsed setEngine setFips sign verify".split(
    " ",
  );

const crypto: Record<string, unknown> = {
  createHash: (algorithm: unknown, options?: { outputLength?: unknown }) => new Hash(algorithm, options),
  createHmac: (algorithm: unknown, key: unknown) => new Hmac(algorithm, key),
  hash: hashOnce,
  getHashes,
  Hash,
  Hmac,
  KeyObject,
  createSecretKey,
  randomBytes,
  randomFill,
  randomFillSync,
  randomInt,
  randomUUID,
  timingSafeEqual,
  pbkdf2Sync,
  pbkdf2: later(pbkdf2Sync),
  scryptSync,
  scrypt: later(scryptSync as never),
  hkdfSync,
  hkdf: later(hkdfSync),
  getFips: () => 0,
  getCiphers: () => [],
  getCurves: () => [],
  constants: { RSA_PKCS1_PADDING: 1, RSA_NO_PADDING: 3, RSA_PKCS1_OAEP_PADDING: 4, RSA_PKCS1_PSS_PADDING: 6 },
  webcrypto,
  subtle: webcrypto.subtle,
  getRandomValues: webcrypto.getRandomValues.bind(webcrypto),
};

// Functions, so that `instanceof` works on those that are classes in Node.
for (const name of REFUSED)
  crypto[name] = function () {
    throw nodeError(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", `crypto.${name} is not available inside the sandbox; crypto.subtle is`);
  };

export default crypto;
