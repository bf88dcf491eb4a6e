/**
 * The guest's world beyond ECMAScript: which globals and which of Node's modules exist inside a cell, and the file of
 * src/sandbox/guest that makes each. All of it is lazy: a cell that never touches `URL` never compiles it. Guest,
 * bundler, declarations, docs and tests read this table.
 */

/**
 * In the guest's text: separates the bootstrap, which runs when a cell starts, from the library, whose parts are made
 * on first use.
 */
export const LIBRARY_MARK = "\n//# library\n";

/** Global → the module that exports it under the same name. */
export const GUEST_GLOBALS = {
  global: "web/global",
  self: "web/global",
  console: "web/console",
  DOMException: "web/dom-exception",
  Event: "web/events",
  EventTarget: "web/events",
  CustomEvent: "web/events",
  AbortController: "web/abort",
  AbortSignal: "web/abort",
  ByteLengthQueuingStrategy: "web/streams",
  CountQueuingStrategy: "web/streams",
  ReadableByteStreamController: "web/streams",
  ReadableStream: "web/streams",
  ReadableStreamBYOBReader: "web/streams",
  ReadableStreamBYOBRequest: "web/streams",
  ReadableStreamDefaultController: "web/streams",
  ReadableStreamDefaultReader: "web/streams",
  TransformStream: "web/streams",
  TransformStreamDefaultController: "web/streams",
  WritableStream: "web/streams",
  WritableStreamDefaultController: "web/streams",
  WritableStreamDefaultWriter: "web/streams",
  CompressionStream: "web/compression",
  DecompressionStream: "web/compression",
  TextEncoderStream: "web/text-streams",
  TextDecoderStream: "web/text-streams",
  URL: "web/url/url",
  URLSearchParams: "web/url/url",
  TextEncoder: "web/encoding",
  TextDecoder: "web/encoding",
  structuredClone: "web/clone",
  Blob: "web/fetch/blob",
  File: "web/fetch/blob",
  FormData: "web/fetch/form-data",
  performance: "web/performance",
  Performance: "web/performance",
  PerformanceEntry: "web/performance",
  PerformanceMark: "web/performance",
  PerformanceMeasure: "web/performance",
  atob: "web/base64",
  btoa: "web/base64",
  Buffer: "node/buffer/buffer",
  process: "node/process",
  crypto: "web/crypto",
  Crypto: "web/crypto",
  CryptoKey: "web/crypto",
  SubtleCrypto: "web/crypto",
  fetch: "web/fetch/fetch",
  Headers: "web/fetch/fetch",
  Request: "web/fetch/fetch",
  Response: "web/fetch/fetch",
  MessageEvent: "web/socket/message-events",
  CloseEvent: "web/socket/message-events",
  WebSocket: "web/socket/websocket",
  EventSource: "web/socket/event-source",
} as const satisfies Record<string, string>;

/** Node's module, without `node:` → the module whose default export `require` gives. */
export const GUEST_MODULES: Readonly<Record<string, string>> = {
  path: "node/path",
  "path/posix": "node/path",
  "path/win32": "node/path-win32",
  util: "node/util/util",
  "util/types": "node/util/util-types",
  events: "node/events",
  buffer: "node/buffer/buffer",
  querystring: "node/querystring",
  string_decoder: "node/buffer/string-decoder",
  os: "node/os",
  process: "node/process",
  timers: "node/timers",
  "timers/promises": "node/timers-promises",
  perf_hooks: "node/perf-hooks",
  crypto: "node/crypto/crypto",
  url: "node/url",
  assert: "node/assert/assert",
  "assert/strict": "node/assert/assert-strict",
  fs: "node/fs/fs",
  "fs/promises": "node/fs/fs-promises",
  module: "node/module",
  stream: "node/stream/stream",
  "stream/promises": "node/stream/stream-promises",
  "stream/consumers": "node/stream/stream-consumers",
  "stream/web": "node/stream/stream-web",
  zlib: "node/zlib/zlib",
  http: "node/http/http",
  https: "node/http/https",
  net: "node/net/net",
  tls: "node/net/tls",
  dns: "node/net/dns",
  "dns/promises": "node/net/dns-promises",
  async_hooks: "node/async/async-hooks",
  diagnostics_channel: "node/async/diagnostics-channel",
  readline: "node/terminal/readline",
  "readline/promises": "node/terminal/readline-promises",
  tty: "node/terminal/tty",
  console: "web/console",
  constants: "node/constants",
  sys: "node/util/util",
};

/** The file behind `openclaw/plugin-sdk` and every path below it. */
export const GUEST_SDK = "sdk/openclaw";

/** The file behind the package `undici`, whose own code needs threads and WebAssembly: Node's `fetch` is that package. */
export const GUEST_UNDICI = "node/net/undici";

/** Large and rarely needed files that other files load on demand. */
export const GUEST_PARTS = [
  "node/absent",
  "node/fs/fs-streams",
  "node/path-win32",
  "web/url/idna-tables",
  "node/util/inspect",
  "web/fetch/multipart",
  "boot/manual-date",
  "node/http/wire-request",
  "node/zlib/brotli",
  "node/http/route",
  "sdk/cli",
] as const;

/** A table as a flat list: name, file, name, file … */
export function pairs(table: Readonly<Record<string, string>>): string[] {
  return Object.entries(table).flat();
}

/** Every lazily loaded file of src/sandbox/guest, without its extension. */
export function guestEntries(): string[] {
  return [
    ...new Set<string>([...Object.values(GUEST_GLOBALS), ...Object.values(GUEST_MODULES), GUEST_SDK, GUEST_UNDICI, ...GUEST_PARTS]),
  ].toSorted();
}
