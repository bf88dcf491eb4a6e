/**
 * Inside the isolate: `net.Socket`. The connection is the host's, which opens it if the operator granted its host and
 * port. Options that only tune a socket are taken and have no effect.
 */
// oxlint-disable promise/no-callback-in-promise -- a stream's methods call back
import { Buffer } from "../buffer/buffer-class.ts";
import { invalidArgType, nodeError } from "../errors.ts";
import { nextTick } from "../next-tick.ts";
import Stream from "../stream/stream.ts";
import type { ConnectPiece } from "../../../../protocol/messages/connect.ts";
import { Connection } from "./connection.ts";
import { isIP } from "./ip.ts";

export type Callback = (error?: Error | null) => void;
export type SocketOptions = Record<string, unknown>;

const { Duplex } = Stream;

export class Socket extends Duplex {
  connecting = false;
  bytesRead = 0;
  bytesWritten = 0;
  readonly localAddress = undefined;
  readonly localPort = undefined;
  remoteAddress: string | undefined;
  remotePort: number | undefined;
  remoteFamily: string | undefined;
  timeout = 0;
  /** Where it goes, for messages and TLS. */
  host = "";
  protected connection: Connection | undefined;
  #isReading = false;
  #wantsMore = false;
  #timer: unknown;

  constructor(options: SocketOptions = {}) {
    super({
      allowHalfOpen: options["allowHalfOpen"] === true,
      autoDestroy: true,
      // It is emitted below, with whether there was an error.
      emitClose: false,
      decodeStrings: true,
      ...(typeof options["highWaterMark"] === "number" && { highWaterMark: options["highWaterMark"] }),
    });
    if (options["fd"] !== undefined || options["handle"] !== undefined)
      throw nodeError(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "a socket of a descriptor is not available inside the sandbox");
    const signal = options["signal"] as AbortSignal | undefined;
    if (signal) {
      const abort = (): void => void this.destroy(nodeError(Error, "ABORT_ERR", "The operation was aborted"));
      if (signal.aborted) nextTick(abort);
      else signal.addEventListener("abort", abort, { once: true });
    }
  }

  get pending(): boolean {
    return this.connection === undefined || this.connecting;
  }

  get readyState(): string {
    if (this.connecting) return "opening";
    if (this.readable && this.writable) return "open";
    return this.readable ? "readOnly" : this.writable ? "writeOnly" : "closed";
  }

  get bufferSize(): number {
    return this.writableLength;
  }

  connect(...args: unknown[]): this {
    const { options, callback } = connectArguments(args);
    if (callback) this.once("connect", callback);
    this.open(options);
    return this;
  }

  /** Without TLS; TLSSocket has its own. */
  protected open(options: SocketOptions): void {
    const target = this.starts(options);
    if (target) this.opening(async (connection) => void (await connection.open(target.host, target.port)));
  }

  /** Undefined: the error follows. */
  protected starts(options: SocketOptions): { host: string; port: number } | undefined {
    const host = (options["host"] as string | undefined) || "localhost";
    if (typeof host !== "string") throw invalidArgType("options.host", "of type string", host);
    if (options["path"] !== undefined && options["path"] !== null) {
      const error = nodeError(Error, "ENOENT", "connections to sockets of the machine are not available inside the sandbox");
      nextTick(() => void this.destroy(error));
      return undefined;
    }
    const port = Number(options["port"]);
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw nodeError(RangeError, "ERR_SOCKET_BAD_PORT", `Port should be >= 0 and < 65536. Received ${String(options["port"])}.`);
    const name = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
    this.connecting = true;
    this.host = name;
    this.remotePort = port;
    const family = isIP(name);
    if (family !== 0) {
      this.remoteAddress = name;
      this.remoteFamily = `IPv${family}`;
    }
    if (typeof options["timeout"] === "number") this.setTimeout(options["timeout"]);
    return { host: name, port };
  }

  /** Runs what makes the connection, then lets bytes flow. */
  protected opening(open: (connection: Connection) => Promise<void>, existing?: Connection): void {
    const connection = (this.connection = existing ?? new Connection());
    this.connecting = true;
    open(connection).then(
      () => this.#opened(connection),
      (error: Error & { code?: string }) => {
        this.connecting = false;
        const { remotePort: port, remoteAddress: address } = this;
        this.destroy(Object.assign(error, { syscall: "connect", ...(port !== undefined && { port }), ...(address && { address }) }));
      },
    );
  }

