/** Node's streams and what is built on them, as they exist inside the sandbox. docs/reference/node-modules.md says where they differ from Node. */

declare module "stream" {
  import { EventEmitter } from "events";

  type Callback = (error?: Error | null) => void;
  interface StreamOptions {
    highWaterMark?: number;
    objectMode?: boolean;
    emitClose?: boolean;
    autoDestroy?: boolean;
    signal?: AbortSignal;
    construct?(this: any, done: Callback): void;
    destroy?(this: any, error: Error | null, done: Callback): void;
  }
  export interface ReadableOptions extends StreamOptions {
    encoding?: BufferEncoding;
    read?(this: Readable, size: number): void;
  }
  export interface WritableOptions extends StreamOptions {
    decodeStrings?: boolean;
    defaultEncoding?: BufferEncoding;
    write?(this: Writable, chunk: any, encoding: BufferEncoding, done: Callback): void;
    writev?(this: Writable, chunks: { chunk: any; encoding: BufferEncoding }[], done: Callback): void;
    final?(this: Writable, done: Callback): void;
  }
  export interface DuplexOptions extends Omit<ReadableOptions, "read">, Omit<WritableOptions, "write" | "writev" | "final"> {
    allowHalfOpen?: boolean;
    readableObjectMode?: boolean;
    writableObjectMode?: boolean;
    readableHighWaterMark?: number;
    writableHighWaterMark?: number;
    read?(this: Duplex, size: number): void;
    write?(this: Duplex, chunk: any, encoding: BufferEncoding, done: Callback): void;
    writev?(this: Duplex, chunks: { chunk: any; encoding: BufferEncoding }[], done: Callback): void;
    final?(this: Duplex, done: Callback): void;
  }
  export type TransformCallback = (error?: Error | null, data?: any) => void;
  export interface TransformOptions extends DuplexOptions {
    transform?(this: Transform, chunk: any, encoding: BufferEncoding, done: TransformCallback): void;
    flush?(this: Transform, done: TransformCallback): void;
  }
  type Work = { signal?: AbortSignal; concurrency?: number };

