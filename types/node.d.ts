/** Node's globals and modules as they exist inside the sandbox. docs/reference/node-modules.md says where they differ from Node. */

/* Buffer */

type BufferEncoding =
  | "ascii"
  | "utf8"
  | "utf-8"
  | "utf16le"
  | "utf-16le"
  | "ucs2"
  | "ucs-2"
  | "base64"
  | "base64url"
  | "latin1"
  | "binary"
  | "hex";

interface Buffer extends Uint8Array<ArrayBuffer> {
  compare(target: Uint8Array, targetStart?: number, targetEnd?: number, sourceStart?: number, sourceEnd?: number): -1 | 0 | 1;
  copy(target: Uint8Array, targetStart?: number, sourceStart?: number, sourceEnd?: number): number;
  equals(other: Uint8Array): boolean;
  fill(value: string | Uint8Array | number, offset?: number, end?: number, encoding?: BufferEncoding): this;
  includes(value: string | number | Uint8Array, byteOffset?: number, encoding?: BufferEncoding): boolean;
  indexOf(value: string | number | Uint8Array, byteOffset?: number, encoding?: BufferEncoding): number;
  lastIndexOf(value: string | number | Uint8Array, byteOffset?: number, encoding?: BufferEncoding): number;
  readonly parent: ArrayBuffer;
  slice(start?: number, end?: number): Buffer;
  subarray(start?: number, end?: number): Buffer;
  swap16(): this;
  swap32(): this;
  swap64(): this;
  toJSON(): { type: "Buffer"; data: number[] };
  toString(encoding?: BufferEncoding, start?: number, end?: number): string;
  write(text: string, encoding?: BufferEncoding): number;
  write(text: string, offset: number, encoding?: BufferEncoding): number;
  write(text: string, offset: number, length: number, encoding?: BufferEncoding): number;
  readInt8(offset?: number): number;
  readUInt8(offset?: number): number;
  readUint8(offset?: number): number;
  readInt16LE(offset?: number): number;
  readInt16BE(offset?: number): number;
  readUInt16LE(offset?: number): number;
  readUInt16BE(offset?: number): number;
  readInt32LE(offset?: number): number;
  readInt32BE(offset?: number): number;
  readUInt32LE(offset?: number): number;
  readUInt32BE(offset?: number): number;
  readBigInt64LE(offset?: number): bigint;
  readBigInt64BE(offset?: number): bigint;
  readBigUInt64LE(offset?: number): bigint;
  readBigUInt64BE(offset?: number): bigint;
  readFloatLE(offset?: number): number;
  readFloatBE(offset?: number): number;
  readDoubleLE(offset?: number): number;
  readDoubleBE(offset?: number): number;
  readIntLE(offset: number, byteLength: number): number;
  readIntBE(offset: number, byteLength: number): number;
  readUIntLE(offset: number, byteLength: number): number;
  readUIntBE(offset: number, byteLength: number): number;
  writeInt8(value: number, offset?: number): number;
  writeUInt8(value: number, offset?: number): number;
  writeInt16LE(value: number, offset?: number): number;
  writeInt16BE(value: number, offset?: number): number;
  writeUInt16LE(value: number, offset?: number): number;
  writeUInt16BE(value: number, offset?: number): number;
  writeInt32LE(value: number, offset?: number): number;
  writeInt32BE(value: number, offset?: number): number;
  writeUInt32LE(value: number, offset?: number): number;
  writeUInt32BE(value: number, offset?: number): number;
  writeBigInt64LE(value: bigint, offset?: number): number;
  writeBigInt64BE(value: bigint, offset?: number): number;
  writeBigUInt64LE(value: bigint, offset?: number): number;
  writeBigUInt64BE(value: bigint, offset?: number): number;
  writeFloatLE(value: number, offset?: number): number;
  writeFloatBE(value: number, offset?: number): number;
  writeDoubleLE(value: number, offset?: number): number;
  writeDoubleBE(value: number, offset?: number): number;
  writeIntLE(value: number, offset: number, byteLength: number): number;
  writeIntBE(value: number, offset: number, byteLength: number): number;
  writeUIntLE(value: number, offset: number, byteLength: number): number;
  writeUIntBE(value: number, offset: number, byteLength: number): number;
}
interface BufferConstructor {
  readonly prototype: Buffer;
  poolSize: number;
  alloc(size: number, fill?: string | Uint8Array | number, encoding?: BufferEncoding): Buffer;
  allocUnsafe(size: number): Buffer;
  allocUnsafeSlow(size: number): Buffer;
  byteLength(value: string | ArrayBufferView | ArrayBuffer, encoding?: BufferEncoding): number;
  compare(a: Uint8Array, b: Uint8Array): -1 | 0 | 1;
  concat(list: readonly Uint8Array[], totalLength?: number): Buffer;
  copyBytesFrom(view: ArrayBufferView, offset?: number, length?: number): Buffer;
  from(text: string, encoding?: BufferEncoding): Buffer;
  from(bytes: Iterable<number> | ArrayLike<number> | { valueOf(): string | object }): Buffer;
  from(buffer: ArrayBuffer, byteOffset?: number, length?: number): Buffer;
  isBuffer(value: unknown): value is Buffer;
  isEncoding(encoding: string): encoding is BufferEncoding;
  of(...bytes: number[]): Buffer;
}
declare var Buffer: BufferConstructor;

/* process */

