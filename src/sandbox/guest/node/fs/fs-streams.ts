/**
 * Inside the isolate: `fs.createReadStream` and `fs.createWriteStream`, made when a plugin first uses one. Reading is a
 * look into the cell's memory; a write is done, and the next one begins, when the host has stored it. As in Node these
 * are functions and not classes: old packages call them on objects of their own, and replace their `open`.
 */
import type { Readable as NodeReadable, Writable as NodeWritable } from "node:stream";
import { checkFunction, invalidArgType, outOfRange } from "../errors.ts";
import Stream from "../stream/stream.ts";
import { optionsOf, pathOfArgument } from "./fs-arguments.ts";
import { bufferClass } from "./fs-content.ts";
import { FileHandle } from "./fs-handle.ts";
import fs from "./fs.ts";

type Callback<T = unknown> = (error?: Error | null, value?: T) => void;
type Fields = Record<string, unknown>;

/** Of `fs`, or what the plugin passes in its place. */
interface FileFunctions {
  open(path: unknown, flags: unknown, mode: unknown, done: Callback<number>): void;
  read(fd: number, into: Uint8Array, offset: number, length: number, position: number | undefined, done: Callback<number>): void;
  write(fd: number, from: Uint8Array, offset: number, length: number, position: number | undefined, done: Callback<number>): void;
  close(fd: number, done: Callback): void;
}

interface FileStream {
  fd: number | null;
  path?: unknown;
  flags?: unknown;
  mode?: unknown;
  start?: number | undefined;
  pos?: number | undefined;
  open(): void;
  [FUNCTIONS]: FileFunctions;
  /** While it reads or writes; called when that is done. */
  [BUSY]?: (() => void) | true | undefined;
}

interface Reading extends NodeReadable, FileStream {
  end: number;
  bytesRead: number;
}

interface Writing extends Omit<NodeWritable, "end">, FileStream {
  bytesWritten: number;
  end(): void;
}

const FUNCTIONS = Symbol("fs");
const BUSY = Symbol("busy");
const CHUNK = 64 * 1024;

const { Readable, Writable } = Stream as unknown as Record<"Readable" | "Writable", { prototype: object }>;
const call = (base: unknown, self: unknown, options: Fields): unknown => Reflect.apply(base as () => unknown, self, [options]);

function checkPlace(value: unknown, name: string): asserts value is number {
  if (typeof value !== "number") throw invalidArgType(name, "of type number", value);
  if (!Number.isInteger(value)) throw outOfRange(name, "an integer", value);
  if (value < 0 || value > Number.MAX_SAFE_INTEGER) throw outOfRange(name, `>= 0 && <= ${Number.MAX_SAFE_INTEGER}`, value);
}

/** What both have. Returns the options for the stream below. */
function prepare(stream: FileStream, path: unknown, given: unknown, flags: string): Fields {
  const options = { ...optionsOf(given) };
  const { fd } = options;
  stream[FUNCTIONS] = (options["fs"] ?? fs) as FileFunctions;
  for (const name of ["open", flags === "r" ? "read" : "write", "close"] as const)
    checkFunction(stream[FUNCTIONS][name], `options.fs.${name}`);
  if (fd === undefined || fd === null) {
    pathOfArgument(path);
    Object.assign(stream, { fd: null, path, flags: options["flags"] ?? flags, mode: options["mode"] ?? 0o666 });
  } else {
    const number = fd instanceof FileHandle ? fd.fd : fd;
    checkPlace(number, "fd");
    stream.fd = number;
  }
  const { start } = options;
  if (start !== undefined) checkPlace(start, "start");
  stream.start = stream.pos = start;
  options["autoDestroy"] = options["autoClose"] ?? true;
  return options;
}

export function ReadStream(this: unknown, path: unknown, given?: unknown): unknown {
  if (!(this instanceof ReadStream)) return createReadStream(path, given);
  const stream = this as unknown as Reading;
  const options = prepare(stream, path, given, "r");
  const end = options["end"] ?? Infinity;
  if (end !== Infinity) {
    checkPlace(end, "end");
    if (stream.start !== undefined && stream.start > end) throw outOfRange("start", `<= "end" (here: ${end})`, stream.start);
  }
  Object.assign(stream, { end, bytesRead: 0 });
  call(Readable, stream, { highWaterMark: CHUNK, ...options });
  return stream;
}

export function WriteStream(this: unknown, path: unknown, given?: unknown): unknown {
  if (!(this instanceof WriteStream)) return createWriteStream(path, given);
  const stream = this as unknown as Writing;
  const { encoding, ...options } = prepare(stream, path, given, "w");
  stream.bytesWritten = 0;
  call(Writable, stream, { ...options, decodeStrings: true });
  if (typeof encoding === "string" && encoding !== "buffer") (this as unknown as NodeWritable).setDefaultEncoding(encoding as "utf8");
  return stream;
}

export function createReadStream(path: unknown, options?: unknown): unknown {
  return Reflect.construct(ReadStream, [path, options]);
}

