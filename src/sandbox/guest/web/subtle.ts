/**
 * Inside the isolate: `crypto.subtle`. The lane's WebCrypto does the work, in the sandbox process. A key's material
 * stays here, in a private field, and travels with each request.
 */
import { LIMITS } from "../../../protocol/limits.ts";
import { SUBTLE } from "../../../protocol/messages/subtle.ts";
import type { SubtleResponse, SubtleKey, SubtleOperation, SubtleRequest } from "../../../protocol/messages/subtle.ts";
import { requestHost } from "../turn/requests.ts";
import { decode, encode } from "../node/buffer/codecs.ts";
import { DOMException } from "./dom-exception.ts";
import { coded, expose, inspectAs, wrongType } from "./idl.ts";

const OURS = Symbol("ours");
let keyOf: (key: unknown) => SubtleKey;

export class CryptoKey {
  readonly #key: SubtleKey;
  readonly #algorithm: object;
  readonly #usages: string[];

  static {
    keyOf = (key) => {
      if (typeof key !== "object" || key === null || !(#key in key)) throw wrongType("key", "an instance of CryptoKey", key);
      return key.#key;
    };
  }

  constructor(ours?: symbol, key?: SubtleKey) {
    if (ours !== OURS || !key) throw coded(TypeError, "ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor");
    this.#key = key;
    this.#algorithm = shown(key.algorithm);
    this.#usages = [...key.usages];
  }

  get type(): string {
    return this.#key.type;
  }

  get extractable(): boolean {
    return this.#key.extractable;
  }

  get algorithm(): object {
    return this.#algorithm;
  }

  get usages(): string[] {
    return this.#usages;
  }
}

expose(CryptoKey);
inspectAs(CryptoKey, ({ type, extractable, algorithm, usages }) => ({ type, extractable, algorithm, usages }));

/** Decodes base64 back to bytes. */
function shown(algorithm: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(algorithm).map(([name, value]) => {
      if (typeof value !== "object" || value === null) return [name, value];
      const { base64 } = value as { base64?: unknown };
      return [name, typeof base64 === "string" ? encode(base64, "base64") : shown(value as Record<string, unknown>)];
    }),
  );
}

function bytesOf(value: unknown, name: string): string {
  const bytes = ArrayBuffer.isView(value)
    ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    : value instanceof ArrayBuffer
      ? new Uint8Array(value)
      : undefined;
  if (!bytes) throw wrongType(name, "an instance of ArrayBuffer, Buffer, TypedArray, or DataView", value);
  if (bytes.length > LIMITS.subtle.bytes)
    throw new DOMException(`inside the sandbox crypto.subtle takes ${LIMITS.subtle.bytes} bytes at a time`, "OperationError");
  return decode(bytes, "base64");
}

const BYTES = new Set(["iv", "additionalData", "counter", "label", "salt", "info", "publicExponent", "context"]);

/** An algorithm as plain data, with the members that algorithms can have and no others. */
function plain(algorithm: unknown): unknown {
  if (typeof algorithm === "string") return { name: algorithm };
  if (typeof algorithm !== "object" || algorithm === null)
    throw wrongType("algorithm", "of type string or an instance of Object", algorithm);
  const given = algorithm as Record<string, unknown>;
  const data: Record<string, unknown> = {};
  for (const name of ["name", "namedCurve", "length", "modulusLength", "iterations", "saltLength", "tagLength"])
    // oxlint-disable-next-line typescript/no-base-to-string -- as Web IDL says
    if (given[name] !== undefined) data[name] = typeof given[name] === "number" ? given[name] : String(given[name]);
  for (const name of BYTES) if (given[name] !== undefined) data[name] = { base64: bytesOf(given[name], `algorithm.${name}`) };
  if (given["hash"] !== undefined) data["hash"] = plain(given["hash"]);
  if (given["public"] !== undefined) data["public"] = keyOf(given["public"]);
  return data;
}

async function requestLane(operation: SubtleOperation, request: SubtleRequest): Promise<SubtleResponse> {
  try {
    return (await requestHost(SUBTLE + operation, request, LIMITS.subtle.requestChars)) as SubtleResponse;
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    if (typeof code !== "string" || !code.startsWith(SUBTLE)) throw error;
    const name = code.slice(SUBTLE.length);
    throw name === "TypeError" ? new TypeError(message) : new DOMException(message, name);
  }
}

function buffer(base64: string | undefined): ArrayBuffer {
  return encode(base64 ?? "", "base64").buffer;
}

function usagesOf(usages: unknown): string[] {
  return Array.from(usages as Iterable<unknown>, String);
}

export class SubtleCrypto {
  constructor(ours?: symbol) {
    if (ours !== OURS) throw coded(TypeError, "ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor");
  }

