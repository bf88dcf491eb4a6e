/** Inside the isolate: `stream/web`, the streams among the globals. */
const NAMES = [
  "ReadableStream",
  "ReadableStreamDefaultReader",
  "ReadableStreamBYOBReader",
  "ReadableStreamBYOBRequest",
  "ReadableByteStreamController",
  "ReadableStreamDefaultController",
  "TransformStream",
  "TransformStreamDefaultController",
  "WritableStream",
  "WritableStreamDefaultWriter",
  "WritableStreamDefaultController",
  "ByteLengthQueuingStrategy",
  "CountQueuingStrategy",
  "TextEncoderStream",
  "TextDecoderStream",
  "CompressionStream",
  "DecompressionStream",
] as const;

const web: Record<string, unknown> = {};
for (const name of NAMES)
  Object.defineProperty(web, name, { get: () => Reflect.get(globalThis, name) as unknown, enumerable: true, configurable: true });

export default web;
