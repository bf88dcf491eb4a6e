/**
 * Inside the isolate: streams. The ponyfill follows the standard's algorithms; this file adds what Node adds to them.
 */
import { ReadableStream, TransformStream, WritableStream } from "web-streams-polyfill";
import { cloneAs, inspectAs } from "./idl.ts";

export {
  ByteLengthQueuingStrategy,
  CountQueuingStrategy,
  ReadableByteStreamController,
  ReadableStream,
  ReadableStreamBYOBReader,
  ReadableStreamBYOBRequest,
  ReadableStreamDefaultController,
  ReadableStreamDefaultReader,
  TransformStream,
  TransformStreamDefaultController,
  WritableStream,
  WritableStreamDefaultController,
  WritableStreamDefaultWriter,
} from "web-streams-polyfill";

interface Inner {
  _state: string;
  _readableStreamController: object;
  _backpressure: boolean;
}
const inner = (stream: object): Inner => stream as Inner;

for (const Class of [ReadableStream, TransformStream, WritableStream]) cloneAs<object>(Class);
inspectAs<ReadableStream>(ReadableStream, (self) => ({
  locked: self.locked,
  state: inner(self)._state,
  supportsBYOB: "_pendingPullIntos" in inner(self)._readableStreamController,
}));
inspectAs<WritableStream>(WritableStream, (self) => ({ locked: self.locked, state: inner(self)._state }));
inspectAs<TransformStream>(TransformStream, (self) => ({
  readable: self.readable,
  writable: self.writable,
  backpressure: inner(self)._backpressure,
}));
