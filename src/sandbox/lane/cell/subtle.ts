/**
 * Untrusted side, lane thread: `crypto.subtle` for cells, on Node's WebCrypto. It runs here and not in the gateway,
 * because native code that parses keys of third parties belongs where their code runs. It keeps nothing between two
 * requests. It checks a request for what would take too long; WebCrypto checks the rest.
 */
import type { webcrypto } from "node:crypto";
import * as threads from "node:worker_threads";
import { LIMITS } from "../../../protocol/limits.ts";
import { SUBTLE, SUBTLE_OPERATIONS } from "../../../protocol/messages/subtle.ts";
import type { SubtleResponse, SubtleKey, SubtleOperation, SubtleRequest } from "../../../protocol/messages/subtle.ts";

type Algorithm = { name: string } & Record<string, unknown>;
type Key = webcrypto.CryptoKey;
type Usage = webcrypto.KeyUsage;
type Respond = (isOk: boolean, text: string, tookMs: number) => void;

/**
 * A request in progress: how long it has waited for others, which the plugin is not charged for, and whether its
 * response is still wanted.
 */
interface Progress {
  waitedMs: number;
  isWanted: boolean;
}

/** The requests of one cell: a few at a time, the others in order. */
export class SubtleService {
  readonly #running = new Set<Progress>();
  #waiting: (() => Promise<void>)[] = [];

  request(operation: string, args: string, respond: Respond): void {
    this.#waiting.push(async () => {
      const startedMs = performance.now();
      const progress: Progress = { waitedMs: 0, isWanted: true };
      this.#running.add(progress);
      let [isOk, text] = [true, ""];
      try {
        text = JSON.stringify(await perform(operation, args, progress));
      } catch (error) {
        [isOk, text] = [false, refusal(error)];
      }
      this.#running.delete(progress);
      this.#next();
      respond(isOk, text, performance.now() - startedMs - progress.waitedMs);
    });
    this.#next();
  }

  /** The cell is gone. Operations that are running go on, and are still charged. */
  stop(): void {
    this.#waiting = [];
    for (const progress of this.#running) progress.isWanted = false;
  }

  #next(): void {
    while (this.#running.size < LIMITS.subtle.atOnce && this.#waiting.length > 0) void this.#waiting.shift()!();
  }
}

/** Names of WebCrypto's errors. The cell learns nothing about other errors. */
const NAMES = new Set([
  "OperationError",
  "DataError",
  "InvalidAccessError",
  "NotSupportedError",
  "SyntaxError",
  "QuotaExceededError",
  "TypeError",
]);

function refusal(error: unknown): string {
  const { name, message } = error instanceof Error ? error : { name: "", message: "" };
  const known = NAMES.has(name);
  return JSON.stringify({
    code: SUBTLE + (known ? name : "OperationError"),
    message: known ? message.slice(0, LIMITS.call.errorMessageChars) : "The operation failed for an operation-specific reason",
  });
}

function refuse(name: "OperationError" | "NotSupportedError" | "DataError", message: string): never {
  throw new DOMException(message, name);
}

async function perform(operation: string, args: string, progress: Progress): Promise<SubtleResponse> {
  if (!(SUBTLE_OPERATIONS as readonly string[]).includes(operation))
    refuse("NotSupportedError", `there is no operation ${operation.slice(0, 32)}`);
  if (args.length > LIMITS.subtle.requestChars) refuse("OperationError", "the request is too long");
  const request = JSON.parse(args) as SubtleRequest;
  return OPERATIONS[operation as SubtleOperation](request, progress);
}

/**
 * SECURITY: long operations run one at a time in the whole process, in order: WebCrypto has few threads, and short
 * operations must find one free. test/sandbox/guest/node/subtle.test.ts
 */
async function oneAtATime<T>(progress: Progress, work: () => Promise<T>): Promise<T> {
  const cameMs = performance.now();
  const begin = (): Promise<T> => {
    progress.waitedMs += performance.now() - cameMs;
    return progress.isWanted ? work() : refuse("OperationError", "the cell that made the request is gone");
  };
  // Since Node 24.5 all threads of a process share locks. Before that, each lane runs one long operation at a time.
  if (threads.locks) return threads.locks.request("creel-long-work", begin);
  const mine = long.then(begin);
  long = mine.then(
    () => {},
    () => {},
  );
  return mine;
}

let long: Promise<void> = Promise.resolve();

/** Rounds of PBKDF2, over all blocks that this number of bits needs. */
function roundsOf({ name, iterations, hash }: Algorithm, bits: number): number {
  if (!/^PBKDF2$/i.test(name)) return 0;
  const hashBits = HASH_BITS[hashName(hash)] ?? 160;
  const rounds = Number(iterations ?? 0) * Math.max(1, Math.ceil(bits / hashBits));
  if (rounds > LIMITS.subtle.rounds)
    refuse("OperationError", `inside the sandbox PBKDF2 may have ${LIMITS.subtle.rounds} iterations over all blocks: ask for fewer bits`);
  return rounds;
}