interface Process {
  /** Only what the operator granted by name, or set for this plugin. */
  env: Record<string, string | undefined>;
  readonly platform: "aix" | "android" | "darwin" | "freebsd" | "linux" | "openbsd" | "sunos" | "win32";
  readonly arch: string;
  readonly argv: string[];
  readonly argv0: string;
  readonly execArgv: string[];
  readonly execPath: string;
  readonly pid: number;
  readonly ppid: number;
  readonly title: string;
  readonly version: string;
  readonly versions: Readonly<Record<string, string | undefined>>;
  readonly release: { readonly name: string };
  readonly features: Readonly<Record<string, boolean | string>>;
  exitCode: number | string | undefined;
  readonly stdout: { readonly isTTY: false; write(text: string | Uint8Array): boolean };
  readonly stderr: { readonly isTTY: false; write(text: string | Uint8Array): boolean };
  cwd(): string;
  chdir(path: string): void;
  /** Throws: a plugin cannot end the sandbox. */
  exit(code?: number): never;
  nextTick<A extends unknown[]>(callback: (...args: A) => void, ...args: A): void;
  readonly hrtime: { (since?: [number, number]): [number, number]; bigint(): bigint };
  uptime(): number;
  emitWarning(warning: string | Error, ...rest: unknown[]): void;
  on(event: string, listener: (...args: never[]) => void): this;
  once(event: string, listener: (...args: never[]) => void): this;
  off(event: string, listener: (...args: never[]) => void): this;
}
declare var process: Process;
declare var global: typeof globalThis;
declare var self: typeof globalThis;

declare module "process" {
  export = process;
}
declare module "node:process" {
  export = process;
}

/* crypto: globals */

