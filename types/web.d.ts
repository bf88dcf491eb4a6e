/** The Web platform inside the sandbox. docs/reference/web-platform.md says where it differs from Node. */

type BufferSource = ArrayBufferView<ArrayBuffer> | ArrayBuffer;

/* Console and timers */

interface Console {
  assert(condition?: unknown, ...data: unknown[]): void;
  count(label?: string): void;
  countReset(label?: string): void;
  debug(...data: unknown[]): void;
  dir(item?: unknown, options?: object): void;
  dirxml(...data: unknown[]): void;
  error(...data: unknown[]): void;
  group(...data: unknown[]): void;
  groupCollapsed(...data: unknown[]): void;
  groupEnd(): void;
  info(...data: unknown[]): void;
  log(...data: unknown[]): void;
  table(data?: unknown, columns?: readonly string[]): void;
  time(label?: string): void;
  timeEnd(label?: string): void;
  timeLog(label?: string, ...data: unknown[]): void;
  trace(...data: unknown[]): void;
  warn(...data: unknown[]): void;
}
declare var console: Console;

interface Timeout {
  ref(): this;
  unref(): this;
  hasRef(): boolean;
  [Symbol.toPrimitive](): number;
}
declare function setTimeout(callback: (value: void) => void, delay?: number): Timeout;
declare function setTimeout<A extends unknown[]>(callback: (...args: A) => void, delay?: number, ...args: A): Timeout;
declare function setInterval(callback: (value: void) => void, delay?: number): Timeout;
declare function setInterval<A extends unknown[]>(callback: (...args: A) => void, delay?: number, ...args: A): Timeout;
declare function setImmediate(callback: (value: void) => void): Timeout;
declare function setImmediate<A extends unknown[]>(callback: (...args: A) => void, ...args: A): Timeout;
declare function clearTimeout(timer: Timeout | number | string | undefined | null): void;
declare function clearInterval(timer: Timeout | number | string | undefined | null): void;
declare function clearImmediate(timer: Timeout | number | string | undefined | null): void;
declare function queueMicrotask(callback: () => void): void;
declare function structuredClone<T>(value: T, options?: { transfer?: readonly object[] }): T;
declare function atob(data: string): string;
declare function btoa(data: string): string;

/* Events and abort */

interface DOMException extends Error {
  readonly code: number;
}
declare var DOMException: {
  prototype: DOMException;
  new (message?: string, name?: string | { name?: string; cause?: unknown }): DOMException;
};

interface EventInit {
  bubbles?: boolean;
  cancelable?: boolean;
  composed?: boolean;
}
interface Event {
  readonly type: string;
  readonly target: EventTarget | null;
  readonly currentTarget: EventTarget | null;
  readonly eventPhase: number;
  readonly bubbles: boolean;
  readonly cancelable: boolean;
  readonly composed: boolean;
  readonly defaultPrevented: boolean;
  readonly isTrusted: boolean;
  readonly timeStamp: number;
  composedPath(): EventTarget[];
  preventDefault(): void;
  stopImmediatePropagation(): void;
  stopPropagation(): void;
}
declare var Event: { prototype: Event; new (type: string, init?: EventInit): Event };

interface CustomEvent<T = unknown> extends Event {
  readonly detail: T;
}
declare var CustomEvent: { prototype: CustomEvent; new <T>(type: string, init?: EventInit & { detail?: T }): CustomEvent<T> };

type EventListener = ((event: Event) => void) | { handleEvent(event: Event): void };
interface AddEventListenerOptions {
  capture?: boolean;
  once?: boolean;
  passive?: boolean;
  signal?: AbortSignal;
}
interface EventTarget {
  addEventListener(type: string, listener: EventListener | null, options?: boolean | AddEventListenerOptions): void;
  removeEventListener(type: string, listener: EventListener | null, options?: boolean | { capture?: boolean }): void;
  dispatchEvent(event: Event): boolean;
}
declare var EventTarget: { prototype: EventTarget; new (): EventTarget };