  class Stream extends EventEmitter {
    pipe<T extends Writable>(destination: T, options?: { end?: boolean }): T;
  }
  class Readable extends Stream implements AsyncIterable<any> {
    constructor(options?: ReadableOptions);
    static from(source: Iterable<any> | AsyncIterable<any>, options?: ReadableOptions): Readable;
    static fromWeb(stream: ReadableStream, options?: ReadableOptions): Readable;
    static toWeb(stream: Readable, options?: { strategy?: object }): ReadableStream;
    readable: boolean;
    destroyed: boolean;
    readonly closed: boolean;
    readonly errored: Error | null;
    readonly readableAborted: boolean;
    readonly readableDidRead: boolean;
    readonly readableEncoding: BufferEncoding | null;
    readonly readableEnded: boolean;
    readonly readableFlowing: boolean | null;
    readonly readableHighWaterMark: number;
    readonly readableLength: number;
    readonly readableObjectMode: boolean;
    _read(size: number): void;
    _construct?(done: Callback): void;
    _destroy(error: Error | null, done: Callback): void;
    read(size?: number): any;
    setEncoding(encoding: BufferEncoding): this;
    pause(): this;
    resume(): this;
    isPaused(): boolean;
    unpipe(destination?: Writable): this;
    unshift(chunk: any, encoding?: BufferEncoding): void;
    wrap(stream: object): this;
    push(chunk: any, encoding?: BufferEncoding): boolean;
    destroy(error?: Error): this;
    compose(stream: unknown, options?: { signal?: AbortSignal }): Duplex;
    iterator(options?: { destroyOnReturn?: boolean }): AsyncIterableIterator<any>;
    map(run: (chunk: any, options?: Work) => unknown, options?: Work): Readable;
    filter(run: (chunk: any, options?: Work) => unknown, options?: Work): Readable;
    forEach(run: (chunk: any, options?: Work) => unknown, options?: Work): Promise<void>;
    toArray(options?: Work): Promise<any[]>;
    some(run: (chunk: any, options?: Work) => unknown, options?: Work): Promise<boolean>;
    find(run: (chunk: any, options?: Work) => unknown, options?: Work): Promise<any>;
    every(run: (chunk: any, options?: Work) => unknown, options?: Work): Promise<boolean>;
    flatMap(run: (chunk: any, options?: Work) => unknown, options?: Work): Readable;
    drop(count: number, options?: Work): Readable;
    take(count: number, options?: Work): Readable;
    reduce(run: (before: any, chunk: any, options?: Work) => unknown, initial?: unknown, options?: Work): Promise<any>;
    [Symbol.asyncIterator](): AsyncIterableIterator<any>;
  }
  class Writable extends Stream {
    constructor(options?: WritableOptions);
    static fromWeb(stream: WritableStream, options?: WritableOptions): Writable;
    static toWeb(stream: Writable): WritableStream;
    readonly writable: boolean;
    destroyed: boolean;
    readonly closed: boolean;
    readonly errored: Error | null;
    readonly writableCorked: number;
    readonly writableEnded: boolean;
    readonly writableFinished: boolean;
    readonly writableHighWaterMark: number;
    readonly writableLength: number;
    readonly writableNeedDrain: boolean;
    readonly writableObjectMode: boolean;
    _write(chunk: any, encoding: BufferEncoding, done: Callback): void;
    _writev?(chunks: { chunk: any; encoding: BufferEncoding }[], done: Callback): void;
    _construct?(done: Callback): void;
    _destroy(error: Error | null, done: Callback): void;
    _final(done: Callback): void;
    write(chunk: any, done?: Callback): boolean;
    write(chunk: any, encoding: BufferEncoding, done?: Callback): boolean;
    setDefaultEncoding(encoding: BufferEncoding): this;
    end(done?: () => void): this;
    end(chunk: any, done?: () => void): this;
    end(chunk: any, encoding: BufferEncoding, done?: () => void): this;
    cork(): void;
    uncork(): void;
    destroy(error?: Error): this;
  }
  interface Duplex extends Writable {}
  class Duplex extends Readable {
    constructor(options?: DuplexOptions);
    static from(source: unknown): Duplex;
    static fromWeb(pair: { readable: ReadableStream; writable: WritableStream }, options?: DuplexOptions): Duplex;
    static toWeb(stream: Readable): any;
    allowHalfOpen: boolean;
    destroy(error?: Error): this;
    _destroy(error: Error | null, done: Callback): void;
  }
  class Transform extends Duplex {
    constructor(options?: TransformOptions);
    _transform(chunk: any, encoding: BufferEncoding, done: TransformCallback): void;
    _flush(done: TransformCallback): void;
  }
  class PassThrough extends Transform {}

  type AnyStream = Readable | Writable | Duplex | ReadableStream | WritableStream;
  interface FinishedOptions {
    error?: boolean;
    readable?: boolean;
    writable?: boolean;
    signal?: AbortSignal;
  }
  export function finished(stream: AnyStream, options: FinishedOptions, done: Callback): () => void;
  export function finished(stream: AnyStream, done: Callback): () => void;
  export function pipeline(...streamsAndCallback: any[]): any;
  export function addAbortSignal<T extends AnyStream>(signal: AbortSignal, stream: T): T;
  export function compose(...streams: unknown[]): Duplex;
  export function destroy(stream: AnyStream, error?: unknown): void;
  export function duplexPair(options?: DuplexOptions): [Duplex, Duplex];
  export function getDefaultHighWaterMark(objectMode: boolean): number;
  export function setDefaultHighWaterMark(objectMode: boolean, value: number): void;
  export function isDestroyed(stream: unknown): boolean | null;
  export function isDisturbed(stream: unknown): boolean;
  export function isErrored(stream: unknown): boolean;
  export function isReadable(stream: unknown): boolean | null;
  export function isWritable(stream: unknown): boolean | null;
  export * as promises from "stream/promises";
  export { Stream, Readable, Writable, Duplex, Transform, PassThrough };
  export default Stream;
}

