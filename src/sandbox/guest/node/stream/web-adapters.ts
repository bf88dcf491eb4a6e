/** Inside the isolate: Node's streams as web streams, and web streams as Node's. The package leaves these out. */
// oxlint-disable promise/no-callback-in-promise, promise/no-promise-in-callback -- one kind of stream calls back, the other promises
import type { Duplex as NodeDuplex, Readable as NodeReadable, Writable as NodeWritable } from "node:stream";
import Stream from "readable-stream/lib/stream.js";
import { part } from "../../boot/library.ts";
import type * as WebStreams from "../../web/streams.ts";

const { Duplex, Readable, Writable, destroy, finished } = Stream as unknown as {
  Duplex: typeof NodeDuplex;
  Readable: typeof NodeReadable;
  Writable: typeof NodeWritable;
  destroy: (this: void, stream: object, error?: unknown) => void;
  finished: typeof Stream.finished;
};

type Callback = (error?: Error | null) => void;
type WebReadable = WebStreams.ReadableStream<unknown>;
type WebWritable = WebStreams.WritableStream<unknown>;
interface Pair {
  readable: WebReadable;
  writable: WebWritable;
}

function web(): typeof WebStreams {
  return part("web/streams") as typeof WebStreams;
}

/** Gives a buffer as plain bytes, as Node does. */
function plain(chunk: unknown): unknown {
  return ArrayBuffer.isView(chunk) ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength) : chunk;
}

export function readableToWeb(readable: NodeReadable, options: { strategy?: object } = {}): WebReadable {
  const { ReadableStream, CountQueuingStrategy, ByteLengthQueuingStrategy } = web();
  const { readableHighWaterMark: highWaterMark, readableObjectMode: isObjects } = readable;
  const strategy =
    options.strategy ?? (isObjects ? new CountQueuingStrategy({ highWaterMark }) : new ByteLengthQueuingStrategy({ highWaterMark }));
  readable.pause();
  return new ReadableStream<unknown>(
    {
      start(controller) {
        readable.on("data", (chunk: unknown) => {
          controller.enqueue(isObjects ? chunk : plain(chunk));
          if ((controller.desiredSize ?? 0) <= 0) readable.pause();
        });
        readable.pause();
        finished(readable, { writable: false }, (error) => {
          if (error) controller.error(error);
          else close(() => controller.close());
        });
      },
      pull: () => void readable.resume(),
      cancel: (reason) => destroy(readable, reason),
    },
    strategy,
  );
}

/** The stream may have been cancelled. */
function close(run: () => void): void {
  try {
    run();
  } catch {
    // It is closed already.
  }
}

function reading(reader: WebStreams.ReadableStreamDefaultReader<unknown>) {
  return function (this: NodeReadable): void {
    reader.read().then(
      ({ done, value }) => this.push(done ? null : value),
      (error: unknown) => destroy(this, error),
    );
  };
}

export function readableFromWeb(stream: WebReadable, options: object = {}): NodeReadable {
  const reader = stream.getReader();
  return new Readable({
    ...options,
    read: reading(reader),
    destroy: (error, done) => ended(reader.cancel(error), error, done),
  });
}

function ended(work: Promise<unknown>, error: Error | null, done: Callback): void {
  work.then(
    () => done(error),
    (failed: Error) => done(error ?? failed),
  );
}

function writing(writer: WebStreams.WritableStreamDefaultWriter<unknown>) {
  return (chunk: unknown, _encoding: string, done: Callback): void => {
    writer.ready
      .then(() => writer.write(chunk))
      .then(
        () => done(),
        (error: Error) => done(error),
      );
  };
}

export function writableFromWeb(stream: WebWritable, options: object = {}): NodeWritable {
  const writer = stream.getWriter();
  let isClosed = false;
  return new Writable({
    ...options,
    write: writing(writer),
    final: (done) => {
      isClosed = true;
      ended(writer.close(), null, done);
    },
    destroy: (error, done) => (isClosed ? done(error) : ended(error ? writer.abort(error) : writer.close(), error, done)),
  });
}

export function writableToWeb(writable: NodeWritable): WebWritable {
  const { WritableStream } = web();
  return new WritableStream<unknown>({
    start(controller) {
      finished(writable, { readable: false }, (error) => void (error && controller.error(error)));
    },
    write: (chunk) =>
      new Promise((resolve, reject) => {
        writable.write(chunk, (error) => (error ? reject(error) : resolve()));
      }),
    abort: (reason) => destroy(writable, reason),
    close: () =>
      new Promise((resolve, reject) => {
        finished(writable, { readable: false }, (error) => (error ? reject(error) : resolve()));
        writable.end();
      }),
  });
}

export function duplexToWeb(duplex: NodeDuplex): Pair {
  return { readable: readableToWeb(duplex), writable: writableToWeb(duplex) };
}

export function duplexFromWeb({ readable, writable }: Pair, options: object = {}): NodeDuplex {
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  return new Duplex({
    ...options,
    read: reading(reader),
    write: writing(writer),
    final: (done) => ended(writer.close(), null, done),
    destroy: (error, done) => ended(Promise.allSettled([reader.cancel(error), writer.abort(error)]), error, done),
  });
}