  #opened(connection: Connection): void {
    if (this.destroyed) return connection.close();
    this.connecting = false;
    this.touch();
    this.emit("connect");
    this.emit("ready");
    if (this.#wantsMore) this._read();
  }

  /** Gives the connection away, to be a TLS connection. The socket stays as a shell. */
  handOver(): Connection | undefined {
    const { connection } = this;
    this.connection = undefined;
    return connection;
  }

  override _read(): void {
    const { connection } = this;
    this.#wantsMore = true;
    if (!connection || this.connecting || this.#isReading) return;
    this.#wantsMore = false;
    this.#isReading = true;
    connection.read().then(
      (piece) => this.#took(connection, piece),
      (error: Error) => {
        this.#isReading = false;
        if (this.connection === connection) this.destroy(error);
      },
    );
  }

  #took(connection: Connection, { bytes, end }: ConnectPiece): void {
    this.#isReading = false;
    if (this.destroyed || this.connection !== connection) return;
    this.touch();
    if (bytes !== undefined) {
      this.bytesRead += bytes.length;
      if (this.push(Buffer.from(bytes, "latin1"))) this._read();
      return;
    }
    if (end !== true) return this._read();
    this.push(null);
    // So that `end` comes without a reader, as in Node.
    this.read(0);
  }

  override _write(chunk: Uint8Array, _encoding: string, done: Callback): void {
    this.#send(() => chunk, false, done);
  }

  override _writev(chunks: { chunk: Uint8Array }[], done: Callback): void {
    this.#send(() => Buffer.concat(chunks.map(({ chunk }) => chunk)), false, done);
  }

  override _final(done: Callback): void {
    if (!this.connection) return done();
    this.#send(() => new Uint8Array(0), true, done);
  }

  #send(bytesOf: () => Uint8Array, isEnd: boolean, done: Callback): void {
    if (this.connecting) {
      this.once("connect", () => this.#send(bytesOf, isEnd, done));
      return;
    }
    const { connection } = this;
    if (!connection) return done(nodeError(Error, "EPIPE", "This socket is not connected"));
    const bytes = bytesOf();
    this.touch();
    connection.write(bytes, isEnd).then(
      () => {
        this.bytesWritten += bytes.length;
        this.touch();
        done();
      },
      // Both sides have ended it: there is nothing left to end.
      (error: Error) => (isEnd ? done() : done(error)),
    );
  }

  override _destroy(error: Error | null, done: Callback): void {
    this.connecting = false;
    this.#clear();
    this.connection?.close();
    this.connection = undefined;
    done(error);
    nextTick(() => this.emit("close", error !== null && error !== undefined));
  }

  setTimeout(ms: number, callback?: () => void): this {
    this.timeout = ms;
    if (callback && ms === 0) this.removeListener("timeout", callback);
    else if (callback) this.once("timeout", callback);
    this.touch();
    return this;
  }

  /** Something happened: the clock starts again. */
  protected touch(): void {
    this.#clear();
    if (this.timeout > 0 && !this.destroyed) this.#timer = setTimeout(() => this.emit("timeout"), this.timeout);
  }

  #clear(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer as number);
    this.#timer = undefined;
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  resetAndDestroy(): this {
    return this.destroy();
  }

  address(): object {
    return {};
  }

  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  setTypeOfService(): this {
    return this;
  }
  getTypeOfService(): number {
    return 0;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}

/** `(options, callback)`, `(port, host, callback)`, `(path, callback)`. */
export function connectArguments(args: readonly unknown[]): { options: SocketOptions; callback: (() => void) | undefined } {
  const last = args.at(-1);
  const callback = typeof last === "function" ? (last as () => void) : undefined;
  const [first, second] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  if (typeof first === "object" && first !== null) return { options: first as SocketOptions, callback };
  if (typeof first === "string" && !/^\d+$/.test(first)) return { options: { path: first }, callback };
  return { options: { port: first, ...(typeof second === "string" && { host: second }) }, callback };
}