declare module "stream/promises" {
  import type { Duplex, Readable, Writable } from "stream";
  export function finished(
    stream: Readable | Writable | Duplex | ReadableStream | WritableStream,
    options?: { error?: boolean; readable?: boolean; writable?: boolean; signal?: AbortSignal; cleanup?: boolean },
  ): Promise<void>;
  export function pipeline(...streamsAndOptions: any[]): Promise<any>;
}

declare module "stream/consumers" {
  type Source = AsyncIterable<any> | ReadableStream;
  export function arrayBuffer(stream: Source): Promise<ArrayBuffer>;
  export function blob(stream: Source): Promise<Blob>;
  export function buffer(stream: Source): Promise<Buffer>;
  export function bytes(stream: Source): Promise<Uint8Array<ArrayBuffer>>;
  export function json(stream: Source): Promise<any>;
  export function text(stream: Source): Promise<string>;
}

declare module "stream/web" {
  const web: typeof globalThis;
  export const {
    ReadableStream,
    ReadableStreamDefaultReader,
    ReadableStreamBYOBReader,
    ReadableStreamBYOBRequest,
    ReadableByteStreamController,
    ReadableStreamDefaultController,
    TransformStream,
    TransformStreamDefaultController,
    WritableStream,
    WritableStreamDefaultWriter,
    WritableStreamDefaultController,
    ByteLengthQueuingStrategy,
    CountQueuingStrategy,
    TextEncoderStream,
    TextDecoderStream,
    CompressionStream,
    DecompressionStream,
  }: typeof globalThis;
}

declare module "zlib" {
  import { Transform } from "stream";
  type Data = string | ArrayBuffer | ArrayBufferView;
  export interface ZlibOptions {
    flush?: number;
    finishFlush?: number;
    chunkSize?: number;
    windowBits?: number;
    level?: number;
    memLevel?: number;
    strategy?: number;
    dictionary?: ArrayBuffer | ArrayBufferView;
    maxOutputLength?: number;
  }
  class Zlib extends Transform {
    constructor(options?: ZlibOptions);
    readonly bytesWritten: number;
    close(done?: () => void): void;
    flush(kind?: number, done?: () => void): void;
    flush(done?: () => void): void;
    params(level: number, strategy: number, done: () => void): void;
    reset(): void;
  }
  export class Deflate extends Zlib {}
  export class Inflate extends Zlib {}
  export class Gzip extends Zlib {}
  export class Gunzip extends Zlib {}
  export class DeflateRaw extends Zlib {}
  export class InflateRaw extends Zlib {}
  export class Unzip extends Zlib {}
  export interface BrotliOptions {
    flush?: number;
    finishFlush?: number;
    chunkSize?: number;
    params?: Readonly<Record<number, number | boolean>>;
    maxOutputLength?: number;
  }
  export class BrotliDecompress extends Transform {
    constructor(options?: BrotliOptions);
    readonly bytesWritten: number;
    close(done?: () => void): void;
    flush(kind?: number, done?: () => void): void;
    flush(done?: () => void): void;
  }
  export function createBrotliDecompress(options?: BrotliOptions): BrotliDecompress;
  export function brotliDecompress(data: Data, done: Done): void;
  export function brotliDecompress(data: Data, options: BrotliOptions, done: Done): void;
  export function brotliDecompressSync(data: Data, options?: BrotliOptions): Buffer;
  export function createDeflate(options?: ZlibOptions): Deflate;
  export function createInflate(options?: ZlibOptions): Inflate;
  export function createGzip(options?: ZlibOptions): Gzip;
  export function createGunzip(options?: ZlibOptions): Gunzip;
  export function createDeflateRaw(options?: ZlibOptions): DeflateRaw;
  export function createInflateRaw(options?: ZlibOptions): InflateRaw;
  export function createUnzip(options?: ZlibOptions): Unzip;
  type Done = (error: Error | null, result: Buffer) => void;
  interface Later {
    (data: Data, done: Done): void;
    (data: Data, options: ZlibOptions, done: Done): void;
  }
  export const deflate: Later;
  export const inflate: Later;
  export const gzip: Later;
  export const gunzip: Later;
  export const deflateRaw: Later;
  export const inflateRaw: Later;
  export const unzip: Later;
  export function deflateSync(data: Data, options?: ZlibOptions): Buffer;
  export function inflateSync(data: Data, options?: ZlibOptions): Buffer;
  export function gzipSync(data: Data, options?: ZlibOptions): Buffer;
  export function gunzipSync(data: Data, options?: ZlibOptions): Buffer;
  export function deflateRawSync(data: Data, options?: ZlibOptions): Buffer;
  export function inflateRawSync(data: Data, options?: ZlibOptions): Buffer;
  export function unzipSync(data: Data, options?: ZlibOptions): Buffer;
  export function crc32(data: Data, value?: number): number;
  export const constants: Readonly<Record<string, number>>;
  export const codes: Readonly<Record<string, number | string>>;
}