export function createWriteStream(path: unknown, options?: unknown): unknown {
  return Reflect.construct(WriteStream, [path, options]);
}

function openFile(this: FileStream & NodeReadable): void {
  this[FUNCTIONS].open(this.path, this.flags, this.mode, (error, fd) => {
    if (error) this.emit("error", error);
    else {
      this.fd = fd!;
      this.emit("open", fd);
      this.emit("ready");
    }
  });
}

/** It opens by its `open`, which a package may have replaced, and which tells by an event what came of it. */
function construct(this: FileStream & NodeReadable, done: Callback): void {
  if (this.fd !== null) return done();
  const own = Object.getOwnPropertyDescriptor(this, "emit");
  const emit = this.emit.bind(this);
  const restore = (): void => void (own ? Object.defineProperty(this, "emit", own) : delete (this as { emit?: unknown }).emit);
  this.emit = (event: string | symbol, ...args: unknown[]): boolean => {
    if (event !== "open" && event !== "error") return emit(event, ...args);
    restore();
    done(event === "error" ? (args[0] as Error) : null);
    return event === "error" || emit(event, ...args);
  };
  this.open();
}

/** The file is closed when nothing is under way in it. */
function destroy(this: FileStream, error: Error | null, done: Callback): void {
  const close = (): void => {
    const { fd } = this;
    this.fd = null;
    if (fd === null) return done(error);
    this[FUNCTIONS].close(fd, (failed) => done(error ?? failed));
  };
  if (this[BUSY]) this[BUSY] = close;
  else close();
}

/** Whether it was destroyed meanwhile. */
function rests(stream: FileStream): boolean {
  const waiting = stream[BUSY];
  stream[BUSY] = undefined;
  if (typeof waiting !== "function") return false;
  waiting();
  return true;
}

function read(this: Reading, size: number): void {
  const length = Math.min(size, this.end - (this.pos ?? this.bytesRead) + 1);
  if (length <= 0) return void this.push(null);
  const buffer = bufferClass().allocUnsafeSlow(length);
  this[BUSY] = true;
  this[FUNCTIONS].read(this.fd!, buffer, 0, length, this.pos, (error, count = 0) => {
    if (rests(this)) return;
    if (error) {
      this.destroy(error);
      return;
    }
    this.bytesRead += count;
    if (this.pos !== undefined) this.pos += count;
    // What was not filled is not kept.
    this.push(count === 0 ? null : count === length ? buffer : bufferClass().from(buffer.subarray(0, count)));
  });
}

function write(this: Writing, data: Uint8Array, _encoding: unknown, done: Callback): void {
  this[BUSY] = true;
  this[FUNCTIONS].write(this.fd!, data, 0, data.length, this.pos, (error, count = 0) => {
    const isOver = rests(this);
    if (error || isOver) return done(error ?? new Error("the stream was destroyed"));
    this.bytesWritten += count;
    if (this.pos !== undefined) this.pos += count;
    if (count < data.length) write.call(this, data.subarray(count), _encoding, done);
    else done();
  });
}

/** What was written while an earlier write was stored, at once. */
function writeTogether(this: Writing, chunks: readonly { readonly chunk: Uint8Array }[], done: Callback): void {
  write.call(this, bufferClass().concat(chunks.map(({ chunk }) => chunk)), "buffer", done);
}

function closeReading(this: Reading, done?: Callback): void {
  if (done && this.closed) queueMicrotask(() => done());
  else if (done) this.once("close", done);
  this.destroy();
}

function closeWriting(this: Writing & NodeWritable & { autoClose: boolean }, done?: Callback): void {
  if (done) {
    if (this.closed) return queueMicrotask(() => done());
    this.once("close", done);
  }
  // It does not destroy itself at its end.
  if (!this.autoClose) this.once("finish", () => void this.destroy());
  this.end();
}

function pending(this: FileStream): boolean {
  return this.fd === null;
}

const shared = { open: openFile, _construct: construct, _destroy: destroy };

function extend(made: { prototype: object }, base: { prototype: object }, state: string, own: object): void {
  Object.setPrototypeOf(made, base);
  Object.setPrototypeOf(made.prototype, base.prototype);
  for (const [name, value] of Object.entries({ ...shared, ...own }))
    Object.defineProperty(made.prototype, name, { value, writable: true, configurable: true });
  Object.defineProperties(made.prototype, {
    pending: { get: pending, configurable: true },
    autoClose: {
      get(this: Record<string, { autoDestroy: boolean }>) {
        return this[state]!.autoDestroy;
      },
      set(this: Record<string, { autoDestroy: boolean }>, value: boolean) {
        this[state]!.autoDestroy = value;
      },
      configurable: true,
    },
  });
}

extend(ReadStream, Readable, "_readableState", { _read: read, close: closeReading });
extend(WriteStream, Writable, "_writableState", { _write: write, _writev: writeTogether, close: closeWriting, destroySoon: closeSoon });

function closeSoon(this: Writing): void {
  this.end();
}
