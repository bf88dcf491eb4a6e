/**
 * Untrusted side, lane thread: `crypto.subtle` for cells, by Node's WebCrypto. Here and not in the gateway: a native parser that strangers
 * feed with keys belongs where strangers' code runs. Nothing is kept between two questions. What comes in is a cell's and is checked for what
 * would take too long; what is wrong with it otherwise, WebCrypto says.
 */
import type { webcrypto } from "node:crypto";
import { LIMITS } from "../protocol/limits.ts";
import { SUBTLE, SUBTLE_OPERATIONS } from "../protocol/subtle.ts";
import type { SubtleAnswer, SubtleKey, SubtleOperation, SubtleQuestion } from "../protocol/subtle.ts";

type Algorithm = { name: string } & Record<string, unknown>;
type Key = webcrypto.CryptoKey;
type Usage = webcrypto.KeyUsage;
type Told = (isOk: boolean, text: string, tookMs: number) => void;

/** The questions of one cell: so many at a time, the rest in order. */
export class SubtleDesk {
  #running = 0;
  #waiting: (() => Promise<void>)[] = [];

  ask(operation: string, args: string, told: Told): void {
    this.#waiting.push(async () => {
      const startedMs = performance.now();
      let [isOk, text] = [true, ""];
      try {
        text = JSON.stringify(await answer(operation, args));
      } catch (error) {
        [isOk, text] = [false, refusal(error)];
      }
      this.#running -= 1;
      this.#next();
      told(isOk, text, performance.now() - startedMs);
    });
    this.#next();
  }

  /** Nobody wants the answers any more. Those under way still count. */
  stop(): void {
    this.#waiting = [];
  }

  #next(): void {
    while (this.#running < LIMITS.subtleAtOnce && this.#waiting.length > 0) {
      this.#running += 1;
      void this.#waiting.shift()!();
    }
  }
}

/** Names of errors that WebCrypto has; anything else is none of the cell's business. */
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
    message: known ? message.slice(0, LIMITS.errorMessageChars) : "The operation failed for an operation-specific reason",
  });
}

function refuse(name: "OperationError" | "NotSupportedError" | "DataError", message: string): never {
  throw new DOMException(message, name);
}

async function answer(operation: string, args: string): Promise<SubtleAnswer> {
  if (!(SUBTLE_OPERATIONS as readonly string[]).includes(operation))
    refuse("NotSupportedError", `there is no operation ${operation.slice(0, 32)}`);
  if (args.length > LIMITS.subtleQuestionChars) refuse("OperationError", "the question is too long");
  const question = JSON.parse(args) as SubtleQuestion;
  return OPERATIONS[operation as SubtleOperation](question);
}

const OPERATIONS: Record<SubtleOperation, (question: SubtleQuestion) => Promise<SubtleAnswer>> = {
  digest: async ({ algorithm, data }) => bytes(await crypto.subtle.digest(await algorithmOf(algorithm), bytesOf(data))),
  importKey: async ({ format, data, algorithm, extractable, usages }) => {
    const plain = await algorithmOf(algorithm);
    return { key: await imported(format, data, plain, extractable === true, usagesOf(usages)) };
  },
  exportKey: async ({ format, key }) => {
    const own = await keyOf(key);
    // A key's own bits: what was given, and cannot be exported by Node.
    const exported = isSecretOnly(own)
      ? refuse("NotSupportedError", "key cannot be exported")
      : await crypto.subtle.exportKey(format as "jwk", own);
    return exported instanceof ArrayBuffer ? bytes(exported) : { jwk: exported };
  },
  generateKey: async ({ algorithm, extractable, usages }) => {
    const made = await crypto.subtle.generateKey(generatable(await algorithmOf(algorithm)), true, usagesOf(usages));
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
  deriveBits: async ({ algorithm, key, length }) => {
    if (Number(length ?? 0) > LIMITS.subtleDerivedBits)
      refuse("OperationError", `inside the sandbox at most ${LIMITS.subtleDerivedBits} bits are derived at a time`);
    const plain = (await algorithmOf(algorithm)) as unknown as webcrypto.HkdfParams;
    return bytes(await crypto.subtle.deriveBits(plain, await keyOf(key), (length ?? null) as number));
  },
  deriveKey: async ({ algorithm, key, derived, extractable, usages }) => {
    const plain = (await algorithmOf(algorithm)) as unknown as webcrypto.HkdfParams;
    const target = await algorithmOf(derived);
    const isPlain = SECRET_ONLY.test(target.name);
    const made = await crypto.subtle.deriveKey(plain, await keyOf(key), target, !isPlain, usagesOf(usages));
    return isPlain ? refuse("NotSupportedError", "derive bits and import them instead") : { key: await packed(made, extractable === true) };
  },
};

/** A search for a key with another exponent may take for ever. */
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
  // Material leaves the lane again, so the key must be exportable here; whether the plugin may export it is the cell's to say.
  const isOpen = isPlain ? extractable : true;
  if (format !== "raw" && JSON.stringify(data ?? null).length > LIMITS.subtleKeyChars)
    refuse("DataError", `inside the sandbox a key in this format may have ${LIMITS.subtleKeyChars} characters`);
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
  if (((algorithm as { modulusLength?: number }).modulusLength ?? 0) > LIMITS.subtleModulusBits)
    refuse("OperationError", `inside the sandbox an RSA key may have ${LIMITS.subtleModulusBits} bits`);
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
  if (type !== "secret" && String(material).length > LIMITS.subtleKeyChars) refuse("DataError", "the key is too long");
  const own = await crypto.subtle.importKey(format, bytesOf(material), plain, !SECRET_ONLY.test(plain.name), usagesOf(usages));
  checkSize(own);
  return own;
}

/** SECURITY: nothing but texts, numbers, bytes and keys, and none that would keep a thread for long. test/guest/node/subtle.test.ts */
async function algorithmOf(given: unknown): Promise<Algorithm> {
  const algorithm: Record<string, unknown> = { __proto__: null };
  for (const [name, value] of Object.entries(given ?? {}) as [string, unknown][]) {
    if (typeof value === "string" || typeof value === "number") algorithm[name] = value;
    else if (name === "public") algorithm[name] = await keyOf(value);
    else if (name === "hash") algorithm[name] = await algorithmOf(value);
    else algorithm[name] = bytesOf((value as { base64?: unknown } | null)?.base64);
  }
  const { modulusLength, iterations, length } = algorithm;
  if (Number(modulusLength ?? 0) > LIMITS.subtleModulusBits)
    refuse("OperationError", `inside the sandbox an RSA key may have ${LIMITS.subtleModulusBits} bits`);
  if (Number(iterations ?? 0) > LIMITS.subtleIterations)
    refuse("OperationError", `inside the sandbox PBKDF2 may have ${LIMITS.subtleIterations} iterations`);
  if (Number(length ?? 0) > LIMITS.subtleDerivedBits)
    refuse("OperationError", `inside the sandbox a key may have ${LIMITS.subtleDerivedBits} bits`);
  return algorithm as Algorithm;
}

function bytesOf(base64: unknown): Buffer {
  if (typeof base64 !== "string") throw new TypeError("bytes are missing");
  return Buffer.from(base64, "base64");
}

function bytes(buffer: ArrayBuffer): SubtleAnswer {
  return { bytes: Buffer.from(buffer).toString("base64") };
}

function usagesOf(usages: unknown): Usage[] {
  if (!Array.isArray(usages)) throw new TypeError("usages are missing");
  return usages.map(String) as Usage[];
}