interface AbortSignal extends EventTarget {
  readonly aborted: boolean;
  // oxlint-disable-next-line typescript/no-explicit-any -- as everywhere else: whatever was given to abort()
  readonly reason: any;
  onabort: ((this: AbortSignal, event: Event) => void) | null;
  throwIfAborted(): void;
}
declare var AbortSignal: {
  prototype: AbortSignal;
  abort(reason?: unknown): AbortSignal;
  any(signals: Iterable<AbortSignal>): AbortSignal;
  timeout(milliseconds: number): AbortSignal;
};
interface AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}
declare var AbortController: { prototype: AbortController; new (): AbortController };

/* URLs and text */

interface URLSearchParams {
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  toString(): string;
  forEach(callback: (value: string, name: string, parent: URLSearchParams) => void, thisArg?: unknown): void;
  entries(): ArrayIterator<[string, string]>;
  keys(): ArrayIterator<string>;
  values(): ArrayIterator<string>;
  [Symbol.iterator](): ArrayIterator<[string, string]>;
}
declare var URLSearchParams: {
  prototype: URLSearchParams;
  new (init?: string | Iterable<readonly [string, string]> | Readonly<Record<string, string>> | URLSearchParams): URLSearchParams;
};
interface URL {
  hash: string;
  host: string;
  hostname: string;
  href: string;
  readonly origin: string;
  password: string;
  pathname: string;
  port: string;
  protocol: string;
  search: string;
  readonly searchParams: URLSearchParams;
  username: string;
  toJSON(): string;
  toString(): string;
}
declare var URL: {
  prototype: URL;
  new (url: string | URL, base?: string | URL): URL;
  canParse(url: string | URL, base?: string | URL): boolean;
  parse(url: string | URL, base?: string | URL): URL | null;
};

interface TextEncoder {
  readonly encoding: string;
  encode(input?: string): Uint8Array<ArrayBuffer>;
  encodeInto(source: string, destination: Uint8Array): { read: number; written: number };
}
declare var TextEncoder: { prototype: TextEncoder; new (): TextEncoder };
interface TextDecoder {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(input?: ArrayBufferView | ArrayBuffer, options?: { stream?: boolean }): string;
}
declare var TextDecoder: { prototype: TextDecoder; new (label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): TextDecoder };

/* Streams */