const HASH_BITS: Readonly<Record<string, number>> = {
  __proto__: null,
  "SHA-1": 160,
  "SHA-256": 256,
  "SHA-384": 384,
  "SHA-512": 512,
} as never;

function hashName(hash: unknown): string {
  return String(typeof hash === "object" && hash !== null ? (hash as { name?: unknown }).name : hash).toUpperCase();
}

function derived<T>(progress: Progress, algorithm: Algorithm, bits: number, work: () => Promise<T>): Promise<T> {
  return roundsOf(algorithm, bits) > LIMITS.subtle.quickRounds ? oneAtATime(progress, work) : work();
}

const OPERATIONS: Record<SubtleOperation, (request: SubtleRequest, progress: Progress) => Promise<SubtleResponse>> = {
  digest: async ({ algorithm, data }) => bytes(await crypto.subtle.digest(await algorithmOf(algorithm), bytesOf(data))),
  importKey: async ({ format, data, algorithm, extractable, usages }) => {
    const plain = await algorithmOf(algorithm);
    return { key: await imported(format, data, plain, extractable === true, usagesOf(usages)) };
  },
  exportKey: async ({ format, key }) => {
    const own = await keyOf(key);
    // Node imports such a key but never exports it.
    const exported = isSecretOnly(own)
      ? refuse("NotSupportedError", "key cannot be exported")
      : await crypto.subtle.exportKey(format as "jwk", own);
    return exported instanceof ArrayBuffer ? bytes(exported) : { jwk: exported };
  },
  generateKey: async ({ algorithm, extractable, usages }, progress) => {
    const given = generatable(await algorithmOf(algorithm));
    const generate = () => crypto.subtle.generateKey(given, true, usagesOf(usages));
    const made = await (given.modulusLength === undefined ? generate() : oneAtATime(progress, generate));
    if (!("privateKey" in made)) return { key: await packed(made, extractable === true) };
    return { pair: { publicKey: await packed(made.publicKey, true), privateKey: await packed(made.privateKey, extractable === true) } };
  },
  sign: async ({ algorithm, key, data }) => bytes(await crypto.subtle.sign(await algorithmOf(algorithm), await keyOf(key), bytesOf(data))),
  verify: async ({ algorithm, key, signature, data }) => ({
    isValid: await crypto.subtle.verify(await algorithmOf(algorithm), await keyOf(key), bytesOf(signature), bytesOf(data)),
  }),
  encrypt: async ({ algorithm, key, data }) =>
    bytes(await crypto.subtle.encrypt(await algorithmOf(algorithm), await keyOf(key), bytesOf(data))),
  decrypt: async ({ algorithm, key, data }) =>
    bytes(await crypto.subtle.decrypt(await algorithmOf(algorithm), await keyOf(key), bytesOf(data))),
  deriveBits: async ({ algorithm, key, length }, progress) => {
    if (Number(length ?? 0) > LIMITS.subtle.derivedBits)
      refuse("OperationError", `inside the sandbox at most ${LIMITS.subtle.derivedBits} bits are derived at a time`);
    const plain = await algorithmOf(algorithm);
    const own = await keyOf(key);
    const derive = () => crypto.subtle.deriveBits(plain as unknown as webcrypto.HkdfParams, own, (length ?? null) as number);
    return bytes(await derived(progress, plain, Number(length ?? 0), derive));
  },
  deriveKey: async ({ algorithm, key, derived: wanted, extractable, usages }, progress) => {
    const plain = await algorithmOf(algorithm);
    const target = await algorithmOf(wanted);
    const isPlain = SECRET_ONLY.test(target.name);
    const own = await keyOf(key);
    const derive = () => crypto.subtle.deriveKey(plain as unknown as webcrypto.HkdfParams, own, target, !isPlain, usagesOf(usages));
    // Without a length, an HMAC key is as long as a block of its hash.
    const made = await derived(progress, plain, Number(target.length ?? LONGEST_BLOCK_BITS), derive);
    return isPlain ? refuse("NotSupportedError", "derive bits and import them instead") : { key: await packed(made, extractable === true) };
  },
};

/** Block size of SHA-384 and SHA-512. */
const LONGEST_BLOCK_BITS = 1_024;

/** With another exponent, the search for a key may never end. */
const EXPONENTS = new Set(["03", "010001"]);

function generatable(algorithm: Algorithm): webcrypto.RsaHashedKeyGenParams {
  const { modulusLength, publicExponent } = algorithm;
  const exponent = publicExponent instanceof Buffer ? publicExponent.toString("hex").replace(/^(?:00)+/, "") : "";
  if (modulusLength !== undefined && !EXPONENTS.has(exponent))
    refuse("OperationError", "inside the sandbox an RSA key's exponent is 3 or 65537");
  return algorithm as unknown as webcrypto.RsaHashedKeyGenParams;
}