declare module "node:stream" {
  export * from "stream";
  export { default } from "stream";
}
declare module "node:stream/promises" {
  export * from "stream/promises";
}
declare module "node:stream/consumers" {
  export * from "stream/consumers";
}
declare module "node:stream/web" {
  export * from "stream/web";
}
declare module "node:zlib" {
  export * from "zlib";
}

declare module "http" {
  import { EventEmitter } from "events";
  import { Readable, Writable } from "stream";
  type HeaderValue = string | number | readonly string[];
  export interface RequestOptions {
    protocol?: string | null;
    host?: string | null;
    hostname?: string | null;
    port?: number | string | null;
    defaultPort?: number | string;
    path?: string | null;
    method?: string;
    headers?: Record<string, HeaderValue | undefined> | readonly string[];
    auth?: string | null;
    agent?: Agent | false;
    timeout?: number;
    setHost?: boolean;
    signal?: AbortSignal;
  }
  /** The host keeps and reuses the connections; an agent only carries options. */
  export class Agent extends EventEmitter {
    constructor(options?: Record<string, unknown>);
    readonly options: Record<string, unknown>;
    maxSockets: number;
    maxFreeSockets: number;
    maxTotalSockets: number;
    defaultPort: number;
    protocol: string;
    getName(options?: object): string;
    destroy(): void;
  }
  export class OutgoingMessage extends Writable {
    readonly headersSent: boolean;
    setHeader(name: string, value: HeaderValue): this;
    setHeaders(headers: Headers | Map<string, HeaderValue>): this;
    appendHeader(name: string, value: HeaderValue): this;
    getHeader(name: string): HeaderValue | undefined;
    getHeaders(): Record<string, HeaderValue>;
    getHeaderNames(): string[];
    getRawHeaderNames(): string[];
    hasHeader(name: string): boolean;
    removeHeader(name: string): void;
    flushHeaders(): void;
  }
  export class ClientRequest extends OutgoingMessage {
    constructor(url: string | URL | RequestOptions, callback?: (response: IncomingMessage) => void);
    readonly method: string;
    readonly path: string;
    readonly host: string;
    readonly protocol: string;
    readonly aborted: boolean;
    abort(): void;
    setTimeout(ms: number, callback?: () => void): this;
    setNoDelay(on?: boolean): void;
    setSocketKeepAlive(on?: boolean, ms?: number): void;
  }
  export class IncomingMessage extends Readable {
    readonly httpVersion: string;
    readonly headers: Record<string, string | string[] | undefined> & { "set-cookie"?: string[] };
    readonly headersDistinct: Record<string, string[] | undefined>;
    readonly rawHeaders: string[];
    readonly trailers: Record<string, string | undefined>;
    readonly statusCode?: number;
    readonly statusMessage?: string;
    readonly complete: boolean;
    readonly aborted: boolean;
    setTimeout(ms: number, callback?: () => void): this;
  }
  type Answered = (response: IncomingMessage) => void;
  export function request(url: string | URL | RequestOptions, callback?: Answered): ClientRequest;
  export function request(url: string | URL, options: RequestOptions, callback?: Answered): ClientRequest;
  export function get(url: string | URL | RequestOptions, callback?: Answered): ClientRequest;
  export function get(url: string | URL, options: RequestOptions, callback?: Answered): ClientRequest;
  export function validateHeaderName(name: string, label?: string): void;
  export function validateHeaderValue(name: string, value: unknown): void;
  export function setMaxIdleHTTPParsers(max: number): void;
  export const METHODS: string[];
  export const STATUS_CODES: Readonly<Record<string, string>>;
  export const maxHeaderSize: number;
  export const globalAgent: Agent;
}

