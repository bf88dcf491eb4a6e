/**
 * Inside the isolate: `stream`. The package readable-stream is Node's own code, made for use outside of Node; this file
 * adds what Node 24 has beyond it.
 */
import type { Duplex as NodeDuplex } from "node:stream";
import Stream from "readable-stream/lib/stream.js";
import * as adapters from "./web-adapters.ts";

const { Duplex, Readable, Writable } = Stream;

/** Node's of today. The package has that of Node 18. */
const HIGH_WATER_MARK = 64 * 1024;

Stream.setDefaultHighWaterMark(false, HIGH_WATER_MARK);
Object.assign(Readable, { fromWeb: adapters.readableFromWeb, toWeb: adapters.readableToWeb });
Object.assign(Writable, { fromWeb: adapters.writableFromWeb, toWeb: adapters.writableToWeb });
Object.assign(Duplex, { fromWeb: adapters.duplexFromWeb, toWeb: adapters.duplexToWeb });
Object.assign(Stream, { duplexPair, _isArrayBufferView: (value: unknown) => ArrayBuffer.isView(value) });

type Callback = (error?: Error | null) => void;

/** One side of a pair: it reads what was written to the other. */
class Side extends Duplex {
  other: Side | undefined;
  #wanted: Callback | undefined;

  override _read(): void {
    const resume = this.#wanted;
    this.#wanted = undefined;
    resume?.();
  }

  override _write(chunk: Uint8Array, _encoding: string, done: Callback): void {
    if (chunk.length === 0) return queueMicrotask(() => done());
    this.other!.push(chunk);
    this.other!.#wanted = done;
  }

  override _final(done: Callback): void {
    this.other!.on("end", done);
    this.other!.push(null);
  }
}

function duplexPair(options?: object): [NodeDuplex, NodeDuplex] {
  const [a, b] = [new Side(options), new Side(options)];
  [a.other, b.other] = [b, a];
  return [a, b];
}

export default Stream;