interface QueuingStrategy<T = unknown> {
  highWaterMark?: number;
  size?(chunk: T): number;
}
interface ReadableStreamDefaultController<R = unknown> {
  readonly desiredSize: number | null;
  close(): void;
  enqueue(chunk: R): void;
  error(reason?: unknown): void;
}
interface UnderlyingSource<R = unknown> {
  start?(controller: ReadableStreamDefaultController<R>): unknown;
  pull?(controller: ReadableStreamDefaultController<R>): unknown;
  cancel?(reason?: unknown): unknown;
}
interface UnderlyingByteSource {
  type: "bytes";
  autoAllocateChunkSize?: number;
  start?(controller: ReadableByteStreamController): unknown;
  pull?(controller: ReadableByteStreamController): unknown;
  cancel?(reason?: unknown): unknown;
}
interface ReadableStreamDefaultReader<R = unknown> {
  readonly closed: Promise<undefined>;
  read(): Promise<{ done: false; value: R } | { done: true; value: undefined }>;
  releaseLock(): void;
  cancel(reason?: unknown): Promise<void>;
}
interface ReadableStream<R = unknown> {
  readonly locked: boolean;
  cancel(reason?: unknown): Promise<void>;
  getReader(): ReadableStreamDefaultReader<R>;
  getReader(options: { mode: "byob" }): ReadableStreamBYOBReader;
  pipeThrough<T>(
    transform: { readonly readable: ReadableStream<T>; readonly writable: WritableStream<R> },
    options?: object,
  ): ReadableStream<T>;
  pipeTo(
    destination: WritableStream<R>,
    options?: { signal?: AbortSignal; preventClose?: boolean; preventAbort?: boolean; preventCancel?: boolean },
  ): Promise<void>;
  tee(): [ReadableStream<R>, ReadableStream<R>];
  values(options?: { preventCancel?: boolean }): AsyncIterableIterator<R>;
  [Symbol.asyncIterator](options?: { preventCancel?: boolean }): AsyncIterableIterator<R>;
}
declare var ReadableStreamDefaultReader: {
  prototype: ReadableStreamDefaultReader;
  new <R = unknown>(stream: ReadableStream<R>): ReadableStreamDefaultReader<R>;
};
declare var ReadableStreamDefaultController: { prototype: ReadableStreamDefaultController };
interface ReadableStreamBYOBReader {
  readonly closed: Promise<undefined>;
  read<T extends ArrayBufferView>(view: T, options?: { min?: number }): Promise<{ done: boolean; value: T | undefined }>;
  releaseLock(): void;
  cancel(reason?: unknown): Promise<void>;
}
declare var ReadableStreamBYOBReader: {
  prototype: ReadableStreamBYOBReader;
  new (stream: ReadableStream<Uint8Array>): ReadableStreamBYOBReader;
};
interface ReadableStreamBYOBRequest {
  readonly view: ArrayBufferView | null;
  respond(bytesWritten: number): void;
  respondWithNewView(view: ArrayBufferView): void;
}
declare var ReadableStreamBYOBRequest: { prototype: ReadableStreamBYOBRequest };
interface ReadableByteStreamController {
  readonly byobRequest: ReadableStreamBYOBRequest | null;
  readonly desiredSize: number | null;
  close(): void;
  enqueue(chunk: ArrayBufferView): void;
  error(reason?: unknown): void;
}
declare var ReadableByteStreamController: { prototype: ReadableByteStreamController };
declare var ReadableStream: {
  prototype: ReadableStream;
  new (source: UnderlyingByteSource, strategy?: { highWaterMark?: number }): ReadableStream<Uint8Array<ArrayBuffer>>;
  new <R = unknown>(source?: UnderlyingSource<R>, strategy?: QueuingStrategy<R>): ReadableStream<R>;
  from<R>(iterable: Iterable<R> | AsyncIterable<R>): ReadableStream<R>;
};
interface WritableStreamDefaultController {
  readonly signal: AbortSignal;
  error(reason?: unknown): void;
}
interface WritableStreamDefaultWriter<W = unknown> {
  readonly closed: Promise<undefined>;
  readonly desiredSize: number | null;
  readonly ready: Promise<undefined>;
  abort(reason?: unknown): Promise<void>;
  close(): Promise<void>;
  releaseLock(): void;
  write(chunk: W): Promise<void>;
}
interface WritableStream<W = unknown> {
  readonly locked: boolean;
  abort(reason?: unknown): Promise<void>;
  close(): Promise<void>;
  getWriter(): WritableStreamDefaultWriter<W>;
}
declare var WritableStreamDefaultController: { prototype: WritableStreamDefaultController };
declare var WritableStreamDefaultWriter: {
  prototype: WritableStreamDefaultWriter;
  new <W = unknown>(stream: WritableStream<W>): WritableStreamDefaultWriter<W>;
};
declare var WritableStream: {
  prototype: WritableStream;
  new <W = unknown>(
    sink?: {
      start?(controller: WritableStreamDefaultController): unknown;
      write?(chunk: W, controller: WritableStreamDefaultController): unknown;
      close?(): unknown;
      abort?(reason?: unknown): unknown;
    },
    strategy?: QueuingStrategy<W>,
  ): WritableStream<W>;
};
interface TransformStreamDefaultController<O = unknown> {
  readonly desiredSize: number | null;
  enqueue(chunk: O): void;
  error(reason?: unknown): void;
  terminate(): void;
}
interface TransformStream<I = unknown, O = unknown> {
  readonly readable: ReadableStream<O>;
  readonly writable: WritableStream<I>;
}
declare var TransformStreamDefaultController: { prototype: TransformStreamDefaultController };
declare var TransformStream: {
  prototype: TransformStream;
  new <I = unknown, O = unknown>(
    transformer?: {
      start?(controller: TransformStreamDefaultController<O>): unknown;
      transform?(chunk: I, controller: TransformStreamDefaultController<O>): unknown;
      flush?(controller: TransformStreamDefaultController<O>): unknown;
    },
    writable?: QueuingStrategy<I>,
    readable?: QueuingStrategy<O>,
  ): TransformStream<I, O>;
};