declare module "https" {
  import * as http from "http";
  /** The host makes and verifies the TLS connection; options about certificates change nothing. */
  export interface RequestOptions extends http.RequestOptions {}
  export class Agent extends http.Agent {}
  export const globalAgent: Agent;
  export function request(url: string | URL | RequestOptions, callback?: (response: http.IncomingMessage) => void): http.ClientRequest;
  export function request(
    url: string | URL,
    options: RequestOptions,
    callback?: (response: http.IncomingMessage) => void,
  ): http.ClientRequest;
  export function get(url: string | URL | RequestOptions, callback?: (response: http.IncomingMessage) => void): http.ClientRequest;
  export function get(url: string | URL, options: RequestOptions, callback?: (response: http.IncomingMessage) => void): http.ClientRequest;
}

declare module "async_hooks" {
  export class AsyncLocalStorage<T> {
    constructor(options?: { defaultValue?: T; name?: string });
    static bind<F extends (...args: any[]) => any>(fn: F): F;
    static snapshot(): <R, A extends any[]>(fn: (...args: A) => R, ...args: A) => R;
    readonly name: string;
    getStore(): T | undefined;
    run<R, A extends any[]>(store: T, fn: (...args: A) => R, ...args: A): R;
    exit<R, A extends any[]>(fn: (...args: A) => R, ...args: A): R;
    enterWith(store: T): void;
    disable(): void;
  }
  export class AsyncResource {
    constructor(type: string, options?: object | number);
    static bind<F extends (...args: any[]) => any>(fn: F, type?: string, thisArg?: unknown): F;
    bind<F extends (...args: any[]) => any>(fn: F, thisArg?: unknown): F;
    runInAsyncScope<R, A extends any[]>(fn: (...args: A) => R, thisArg?: unknown, ...args: A): R;
    emitDestroy(): this;
    asyncId(): number;
    triggerAsyncId(): number;
  }
  /** Its callbacks are never called. */
  export function createHook(callbacks: object): { enable(): object; disable(): object };
  export function executionAsyncId(): number;
  export function executionAsyncResource(): object;
  export function triggerAsyncId(): number;
}