/** Keys that Node imports but never exports. */
const SECRET_ONLY = /^(?:HKDF|PBKDF2)$/i;

function isSecretOnly({ algorithm }: Key): boolean {
  return SECRET_ONLY.test(algorithm.name);
}

async function imported(format: unknown, data: unknown, algorithm: Algorithm, extractable: boolean, usages: Usage[]): Promise<SubtleKey> {
  const isPlain = SECRET_ONLY.test(algorithm.name);
  // The key's material goes back to the cell, so the key must be exportable here. The guest enforces `extractable` for
  // the plugin.
  const isOpen = isPlain ? extractable : true;
  if (format !== "raw" && JSON.stringify(data ?? null).length > LIMITS.subtle.keyChars)
    refuse("DataError", `inside the sandbox a key in this format may have ${LIMITS.subtle.keyChars} characters`);
  let given: unknown = data;
  if (format === "jwk" && typeof data === "object" && data !== null) {
    const { ext, ...rest } = data as { ext?: unknown };
    if (extractable && ext === false) throw new DOMException('JWK "ext" Parameter and extractable mismatch', "DataError");
    given = rest;
  } else given = bytesOf(data);
  const key = await crypto.subtle.importKey(format as "raw", given as Buffer, algorithm, isOpen, usages);
  checkSize(key);
  return packed(key, extractable, isPlain ? (data as string) : undefined);
}

function checkSize({ algorithm }: Key): void {
  if (((algorithm as { modulusLength?: number }).modulusLength ?? 0) > LIMITS.subtle.modulusBits)
    refuse("OperationError", `inside the sandbox an RSA key may have ${LIMITS.subtle.modulusBits} bits`);
}

const MATERIAL = { secret: "raw", public: "spki", private: "pkcs8" } as const;

async function packed(key: Key, extractable: boolean, material?: string): Promise<SubtleKey> {
  return {
    type: key.type,
    extractable,
    algorithm: algorithmData(key.algorithm as unknown as Record<string, unknown>),
    usages: [...key.usages],
    material: material ?? Buffer.from(await crypto.subtle.exportKey(MATERIAL[key.type], key)).toString("base64"),
  };
}

function algorithmData(algorithm: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(algorithm).map(([name, value]) => {
      if (value instanceof Uint8Array) return [name, { base64: Buffer.from(value).toString("base64") }];
      return [name, typeof value === "object" && value !== null ? algorithmData(value as Record<string, unknown>) : value];
    }),
  );
}

async function keyOf(key: unknown): Promise<Key> {
  const { type, algorithm, usages, material } = (key ?? {}) as Partial<SubtleKey>;
  const format = Object.hasOwn(MATERIAL, String(type)) ? MATERIAL[type!] : refuse("OperationError", "the key is broken");
  const plain = await algorithmOf(algorithm);
  if (type !== "secret" && String(material).length > LIMITS.subtle.keyChars) refuse("DataError", "the key is too long");
  const own = await crypto.subtle.importKey(format, bytesOf(material), plain, !SECRET_ONLY.test(plain.name), usagesOf(usages));
  checkSize(own);
  return own;
}

/**
 * SECURITY: only strings, numbers, bytes and keys, and none that would occupy a thread for long.
 * test/sandbox/guest/node/subtle.test.ts
 */
async function algorithmOf(given: unknown): Promise<Algorithm> {
  const algorithm: Record<string, unknown> = { __proto__: null };
  for (const [name, value] of Object.entries(given ?? {}) as [string, unknown][]) {
    if (typeof value === "string" || typeof value === "number") algorithm[name] = value;
    else if (name === "public") algorithm[name] = await keyOf(value);
    else if (name === "hash") algorithm[name] = await algorithmOf(value);
    else algorithm[name] = bytesOf((value as { base64?: unknown } | null)?.base64);
  }
  const { modulusLength, iterations, length } = algorithm;
  if (Number(modulusLength ?? 0) > LIMITS.subtle.modulusBits)
    refuse("OperationError", `inside the sandbox an RSA key may have ${LIMITS.subtle.modulusBits} bits`);
  if (Number(iterations ?? 0) > LIMITS.subtle.iterations)
    refuse("OperationError", `inside the sandbox PBKDF2 may have ${LIMITS.subtle.iterations} iterations`);
  if (Number(length ?? 0) > LIMITS.subtle.derivedBits)
    refuse("OperationError", `inside the sandbox a key may have ${LIMITS.subtle.derivedBits} bits`);
  return algorithm as Algorithm;
}

function bytesOf(base64: unknown): Buffer {
  if (typeof base64 !== "string") throw new TypeError("bytes are missing");
  return Buffer.from(base64, "base64");
}

function bytes(buffer: ArrayBuffer): SubtleResponse {
  return { bytes: Buffer.from(buffer).toString("base64") };
}

function usagesOf(usages: unknown): Usage[] {
  if (!Array.isArray(usages)) throw new TypeError("usages are missing");
  return usages.map(String) as Usage[];
}