declare var ByteLengthQueuingStrategy: {
  new (init: { highWaterMark: number }): { readonly highWaterMark: number; readonly size: (chunk: ArrayBufferView) => number };
};
declare var CountQueuingStrategy: { new (init: { highWaterMark: number }): { readonly highWaterMark: number; readonly size: () => 1 } };
declare var CompressionStream: {
  new (format: "deflate" | "deflate-raw" | "gzip"): TransformStream<ArrayBufferView | ArrayBuffer, Uint8Array<ArrayBuffer>>;
};
declare var DecompressionStream: typeof CompressionStream;
declare var TextEncoderStream: { new (): TransformStream<string, Uint8Array<ArrayBuffer>> & { readonly encoding: string } };
declare var TextDecoderStream: {
  new (
    label?: string,
    options?: { fatal?: boolean; ignoreBOM?: boolean },
  ): TransformStream<ArrayBufferView | ArrayBuffer, string> & {
    readonly encoding: string;
    readonly fatal: boolean;
    readonly ignoreBOM: boolean;
  };
};

/* Blobs and forms */

interface Blob {
  readonly size: number;
  readonly type: string;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  slice(start?: number, end?: number, type?: string): Blob;
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>;
  text(): Promise<string>;
}
type BlobPart = string | Blob | BufferSource;
declare var Blob: {
  prototype: Blob;
  new (parts?: Iterable<BlobPart>, options?: { type?: string; endings?: "transparent" | "native" }): Blob;
};
interface File extends Blob {
  readonly lastModified: number;
  readonly name: string;
}
declare var File: {
  prototype: File;
  new (parts: Iterable<BlobPart>, name: string, options?: { type?: string; lastModified?: number }): File;
};

type FormDataEntryValue = string | File;
interface FormData {
  append(name: string, value: string | Blob, filename?: string): void;
  delete(name: string): void;
  get(name: string): FormDataEntryValue | null;
  getAll(name: string): FormDataEntryValue[];
  has(name: string): boolean;
  set(name: string, value: string | Blob, filename?: string): void;
  forEach(callback: (value: FormDataEntryValue, name: string, parent: FormData) => void, thisArg?: unknown): void;
  entries(): ArrayIterator<[string, FormDataEntryValue]>;
  keys(): ArrayIterator<string>;
  values(): ArrayIterator<FormDataEntryValue>;
  [Symbol.iterator](): ArrayIterator<[string, FormDataEntryValue]>;
}
declare var FormData: { prototype: FormData; new (): FormData };

/* HTTP, to origins that the operator granted */

type HeadersInit = Headers | Iterable<readonly [string, string]> | Readonly<Record<string, string>>;
interface Headers {
  append(name: string, value: string): void;
  delete(name: string): void;
  get(name: string): string | null;
  getSetCookie(): string[];
  has(name: string): boolean;
  set(name: string, value: string): void;
  forEach(callback: (value: string, name: string, parent: Headers) => void, thisArg?: unknown): void;
  entries(): ArrayIterator<[string, string]>;
  keys(): ArrayIterator<string>;
  values(): ArrayIterator<string>;
  [Symbol.iterator](): ArrayIterator<[string, string]>;
}
declare var Headers: { prototype: Headers; new (init?: HeadersInit): Headers };

type BodyInit = string | URLSearchParams | BufferSource | Blob | FormData | ReadableStream<Uint8Array>;
interface Body {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  readonly bodyUsed: boolean;
  arrayBuffer(): Promise<ArrayBuffer>;
  blob(): Promise<Blob>;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  formData(): Promise<FormData>;
  // oxlint-disable-next-line typescript/no-explicit-any -- as everywhere else: what the server sent
  json(): Promise<any>;
  text(): Promise<string>;
}
interface RequestInit {
  method?: string;
  headers?: HeadersInit;
  body?: BodyInit | null;
  redirect?: "follow" | "error" | "manual";
  signal?: AbortSignal | null;
  /** Accepted, and without effect: there are no cookies, no cache and no pages here. */
  mode?: string;
  credentials?: string;
  cache?: string;
  referrer?: string;
  referrerPolicy?: string;
  integrity?: string;
  keepalive?: boolean;
  duplex?: "half";
}
interface Request extends Body {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly redirect: "follow" | "error" | "manual";
  readonly signal: AbortSignal;
  clone(): Request;
}
declare var Request: { prototype: Request; new (input: string | URL | Request, init?: RequestInit): Request };
interface ResponseInit {
  status?: number;
  statusText?: string;
  headers?: HeadersInit;
}
interface Response extends Body {
  readonly headers: Headers;
  readonly ok: boolean;
  readonly redirected: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly type: string;
  readonly url: string;
  clone(): Response;
}
declare var Response: {
  prototype: Response;
  new (body?: BodyInit | null, init?: ResponseInit): Response;
  error(): Response;
  json(data: unknown, init?: ResponseInit): Response;
  redirect(url: string | URL, status?: number): Response;
};
/** Rejects for an origin, path or method that was not granted, with an error whose `code` says which. */
declare function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;