  async digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
    return buffer((await requestLane("digest", { algorithm: plain(algorithm), data: bytesOf(data, "data") })).bytes);
  }

  async importKey(format: unknown, data: unknown, algorithm: unknown, extractable: unknown, usages: unknown): Promise<CryptoKey> {
    const request = {
      format: String(format),
      data: format === "jwk" ? (data as object) : bytesOf(data, "keyData"),
      algorithm: plain(algorithm),
      extractable: Boolean(extractable),
      usages: usagesOf(usages),
    };
    return new CryptoKey(OURS, (await requestLane("importKey", request)).key);
  }

  async exportKey(format: unknown, key: unknown): Promise<unknown> {
    const own = keyOf(key);
    if (!own.extractable) throw new DOMException("key is not extractable", "InvalidAccessError");
    const { bytes, jwk } = await requestLane("exportKey", { format: String(format), key: own });
    return jwk ?? buffer(bytes);
  }

  async generateKey(algorithm: unknown, extractable: unknown, usages: unknown): Promise<unknown> {
    const request = { algorithm: plain(algorithm), extractable: Boolean(extractable), usages: usagesOf(usages) };
    const { key, pair } = await requestLane("generateKey", request);
    if (!pair) return new CryptoKey(OURS, key);
    return { publicKey: new CryptoKey(OURS, pair.publicKey), privateKey: new CryptoKey(OURS, pair.privateKey) };
  }

  async sign(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
    return this.#transformed("sign", algorithm, key, data);
  }

  async verify(algorithm: unknown, key: unknown, signature: unknown, data: unknown): Promise<boolean> {
    const request = {
      algorithm: plain(algorithm),
      key: keyOf(key),
      signature: bytesOf(signature, "signature"),
      data: bytesOf(data, "data"),
    };
    return (await requestLane("verify", request)).isValid === true;
  }

  async encrypt(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
    return this.#transformed("encrypt", algorithm, key, data);
  }

  async decrypt(algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
    return this.#transformed("decrypt", algorithm, key, data);
  }

  async deriveBits(algorithm: unknown, key: unknown, length: unknown = null): Promise<ArrayBuffer> {
    const request = { algorithm: plain(algorithm), key: keyOf(key), length: length === null ? null : Number(length) };
    return buffer((await requestLane("deriveBits", request)).bytes);
  }

  async deriveKey(algorithm: unknown, key: unknown, derived: unknown, extractable: unknown, usages: unknown): Promise<CryptoKey> {
    const request = {
      algorithm: plain(algorithm),
      key: keyOf(key),
      derived: plain(derived),
      extractable: Boolean(extractable),
      usages: usagesOf(usages),
    };
    return new CryptoKey(OURS, (await requestLane("deriveKey", request)).key);
  }

  async #transformed(operation: "sign" | "encrypt" | "decrypt", algorithm: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
    return buffer((await requestLane(operation, { algorithm: plain(algorithm), key: keyOf(key), data: bytesOf(data, "data") })).bytes);
  }
}

expose(SubtleCrypto);

export const subtle = new SubtleCrypto(OURS);
