/**
 * The guest's world beyond ECMAScript: which globals and which of Node's modules exist inside a cell, and the file of
 * src/sandbox/guest that makes each. Everything here is lazy: a cell that never touches `URL` never compiles it. Guest, bundler,
 * declarations, docs and tests read this table.
 */

/** In the text that cells are made of: between what runs when one starts and what is made when it is first touched. */
export const LIBRARY_MARK = "\n//# library\n";

/** Global → the module that exports it under the same name. */
export const GUEST_GLOBALS = {
  global: "web/global",
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
  TextEncoderStream: "web/text-streams",
  TextDecoderStream: "web/text-streams",
  URL: "web/url",
  URLSearchParams: "web/url",
  TextEncoder: "web/encoding",
  TextDecoder: "web/encoding",
  structuredClone: "web/clone",
  Blob: "web/blob",
  File: "web/blob",
  FormData: "web/form-data",
  performance: "web/performance",
  Performance: "web/performance",
  PerformanceEntry: "web/performance",
  PerformanceMark: "web/performance",
  PerformanceMeasure: "web/performance",
  atob: "web/base64",
  btoa: "web/base64",
  Buffer: "node/buffer",
  process: "node/process",
  crypto: "web/crypto",
  Crypto: "web/crypto",
  CryptoKey: "web/crypto",
  SubtleCrypto: "web/crypto",
  fetch: "web/fetch",
  Headers: "web/fetch",
  Request: "web/fetch",
  Response: "web/fetch",
} as const satisfies Record<string, string>;

/** Node's module, without `node:` → the module whose default export `require` gives. */
export const GUEST_MODULES: Readonly<Record<string, string>> = {
  path: "node/path",
  "path/posix": "node/path",
  util: "node/util",
  "util/types": "node/util-types",
  events: "node/events",
  buffer: "node/buffer",
  querystring: "node/querystring",
  string_decoder: "node/string-decoder",
  os: "node/os",
  process: "node/process",
  timers: "node/timers",
  "timers/promises": "node/timers-promises",
  perf_hooks: "node/perf-hooks",
  crypto: "node/crypto",
  url: "node/url",
  assert: "node/assert",
  "assert/strict": "node/assert-strict",
  fs: "node/fs",
  "fs/promises": "node/fs-promises",
  module: "node/module",
};

/** The file behind `openclaw/plugin-sdk`, whatever stands after it. */
export const GUEST_SDK = "sdk/openclaw";

/** Files that others of them load when they need them: what is large and seldom wanted. */
export const GUEST_PARTS = ["node/absent", "web/idna-tables", "node/inspect", "web/multipart"] as const;

/** Names and files of a table, in turn. */
export function pairs(table: Readonly<Record<string, string>>): string[] {
  return Object.entries(table).flat();
}

/** Every file of src/sandbox/guest, without extension, that is loaded when it is first needed. */
export function guestEntries(): string[] {
  return [...new Set<string>([...Object.values(GUEST_GLOBALS), ...Object.values(GUEST_MODULES), GUEST_SDK, ...GUEST_PARTS])].toSorted();
}