/* Time */

interface PerformanceEntry {
  readonly name: string;
  readonly entryType: string;
  readonly startTime: number;
  readonly duration: number;
  toJSON(): object;
}
declare var PerformanceEntry: { prototype: PerformanceEntry };
interface PerformanceMark extends PerformanceEntry {
  readonly detail: unknown;
}
declare var PerformanceMark: {
  prototype: PerformanceMark;
  new (name: string, options?: { detail?: unknown; startTime?: number }): PerformanceMark;
};
interface PerformanceMeasure extends PerformanceEntry {
  readonly detail: unknown;
}
declare var PerformanceMeasure: { prototype: PerformanceMeasure };
interface Performance {
  readonly timeOrigin: number;
  /** Whole milliseconds, unless the operator granted `clock: "fine"`. */
  now(): number;
  mark(name: string, options?: { detail?: unknown; startTime?: number }): PerformanceMark;
  measure(
    name: string,
    startOrOptions?: string | { start?: string | number; end?: string | number; duration?: number; detail?: unknown },
    end?: string,
  ): PerformanceMeasure;
  clearMarks(name?: string): void;
  clearMeasures(name?: string): void;
  getEntries(): PerformanceEntry[];
  getEntriesByName(name: string, type?: string): PerformanceEntry[];
  getEntriesByType(type: string): PerformanceEntry[];
  toJSON(): object;
}
declare var Performance: { prototype: Performance };
declare var performance: Performance;

interface MessageEvent extends Event {
  readonly data: any;
  readonly origin: string;
  readonly lastEventId: string;
}
declare var MessageEvent: {
  prototype: MessageEvent;
  new (type: string, init?: { data?: unknown; origin?: string; lastEventId?: string }): MessageEvent;
};

interface CloseEvent extends Event {
  readonly wasClean: boolean;
  readonly code: number;
  readonly reason: string;
}
declare var CloseEvent: {
  prototype: CloseEvent;
  new (type: string, init?: { wasClean?: boolean; code?: number; reason?: string }): CloseEvent;
};

/** Over a host and port of a connect grant. */
interface WebSocket extends EventTarget {
  readonly url: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  readonly extensions: string;
  readonly protocol: string;
  binaryType: "blob" | "arraybuffer";
  onopen: ((event: Event) => void) | null;
  onmessage: ((event: MessageEvent) => void) | null;
  onerror: ((event: Event) => void) | null;
  onclose: ((event: CloseEvent) => void) | null;
  send(data: string | ArrayBuffer | ArrayBufferView | Blob): void;
  close(code?: number, reason?: string): void;
}
declare var WebSocket: {
  prototype: WebSocket;
  new (url: string | URL, protocols?: string | string[] | { protocols?: string | string[]; headers?: Record<string, string> }): WebSocket;
  readonly CONNECTING: 0;
  readonly OPEN: 1;
  readonly CLOSING: 2;
  readonly CLOSED: 3;
};

/** Over `fetch`. */
interface EventSource extends EventTarget {
  readonly url: string;
  readonly readyState: number;
  readonly withCredentials: boolean;
  onopen: ((event: Event) => void) | null;
  onmessage: ((event: MessageEvent) => void) | null;
  onerror: ((event: Event) => void) | null;
  close(): void;
}
declare var EventSource: {
  prototype: EventSource;
  new (url: string | URL): EventSource;
  readonly CONNECTING: 0;
  readonly OPEN: 1;
  readonly CLOSED: 2;
};