interface CryptoKey {
  readonly algorithm: { readonly name: string };
  readonly extractable: boolean;
  readonly type: "public" | "private" | "secret";
  readonly usages: readonly string[];
}
declare var CryptoKey: { prototype: CryptoKey };
interface CryptoKeyPair {
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
}
type AlgorithmIdentifier = string | { name: string };
interface SubtleCrypto {
  digest(algorithm: AlgorithmIdentifier, data: BufferSource): Promise<ArrayBuffer>;
  sign(algorithm: AlgorithmIdentifier, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  verify(algorithm: AlgorithmIdentifier, key: CryptoKey, signature: BufferSource, data: BufferSource): Promise<boolean>;
  encrypt(algorithm: AlgorithmIdentifier, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  decrypt(algorithm: AlgorithmIdentifier, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  deriveBits(algorithm: AlgorithmIdentifier, key: CryptoKey, length?: number | null): Promise<ArrayBuffer>;
  deriveKey(
    algorithm: AlgorithmIdentifier,
    key: CryptoKey,
    derived: AlgorithmIdentifier,
    extractable: boolean,
    usages: readonly string[],
  ): Promise<CryptoKey>;
  generateKey(algorithm: AlgorithmIdentifier, extractable: boolean, usages: readonly string[]): Promise<CryptoKey | CryptoKeyPair>;
  importKey(
    format: "jwk" | "raw" | "pkcs8" | "spki",
    data: BufferSource | object,
    algorithm: AlgorithmIdentifier,
    extractable: boolean,
    usages: readonly string[],
  ): Promise<CryptoKey>;
  exportKey(format: "jwk", key: CryptoKey): Promise<Record<string, unknown>>;
  exportKey(format: "raw" | "pkcs8" | "spki", key: CryptoKey): Promise<ArrayBuffer>;
}
interface Crypto {
  readonly subtle: SubtleCrypto;
  getRandomValues<T extends ArrayBufferView>(array: T): T;
  randomUUID(): `${string}-${string}-${string}-${string}-${string}`;
}
declare var Crypto: { prototype: Crypto };
declare var SubtleCrypto: { prototype: SubtleCrypto };
declare var crypto: Crypto;

/* Modules */

/** A module's place inside the sandbox: the package is at /plugin. */
interface ImportMeta {
  readonly url: string;
  readonly filename: string;
  readonly dirname: string;
}
declare var __filename: string;
declare var __dirname: string;

declare module "path" {
  interface ParsedPath {
    root: string;
    dir: string;
    base: string;
    ext: string;
    name: string;
  }
  interface Path {
    resolve(...paths: string[]): string;
    normalize(path: string): string;
    isAbsolute(path: string): boolean;
    join(...paths: string[]): string;
    relative(from: string, to: string): string;
    toNamespacedPath(path: string): string;
    dirname(path: string): string;
    basename(path: string, suffix?: string): string;
    extname(path: string): string;
    format(path: Partial<ParsedPath>): string;
    parse(path: string): ParsedPath;
    readonly sep: "/" | "\\";
    readonly delimiter: ":" | ";";
    readonly posix: Path;
    readonly win32: Path;
  }
  const path: Path;
  export default path;
  export const {
    resolve,
    normalize,
    isAbsolute,
    join,
    relative,
    toNamespacedPath,
    dirname,
    basename,
    extname,
    format,
    parse,
    sep,
    delimiter,
    posix,
    win32,
  }: Path;
}
declare module "path/posix" {
  export * from "path";
  export { default } from "path";
}
declare module "path/win32" {
  export * from "path";
  export { default } from "path";
}

declare module "util" {
  interface InspectOptions {
    depth?: number | null;
    colors?: boolean;
    compact?: boolean | number;
    breakLength?: number;
    sorted?: boolean | ((a: string, b: string) => number);
    getters?: boolean | "get" | "set";
    showHidden?: boolean;
    maxArrayLength?: number | null;
    maxStringLength?: number | null;
    numericSeparator?: boolean;
  }
  export function format(format?: unknown, ...values: unknown[]): string;
  export function formatWithOptions(options: InspectOptions, format?: unknown, ...values: unknown[]): string;
  export const inspect: { (value: unknown, options?: InspectOptions): string; readonly custom: symbol; defaultOptions: InspectOptions };
  export const promisify: {
    <A extends unknown[], R>(fn: (...args: [...A, (error: unknown, result: R) => void]) => void): (...args: A) => Promise<R>;
    (fn: (...args: never[]) => unknown): (...args: unknown[]) => Promise<unknown>;
    readonly custom: symbol;
  };
  export function callbackify<A extends unknown[], R>(
    fn: (...args: A) => Promise<R>,
  ): (...args: [...A, (error: unknown, result: R) => void]) => void;
  export function inherits(constructor: Function, parent: Function): void;
  export function deprecate<T extends Function>(fn: T, message: string, code?: string): T;
  export function debuglog(section: string): { (message: string, ...values: unknown[]): void; readonly enabled: boolean };
  export { debuglog as debug };
  export function styleText(style: string | readonly string[], text: string, options?: object): string;
  export function stripVTControlCharacters(text: string): string;
  export function isDeepStrictEqual(a: unknown, b: unknown): boolean;
  export function isArray(value: unknown): value is unknown[];
  export function toUSVString(text: string): string;
  export function getSystemErrorName(errno: number): string;
  export function aborted(signal: AbortSignal, resource: object): Promise<void>;
  export function parseArgs(config?: object): { values: Record<string, unknown>; positionals: string[]; tokens?: object[] };
  export function parseEnv(text: string): Record<string, string>;
  export * as types from "util/types";
  const TextEncoderClass: typeof TextEncoder;
  const TextDecoderClass: typeof TextDecoder;
  export { TextEncoderClass as TextEncoder, TextDecoderClass as TextDecoder };
}
declare module "util/types" {
  export function isAnyArrayBuffer(value: unknown): value is ArrayBuffer;
  export function isArgumentsObject(value: unknown): boolean;
  export function isArrayBuffer(value: unknown): value is ArrayBuffer;
  export function isArrayBufferView(value: unknown): value is ArrayBufferView;
  export function isAsyncFunction(value: unknown): boolean;
  export function isBigInt64Array(value: unknown): value is BigInt64Array;
  export function isBigIntObject(value: unknown): boolean;
  export function isBigUint64Array(value: unknown): value is BigUint64Array;
  export function isBooleanObject(value: unknown): boolean;
  export function isBoxedPrimitive(value: unknown): boolean;
  export function isCryptoKey(value: unknown): value is CryptoKey;
  export function isDataView(value: unknown): value is DataView;
  export function isDate(value: unknown): value is Date;
  export function isExternal(value: unknown): boolean;
  export function isFloat16Array(value: unknown): boolean;
  export function isFloat32Array(value: unknown): value is Float32Array;
  export function isFloat64Array(value: unknown): value is Float64Array;
  export function isGeneratorFunction(value: unknown): boolean;
  export function isGeneratorObject(value: unknown): boolean;
  export function isInt16Array(value: unknown): value is Int16Array;
  export function isInt32Array(value: unknown): value is Int32Array;
  export function isInt8Array(value: unknown): value is Int8Array;
  export function isKeyObject(value: unknown): boolean;
  export function isMap(value: unknown): value is Map<unknown, unknown>;
  export function isMapIterator(value: unknown): boolean;
  export function isModuleNamespaceObject(value: unknown): boolean;
  export function isNativeError(value: unknown): value is Error;
  export function isNumberObject(value: unknown): boolean;
  /** Always false: a cell cannot tell. */
  export function isProxy(value: unknown): boolean;
  export function isPromise(value: unknown): value is Promise<unknown>;
  export function isRegExp(value: unknown): value is RegExp;
  export function isSet(value: unknown): value is Set<unknown>;
  export function isSetIterator(value: unknown): boolean;
  export function isSharedArrayBuffer(value: unknown): boolean;
  export function isStringObject(value: unknown): boolean;
  export function isSymbolObject(value: unknown): boolean;
  export function isTypedArray(value: unknown): boolean;
  export function isUint16Array(value: unknown): value is Uint16Array;
  export function isUint32Array(value: unknown): value is Uint32Array;
  export function isUint8Array(value: unknown): value is Uint8Array;
  export function isUint8ClampedArray(value: unknown): value is Uint8ClampedArray;
  export function isWeakMap(value: unknown): value is WeakMap<object, unknown>;
  export function isWeakSet(value: unknown): value is WeakSet<object>;
}

declare module "events" {
  type Listener = (...args: any[]) => void;
  class EventEmitter {
    constructor(options?: { captureRejections?: boolean });
    addListener(event: string | symbol, listener: Listener): this;
    on(event: string | symbol, listener: Listener): this;
    once(event: string | symbol, listener: Listener): this;
    prependListener(event: string | symbol, listener: Listener): this;
    prependOnceListener(event: string | symbol, listener: Listener): this;
    removeListener(event: string | symbol, listener: Listener): this;
    off(event: string | symbol, listener: Listener): this;
    removeAllListeners(event?: string | symbol): this;
    setMaxListeners(count: number): this;
    getMaxListeners(): number;
    listeners(event: string | symbol): Function[];
    rawListeners(event: string | symbol): Function[];
    listenerCount(event: string | symbol, listener?: Function): number;
    eventNames(): (string | symbol)[];
    emit(event: string | symbol, ...args: any[]): boolean;
    static captureRejections: boolean;
    static defaultMaxListeners: number;
    static readonly captureRejectionSymbol: unique symbol;
    static readonly errorMonitor: unique symbol;
    static once(emitter: EventEmitter | EventTarget, event: string | symbol, options?: { signal?: AbortSignal }): Promise<any[]>;
    static on(
      emitter: EventEmitter | EventTarget,
      event: string | symbol,
      options?: { signal?: AbortSignal },
    ): AsyncIterableIterator<any[]>;
    static getEventListeners(emitter: EventEmitter | EventTarget, event: string | symbol): Function[];
    static getMaxListeners(emitter: EventEmitter | EventTarget): number;
    static setMaxListeners(count: number, ...emitters: (EventEmitter | EventTarget)[]): void;
    static listenerCount(emitter: EventEmitter, event: string | symbol): number;
    static addAbortListener(signal: AbortSignal, listener: (event: Event) => void): { [Symbol.dispose](): void };
    static readonly EventEmitter: typeof EventEmitter;
  }
  export default EventEmitter;
  export { EventEmitter };
  export const captureRejectionSymbol: typeof EventEmitter.captureRejectionSymbol;
  export const errorMonitor: typeof EventEmitter.errorMonitor;
  export const defaultMaxListeners: number;
  export const once: typeof EventEmitter.once;
  export const on: typeof EventEmitter.on;
  export const getEventListeners: typeof EventEmitter.getEventListeners;
  export const getMaxListeners: typeof EventEmitter.getMaxListeners;
  export const setMaxListeners: typeof EventEmitter.setMaxListeners;
  export const listenerCount: typeof EventEmitter.listenerCount;
  export const addAbortListener: typeof EventEmitter.addAbortListener;
}

declare module "buffer" {
  const BufferClass: typeof Buffer;
  type BufferClass = Buffer;
  const BlobClass: typeof Blob;
  const FileClass: typeof File;
  const atobFunction: typeof atob;
  const btoaFunction: typeof btoa;
  export { BufferClass as Buffer, BlobClass as Blob, FileClass as File, atobFunction as atob, btoaFunction as btoa };
  export function isUtf8(input: ArrayBufferView | ArrayBuffer): boolean;
  export function isAscii(input: ArrayBufferView | ArrayBuffer): boolean;
  export const kMaxLength: number;
  export const kStringMaxLength: number;
  export const constants: { readonly MAX_LENGTH: number; readonly MAX_STRING_LENGTH: number };
  export let INSPECT_MAX_BYTES: number;
}

declare module "querystring" {
  type Query = Record<string, string | string[] | undefined>;
  export function stringify(
    object?: object,
    separator?: string,
    equals?: string,
    options?: { encodeURIComponent?: (text: string) => string },
  ): string;
  export function parse(
    text: string,
    separator?: string,
    equals?: string,
    options?: { maxKeys?: number; decodeURIComponent?: (text: string) => string },
  ): Query;
  export { stringify as encode, parse as decode };
  export function escape(text: string): string;
  export function unescape(text: string): string;
  export function unescapeBuffer(text: string | Buffer): Buffer;
}

declare module "string_decoder" {
  export class StringDecoder {
    constructor(encoding?: BufferEncoding);
    readonly encoding: BufferEncoding;
    write(bytes: ArrayBufferView | string): string;
    end(bytes?: ArrayBufferView | string): string;
  }
}

declare module "os" {
  export const EOL: "\n";
  export const devNull: "/dev/null";
  export const constants: {
    readonly errno: Record<string, number>;
    readonly signals: Record<string, number>;
    readonly priority: Record<string, number>;
  };
  export function arch(): string;
  export function platform(): Process["platform"];
  export function type(): string;
  export function machine(): string;
  export function release(): string;
  export function version(): string;
  /** Nothing about the real machine: "sandbox". */
  export function hostname(): string;
  /** The plugin's own folder, behind `fs`. */
  export function homedir(): string;
  export function tmpdir(): string;
  export function endianness(): "LE" | "BE";
  export function cpus(): { model: string; speed: number; times: Record<string, number> }[];
  export function availableParallelism(): number;
  export function loadavg(): number[];
  export function networkInterfaces(): Record<string, never>;
  export function userInfo(options?: object): { uid: number; gid: number; username: string; homedir: string; shell: string | null };
}

declare module "timers" {
  export const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate }: typeof globalThis;
  export * as promises from "timers/promises";
}
declare module "timers/promises" {
  interface TimerOptions {
    signal?: AbortSignal;
    ref?: boolean;
  }
  export function setTimeout<T = void>(delay?: number, value?: T, options?: TimerOptions): Promise<T>;
  export function setImmediate<T = void>(value?: T, options?: TimerOptions): Promise<T>;
  export function setInterval<T = void>(delay?: number, value?: T, options?: TimerOptions): AsyncIterableIterator<T>;
  export const scheduler: { wait(delay: number, options?: TimerOptions): Promise<void>; yield(): Promise<void> };
}

declare module "perf_hooks" {
  const clock: Performance;
  export { clock as performance };
}

declare module "crypto" {
  export class KeyObject {
    private constructor();
    readonly type: "secret";
    readonly symmetricKeySize: number;
    export(): Buffer;
    export(options: { format: "jwk" }): { kty: "oct"; k: string };
    equals(other: KeyObject): boolean;
  }
  export function createSecretKey(key: string, encoding: BufferEncoding): KeyObject;
  export function createSecretKey(key: ArrayBuffer | ArrayBufferView): KeyObject;
  type BinaryLike = string | ArrayBufferView;
  type DigestEncoding = "base64" | "base64url" | "hex" | "latin1" | "binary";
  export class Hash {
    private constructor();
    update(data: BinaryLike, encoding?: BufferEncoding): this;
    digest(): Buffer;
    digest(encoding: DigestEncoding): string;
    copy(): Hash;
  }
  export class Hmac {
    private constructor();
    update(data: BinaryLike, encoding?: BufferEncoding): this;
    digest(): Buffer;
    digest(encoding: DigestEncoding): string;
  }
  export function createHash(algorithm: string, options?: { outputLength?: number }): Hash;
  export function createHmac(algorithm: string, key: KeyObject | BinaryLike): Hmac;
  export function hash(algorithm: string, data: BinaryLike, encoding?: DigestEncoding): string;
  export function hash(algorithm: string, data: BinaryLike, encoding: "buffer"): Buffer;
  export function getHashes(): string[];
  export function getCiphers(): string[];
  export function getCurves(): string[];
  export function getFips(): 0 | 1;
  export function randomBytes(size: number): Buffer;
  export function randomBytes(size: number, callback: (error: Error | null, bytes: Buffer) => void): void;
  export function randomFill<T extends ArrayBufferView>(buffer: T, callback: (error: Error | null, buffer: T) => void): void;
  export function randomFillSync<T extends ArrayBufferView>(buffer: T, offset?: number, size?: number): T;
  export function randomInt(max: number): number;
  export function randomInt(min: number, max: number): number;
  export function randomUUID(options?: object): `${string}-${string}-${string}-${string}-${string}`;
  export function timingSafeEqual(a: ArrayBufferView, b: ArrayBufferView): boolean;
  export function pbkdf2Sync(password: BinaryLike, salt: BinaryLike, iterations: number, length: number, digest: string): Buffer;
  export function pbkdf2(
    password: BinaryLike,
    salt: BinaryLike,
    iterations: number,
    length: number,
    digest: string,
    callback: (error: Error | null, key: Buffer) => void,
  ): void;
  export function scryptSync(password: BinaryLike, salt: BinaryLike, length: number, options?: object): Buffer;
  export function scrypt(
    password: BinaryLike,
    salt: BinaryLike,
    length: number,
    callback: (error: Error | null, key: Buffer) => void,
  ): void;
  export function scrypt(
    password: BinaryLike,
    salt: BinaryLike,
    length: number,
    options: object,
    callback: (error: Error | null, key: Buffer) => void,
  ): void;
  export function hkdfSync(digest: string, key: BinaryLike, salt: BinaryLike, info: BinaryLike, length: number): ArrayBuffer;
  export function hkdf(
    digest: string,
    key: BinaryLike,
    salt: BinaryLike,
    info: BinaryLike,
    length: number,
    callback: (error: Error | null, key: ArrayBuffer) => void,
  ): void;
  export const constants: Readonly<Record<string, number>>;
  export const webcrypto: Crypto;
  export const subtle: SubtleCrypto;
  export const getRandomValues: Crypto["getRandomValues"];
}

declare module "url" {
  const URLClass: typeof URL;
  const URLSearchParamsClass: typeof URLSearchParams;
  export { URLClass as URL, URLSearchParamsClass as URLSearchParams };
  export class Url {
    protocol: string | null;
    slashes: boolean | null;
    auth: string | null;
    host: string | null;
    port: string | null;
    hostname: string | null;
    hash: string | null;
    search: string | null;
    query: string | Record<string, string | string[] | undefined> | null;
    pathname: string | null;
    path: string | null;
    href: string;
  }
  /** The old interface; `new URL()` is safer. */
  export function parse(url: string, parseQuery?: boolean, slashesDenoteHost?: boolean): Url;
  export function resolve(from: string, to: string): string;
  export function resolveObject(from: string | Url, to: string | Url): Url;
  export function format(
    url: string | URL | Partial<Url>,
    options?: { auth?: boolean; fragment?: boolean; search?: boolean; unicode?: boolean },
  ): string;
  export function domainToASCII(domain: string): string;
  export function pathToFileURL(path: string, options?: object): URL;
  export function fileURLToPath(url: string | URL, options?: object): string;
  export function fileURLToPathBuffer(url: string | URL, options?: object): Buffer;
  export function urlToHttpOptions(url: URL): Record<string, unknown>;
}

declare module "assert" {
  interface Assert {
    (value: unknown, message?: string | Error): asserts value;
    AssertionError: typeof AssertionErrorClass;
    ok(value: unknown, message?: string | Error): asserts value;
    fail(message?: string | Error): never;
    equal(actual: unknown, expected: unknown, message?: string | Error): void;
    notEqual(actual: unknown, expected: unknown, message?: string | Error): void;
    deepEqual(actual: unknown, expected: unknown, message?: string | Error): void;
    notDeepEqual(actual: unknown, expected: unknown, message?: string | Error): void;
    strictEqual<T>(actual: unknown, expected: T, message?: string | Error): asserts actual is T;
    notStrictEqual(actual: unknown, expected: unknown, message?: string | Error): void;
    deepStrictEqual<T>(actual: unknown, expected: T, message?: string | Error): asserts actual is T;
    notDeepStrictEqual(actual: unknown, expected: unknown, message?: string | Error): void;
    partialDeepStrictEqual(actual: unknown, expected: unknown, message?: string | Error): void;
    match(text: string, pattern: RegExp, message?: string | Error): void;
    doesNotMatch(text: string, pattern: RegExp, message?: string | Error): void;
    throws(fn: () => unknown, expected?: RegExp | Function | object | Error, message?: string | Error): void;
    doesNotThrow(fn: () => unknown, expected?: RegExp | Function | string, message?: string | Error): void;
    rejects(
      fn: (() => Promise<unknown>) | Promise<unknown>,
      expected?: RegExp | Function | object | Error,
      message?: string | Error,
    ): Promise<void>;
    doesNotReject(
      fn: (() => Promise<unknown>) | Promise<unknown>,
      expected?: RegExp | Function | string,
      message?: string | Error,
    ): Promise<void>;
    ifError(value: unknown): asserts value is null | undefined;
    strict: Assert;
  }
  class AssertionErrorClass extends Error {
    constructor(options: { message?: string; actual?: unknown; expected?: unknown; operator?: string });
    actual: unknown;
    expected: unknown;
    operator: string;
    generatedMessage: boolean;
    code: "ERR_ASSERTION";
  }
  const assert: Assert;
  export default assert;
  export const AssertionError: typeof AssertionErrorClass;
  export const ok: Assert["ok"];
  export const fail: Assert["fail"];
  export const equal: Assert["equal"];
  export const notEqual: Assert["notEqual"];
  export const deepEqual: Assert["deepEqual"];
  export const notDeepEqual: Assert["notDeepEqual"];
  export const strictEqual: Assert["strictEqual"];
  export const notStrictEqual: Assert["notStrictEqual"];
  export const deepStrictEqual: Assert["deepStrictEqual"];
  export const notDeepStrictEqual: Assert["notDeepStrictEqual"];
  export const partialDeepStrictEqual: Assert["partialDeepStrictEqual"];
  export const match: Assert["match"];
  export const doesNotMatch: Assert["doesNotMatch"];
  export const throws: Assert["throws"];
  export const doesNotThrow: Assert["doesNotThrow"];
  export const rejects: Assert["rejects"];
  export const doesNotReject: Assert["doesNotReject"];
  export const ifError: Assert["ifError"];
  export const strict: Assert;
}
declare module "assert/strict" {
  export * from "assert";
  export { default } from "assert";
}

declare module "module" {
  interface GuestRequire {
    (id: string): any;
    resolve(id: string): string;
  }
  export function createRequire(from: string | URL): GuestRequire;
  /** Those of Node's modules that exist here. */
  export const builtinModules: readonly string[];
  export function isBuiltin(name: string): boolean;
  export const Module: unknown;
}

declare module "fs" {
  import type { FileHandle } from "fs/promises";
  import type { Readable, Writable } from "stream";
  type PathLike = string | Buffer | URL;
  type Time = number | string | Date;
  type WriteOptions = BufferEncoding | { encoding?: BufferEncoding | null; mode?: number; flag?: string; signal?: AbortSignal } | null;
  type ReadOptions = { encoding?: null; flag?: string; signal?: AbortSignal } | null;
  type ReadTextOptions = BufferEncoding | { encoding: BufferEncoding; flag?: string; signal?: AbortSignal };
  type NoParam = (error: Error | null) => void;
  type Result<T> = (error: Error | null, value: T) => void;
  export class Stats {
    isFile(): boolean;
    isDirectory(): boolean;
    isSymbolicLink(): boolean;
    isFIFO(): boolean;
    isSocket(): boolean;
    isBlockDevice(): boolean;
    isCharacterDevice(): boolean;
    dev: number;
    ino: number;
    mode: number;
    nlink: number;
    uid: number;
    gid: number;
    size: number;
    atimeMs: number;
    mtimeMs: number;
    ctimeMs: number;
    birthtimeMs: number;
    atime: Date;
    mtime: Date;
    ctime: Date;
    birthtime: Date;
  }
  export const BigIntStats: unknown;
  export class Dirent {
    readonly name: string;
    readonly parentPath: string;
    isFile(): boolean;
    isDirectory(): boolean;
    isSymbolicLink(): boolean;
  }
  export class Dir {
    readonly path: string;
    read(): Promise<Dirent | null>;
    readSync(): Dirent | null;
    close(): Promise<void>;
    closeSync(): void;
    [Symbol.asyncIterator](): AsyncIterableIterator<Dirent>;
  }
  export const constants: Readonly<Record<string, number>>;
  export const F_OK: number;
  export const R_OK: number;
  export const W_OK: number;
  export const X_OK: number;
  export * as promises from "fs/promises";
  export function existsSync(path: PathLike): boolean;
  export function exists(path: PathLike, callback: (exists: boolean) => void): void;
  export function readFileSync(path: PathLike | number, options: ReadTextOptions): string;
  export function readFileSync(path: PathLike | number, options?: ReadOptions): Buffer;
  export function readFile(path: PathLike | number, options: ReadTextOptions, callback: Result<string>): void;
  export function readFile(path: PathLike | number, options: ReadOptions, callback: Result<Buffer>): void;
  export function readFile(path: PathLike | number, callback: Result<Buffer>): void;
  export function readdirSync(path: PathLike, options: { withFileTypes: true; recursive?: boolean }): Dirent[];
  export function readdirSync(path: PathLike, options?: BufferEncoding | { withFileTypes?: false; recursive?: boolean } | null): string[];
  export function readdir(path: PathLike, callback: Result<string[]>): void;
  export function readdir(path: PathLike, options: { withFileTypes: true; recursive?: boolean }, callback: Result<Dirent[]>): void;
  export function readSync(
    fd: number,
    buffer: ArrayBufferView,
    offset?: number | object,
    length?: number,
    position?: number | null,
  ): number;
  export function read(
    fd: number,
    buffer: ArrayBufferView,
    offset: number,
    length: number,
    position: number | null,
    callback: (error: Error | null, bytesRead: number, buffer: ArrayBufferView) => void,
  ): void;
  export function writeSync(
    fd: number,
    data: ArrayBufferView | string,
    offset?: number | null,
    length?: number | string,
    position?: number | null,
  ): number;
  export function write(fd: number, data: ArrayBufferView | string, ...rest: any[]): void;
  export function accessSync(path: PathLike, mode?: number): void;
  export function access(path: PathLike, mode?: number, callback?: NoParam): void;
  export function access(path: PathLike, callback: NoParam): void;
  export function appendFileSync(path: PathLike | number, data: string | Uint8Array, options?: WriteOptions): void;
  export function appendFile(path: PathLike | number, data: string | Uint8Array, options?: WriteOptions, callback?: NoParam): void;
  export function appendFile(path: PathLike | number, data: string | Uint8Array, callback: NoParam): void;
  export function chmodSync(path: PathLike, mode: number | string): void;
  export function chmod(path: PathLike, mode: number | string, callback: NoParam): void;
  export function chownSync(path: PathLike, uid: number, gid: number): void;
  export function chown(path: PathLike, uid: number, gid: number, callback: NoParam): void;
  export function closeSync(fd: number): void;
  export function close(fd: number, callback: NoParam): void;
  export function copyFileSync(from: PathLike, to: PathLike, mode?: number): void;
  export function copyFile(from: PathLike, to: PathLike, mode?: number, callback?: NoParam): void;
  export function copyFile(from: PathLike, to: PathLike, callback: NoParam): void;
  export function cpSync(
    from: PathLike,
    to: PathLike,
    options?: { recursive?: boolean; force?: boolean; errorOnExist?: boolean; filter?: (from: string, to: string) => boolean },
  ): void;
  export function cp(
    from: PathLike,
    to: PathLike,
    options?: { recursive?: boolean; force?: boolean; errorOnExist?: boolean; filter?: (from: string, to: string) => boolean },
    callback?: NoParam,
  ): void;
  export function cp(from: PathLike, to: PathLike, callback: NoParam): void;
  export function fchmodSync(fd: number, mode: number | string): void;
  export function fchmod(fd: number, mode: number | string, callback: NoParam): void;
  export function fchownSync(fd: number, uid: number, gid: number): void;
  export function fchown(fd: number, uid: number, gid: number, callback: NoParam): void;
  export function fdatasyncSync(fd: number): void;
  export function fdatasync(fd: number, callback: NoParam): void;
  export function fstatSync(fd: number, options?: { bigint?: boolean }): Stats;
  export function fstat(fd: number, options?: { bigint?: boolean }, callback?: Result<Stats>): void;
  export function fstat(fd: number, callback: Result<Stats>): void;
  export function fsyncSync(fd: number): void;
  export function fsync(fd: number, callback: NoParam): void;
  export function ftruncateSync(fd: number, length?: number): void;
  export function ftruncate(fd: number, length?: number, callback?: NoParam): void;
  export function ftruncate(fd: number, callback: NoParam): void;
  export function futimesSync(fd: number, atime: Time, mtime: Time): void;
  export function futimes(fd: number, atime: Time, mtime: Time, callback: NoParam): void;
  export function lchmodSync(path: PathLike, mode: number | string): void;
  export function lchmod(path: PathLike, mode: number | string, callback: NoParam): void;
  export function lchownSync(path: PathLike, uid: number, gid: number): void;
  export function lchown(path: PathLike, uid: number, gid: number, callback: NoParam): void;
  export function linkSync(existing: PathLike, path: PathLike): void;
  export function link(existing: PathLike, path: PathLike, callback: NoParam): void;
  export function lstatSync(path: PathLike, options?: { bigint?: boolean }): Stats;
  export function lstat(path: PathLike, options?: { bigint?: boolean }, callback?: Result<Stats>): void;
  export function lstat(path: PathLike, callback: Result<Stats>): void;
  export function lutimesSync(path: PathLike, atime: Time, mtime: Time): void;
  export function lutimes(path: PathLike, atime: Time, mtime: Time, callback: NoParam): void;
  export function mkdirSync(path: PathLike, options?: number | { recursive?: boolean; mode?: number }): string | undefined;
  export function mkdir(
    path: PathLike,
    options?: number | { recursive?: boolean; mode?: number },
    callback?: Result<string | undefined>,
  ): void;
  export function mkdir(path: PathLike, callback: Result<string | undefined>): void;
  export function mkdtempSync(prefix: string, options?: object | string): string;
  export function mkdtemp(prefix: string, options?: object | string, callback?: Result<string>): void;
  export function mkdtemp(prefix: string, callback: Result<string>): void;
  export function openSync(path: PathLike, flags?: string | number, mode?: number): number;
  export function open(path: PathLike, flags?: string | number, mode?: number, callback?: Result<number>): void;
  export function open(path: PathLike, callback: Result<number>): void;
  export function opendirSync(path: PathLike, options?: object): Dir;
  export function opendir(path: PathLike, options?: object, callback?: Result<Dir>): void;
  export function opendir(path: PathLike, callback: Result<Dir>): void;
  export function readlinkSync(path: PathLike, options?: object | string): string;
  export function readlink(path: PathLike, options?: object | string, callback?: Result<string>): void;
  export function readlink(path: PathLike, callback: Result<string>): void;
  export function realpathSync(path: PathLike, options?: object | string): string;
  export function realpath(path: PathLike, options?: object | string, callback?: Result<string>): void;
  export function realpath(path: PathLike, callback: Result<string>): void;
  export function renameSync(from: PathLike, to: PathLike): void;
  export function rename(from: PathLike, to: PathLike, callback: NoParam): void;
  export function rmSync(path: PathLike, options?: { recursive?: boolean; force?: boolean }): void;
  export function rm(path: PathLike, options?: { recursive?: boolean; force?: boolean }, callback?: NoParam): void;
  export function rm(path: PathLike, callback: NoParam): void;
  export function rmdirSync(path: PathLike, options?: { recursive?: boolean }): void;
  export function rmdir(path: PathLike, options?: { recursive?: boolean }, callback?: NoParam): void;
  export function rmdir(path: PathLike, callback: NoParam): void;
  export function statSync(path: PathLike, options?: { bigint?: boolean }): Stats;
  export function stat(path: PathLike, options?: { bigint?: boolean }, callback?: Result<Stats>): void;
  export function stat(path: PathLike, callback: Result<Stats>): void;
  export function symlinkSync(target: PathLike, path: PathLike, type?: string): void;
  export function symlink(target: PathLike, path: PathLike, type?: string, callback?: NoParam): void;
  export function symlink(target: PathLike, path: PathLike, callback: NoParam): void;
  interface StreamOptions {
    flags?: string;
    encoding?: BufferEncoding;
    fd?: number | FileHandle;
    mode?: number;
    autoClose?: boolean;
    emitClose?: boolean;
    start?: number;
    highWaterMark?: number;
    signal?: AbortSignal;
    fs?: object | null;
  }
  export class ReadStream extends Readable {
    constructor(path: PathLike, options?: BufferEncoding | (StreamOptions & { end?: number }));
    path: string | Buffer;
    bytesRead: number;
    readonly pending: boolean;
    close(callback?: (error?: Error | null) => void): void;
  }
  export class WriteStream extends Writable {
    constructor(path: PathLike, options?: BufferEncoding | (StreamOptions & { flush?: boolean }));
    path: string | Buffer;
    bytesWritten: number;
    readonly pending: boolean;
    close(callback?: (error?: Error | null) => void): void;
  }
  export { ReadStream as FileReadStream, WriteStream as FileWriteStream };
  export function createReadStream(path: PathLike, options?: BufferEncoding | (StreamOptions & { end?: number })): ReadStream;
  export function createWriteStream(path: PathLike, options?: BufferEncoding | (StreamOptions & { flush?: boolean })): WriteStream;
  export function truncateSync(path: PathLike, length?: number): void;
  export function truncate(path: PathLike, length?: number, callback?: NoParam): void;
  export function truncate(path: PathLike, callback: NoParam): void;
  export function unlinkSync(path: PathLike): void;
  export function unlink(path: PathLike, callback: NoParam): void;
  export function utimesSync(path: PathLike, atime: Time, mtime: Time): void;
  export function utimes(path: PathLike, atime: Time, mtime: Time, callback: NoParam): void;
  export function writeFileSync(path: PathLike | number, data: string | Uint8Array, options?: WriteOptions): void;
  export function writeFile(path: PathLike | number, data: string | Uint8Array, options?: WriteOptions, callback?: NoParam): void;
  export function writeFile(path: PathLike | number, data: string | Uint8Array, callback: NoParam): void;
}
declare module "fs/promises" {
  import type { Dir, Dirent, Stats } from "fs";
  type PathLike = string | Buffer | URL;
  type Time = number | string | Date;
  type WriteOptions = BufferEncoding | { encoding?: BufferEncoding | null; mode?: number; flag?: string; signal?: AbortSignal } | null;
  interface FileHandle extends AsyncDisposable {
    readonly fd: number;
    appendFile(data: string | Uint8Array, options?: WriteOptions): Promise<void>;
    close(): Promise<void>;
    read(
      buffer: ArrayBufferView,
      offset?: number,
      length?: number,
      position?: number | null,
    ): Promise<{ bytesRead: number; buffer: ArrayBufferView }>;
    readFile(options?: { encoding?: null } | null): Promise<Buffer>;
    readFile(options: BufferEncoding | { encoding: BufferEncoding }): Promise<string>;
    stat(options?: object): Promise<Stats>;
    sync(): Promise<void>;
    datasync(): Promise<void>;
    truncate(length?: number): Promise<void>;
    write(data: ArrayBufferView | string, ...rest: any[]): Promise<{ bytesWritten: number }>;
    writeFile(data: string | Uint8Array, options?: WriteOptions): Promise<void>;
  }
  export const constants: Readonly<Record<string, number>>;
  export function open(path: PathLike, flags?: string | number, mode?: number): Promise<FileHandle>;
  export function opendir(path: PathLike, options?: object): Promise<Dir>;
  export function readFile(
    path: PathLike | FileHandle,
    options: BufferEncoding | { encoding: BufferEncoding; flag?: string; signal?: AbortSignal },
  ): Promise<string>;
  export function readFile(
    path: PathLike | FileHandle,
    options?: { encoding?: null; flag?: string; signal?: AbortSignal } | null,
  ): Promise<Buffer>;
  export function readdir(path: PathLike, options: { withFileTypes: true; recursive?: boolean }): Promise<Dirent[]>;
  export function readdir(
    path: PathLike,
    options?: BufferEncoding | { withFileTypes?: false; recursive?: boolean } | null,
  ): Promise<string[]>;
  export function access(path: PathLike, mode?: number): Promise<void>;
  export function appendFile(path: PathLike | FileHandle, data: string | Uint8Array, options?: WriteOptions): Promise<void>;
  export function chmod(path: PathLike, mode: number | string): Promise<void>;
  export function chown(path: PathLike, uid: number, gid: number): Promise<void>;
  export function copyFile(from: PathLike, to: PathLike, mode?: number): Promise<void>;
  export function cp(
    from: PathLike,
    to: PathLike,
    options?: { recursive?: boolean; force?: boolean; errorOnExist?: boolean; filter?: (from: string, to: string) => boolean },
  ): Promise<void>;
  export function lchmod(path: PathLike, mode: number | string): Promise<void>;
  export function lchown(path: PathLike, uid: number, gid: number): Promise<void>;
  export function link(existing: PathLike, path: PathLike): Promise<void>;
  export function lstat(path: PathLike, options?: { bigint?: boolean }): Promise<Stats>;
  export function lutimes(path: PathLike, atime: Time, mtime: Time): Promise<void>;
  export function mkdir(path: PathLike, options?: number | { recursive?: boolean; mode?: number }): Promise<string | undefined>;
  export function mkdtemp(prefix: string, options?: object | string): Promise<string>;
  export function readlink(path: PathLike, options?: object | string): Promise<string>;
  export function realpath(path: PathLike, options?: object | string): Promise<string>;
  export function rename(from: PathLike, to: PathLike): Promise<void>;
  export function rm(path: PathLike, options?: { recursive?: boolean; force?: boolean }): Promise<void>;
  export function rmdir(path: PathLike, options?: { recursive?: boolean }): Promise<void>;
  export function stat(path: PathLike, options?: { bigint?: boolean }): Promise<Stats>;
  export function symlink(target: PathLike, path: PathLike, type?: string): Promise<void>;
  export function truncate(path: PathLike, length?: number): Promise<void>;
  export function unlink(path: PathLike): Promise<void>;
  export function utimes(path: PathLike, atime: Time, mtime: Time): Promise<void>;
  export function writeFile(path: PathLike | FileHandle, data: string | Uint8Array, options?: WriteOptions): Promise<void>;
}

/* The same with their prefix */

declare module "node:path" {
  export * from "path";
  export { default } from "path";
}
declare module "node:path/posix" {
  export * from "path/posix";
  export { default } from "path/posix";
}
declare module "node:path/win32" {
  export * from "path/win32";
  export { default } from "path/win32";
}
declare module "node:util" {
  export * from "util";
}
declare module "node:util/types" {
  export * from "util/types";
}
declare module "node:events" {
  export * from "events";
  export { default } from "events";
}
declare module "node:buffer" {
  export * from "buffer";
}
declare module "node:querystring" {
  export * from "querystring";
}
declare module "node:string_decoder" {
  export * from "string_decoder";
}
declare module "node:os" {
  export * from "os";
}
declare module "node:timers" {
  export * from "timers";
}
declare module "node:timers/promises" {
  export * from "timers/promises";
}
declare module "node:perf_hooks" {
  export * from "perf_hooks";
}
declare module "node:crypto" {
  export * from "crypto";
}
declare module "node:url" {
  export * from "url";
}
declare module "node:assert" {
  export * from "assert";
  export { default } from "assert";
}
declare module "node:assert/strict" {
  export * from "assert/strict";
  export { default } from "assert/strict";
}
declare module "node:module" {
  export * from "module";
}
declare module "node:fs" {
  export * from "fs";
}
declare module "node:fs/promises" {
  export * from "fs/promises";
}