declare module "diagnostics_channel" {
  type Subscriber = (message: unknown, name: string | symbol) => void;
  export class Channel {
    constructor(name: string | symbol);
    readonly name: string | symbol;
    readonly hasSubscribers: boolean;
    publish(message: unknown): void;
    subscribe(subscriber: Subscriber): void;
    unsubscribe(subscriber: Subscriber): boolean;
    bindStore(store: object, transform?: (message: any) => unknown): void;
    unbindStore(store: object): boolean;
    runStores<R>(message: unknown, fn: (...args: any[]) => R, thisArg?: unknown, ...args: unknown[]): R;
  }
  interface Tracing {
    start?: Subscriber;
    end?: Subscriber;
    asyncStart?: Subscriber;
    asyncEnd?: Subscriber;
    error?: Subscriber;
  }
  interface TracingChannel {
    readonly start: Channel;
    readonly end: Channel;
    readonly asyncStart: Channel;
    readonly asyncEnd: Channel;
    readonly error: Channel;
    readonly hasSubscribers: boolean;
    subscribe(handlers: Tracing): void;
    unsubscribe(handlers: Tracing): boolean;
    traceSync<R>(fn: (...args: any[]) => R, message?: object, thisArg?: unknown, ...args: unknown[]): R;
    tracePromise<R>(fn: (...args: any[]) => Promise<R>, message?: object, thisArg?: unknown, ...args: unknown[]): Promise<R>;
    traceCallback<R>(fn: (...args: any[]) => R, position?: number, message?: object, thisArg?: unknown, ...args: unknown[]): R;
  }
  export function channel(name: string | symbol): Channel;
  export function hasSubscribers(name: string | symbol): boolean;
  export function subscribe(name: string | symbol, subscriber: Subscriber): void;
  export function unsubscribe(name: string | symbol, subscriber: Subscriber): boolean;
  export function tracingChannel(name: string | Record<keyof Tracing, Channel>): TracingChannel;
}

declare module "readline" {
  import { EventEmitter } from "events";
  import { Readable, Writable } from "stream";
  export interface ReadLineOptions {
    input: Readable;
    output?: Writable;
    prompt?: string;
    signal?: AbortSignal;
    crlfDelay?: number;
    terminal?: boolean;
  }
  export class Interface extends EventEmitter implements AsyncIterable<string> {
    constructor(options: ReadLineOptions);
    readonly terminal: boolean;
    readonly closed: boolean;
    getPrompt(): string;
    setPrompt(prompt: string): void;
    prompt(keepsCursor?: boolean): void;
    question(query: string, done: (answer: string) => void): void;
    pause(): this;
    resume(): this;
    close(): void;
    write(data: string): void;
    [Symbol.asyncIterator](): AsyncIterableIterator<string>;
  }
  export function createInterface(options: ReadLineOptions): Interface;
  export function createInterface(input: Readable, output?: Writable): Interface;
  export function clearLine(stream: Writable, direction: -1 | 0 | 1, done?: () => void): boolean;
  export function clearScreenDown(stream: Writable, done?: () => void): boolean;
  export function cursorTo(stream: Writable, x: number, y?: number, done?: () => void): boolean;
  export function moveCursor(stream: Writable, dx: number, dy: number, done?: () => void): boolean;
  export function emitKeypressEvents(stream: Readable): void;
  export * as promises from "readline/promises";
}

declare module "readline/promises" {
  import * as readline from "readline";
  export class Interface extends readline.Interface {
    question(query: string): Promise<string>;
    question(query: string, done: (answer: string) => void): void;
  }
  export function createInterface(options: readline.ReadLineOptions): Interface;
}

declare module "tty" {
  export function isatty(fd: number): boolean;
}

declare module "console" {
  const all: Console;
  export const {
    assert,
    clear,
    count,
    countReset,
    debug,
    dir,
    dirxml,
    error,
    group,
    groupCollapsed,
    groupEnd,
    info,
    log,
    table,
    time,
    timeEnd,
    timeLog,
    trace,
    warn,
  }: Console;
  export default all;
}

declare module "constants" {
  const constants: Readonly<Record<string, number>>;
  export default constants;
}

declare module "sys" {
  export * from "util";
}

declare module "node:http" {
  export * from "http";
}
declare module "node:https" {
  export * from "https";
}
declare module "node:async_hooks" {
  export * from "async_hooks";
}
declare module "node:diagnostics_channel" {
  export * from "diagnostics_channel";
}
declare module "node:readline" {
  export * from "readline";
}
declare module "node:readline/promises" {
  export * from "readline/promises";
}
declare module "node:tty" {
  export * from "tty";
}
declare module "node:console" {
  export * from "console";
  export { default } from "console";
}
declare module "node:constants" {
  export { default } from "constants";
}
declare module "node:sys" {
  export * from "sys";
}
