/**
 * Inside the isolate: a request with a connection of its own (`createConnection`), as `ws` and proxy agents make them. It
 * needs a connect grant. HTTP is spoken in the cell, so the host adds no secrets and follows nothing.
 */
import { Buffer } from "../buffer/buffer-class.ts";
import { nodeError } from "../errors.ts";
import { nextTick } from "../next-tick.ts";
import type { Socket } from "../net/socket.ts";
import type { Agent } from "./agent.ts";
import { IncomingMessage } from "./incoming-message.ts";
import { OutgoingMessage } from "./outgoing-message.ts";
import { targetOf } from "./request-options.ts";
import type { RequestOptions } from "./request-options.ts";
import { ResponseParser } from "./response-parser.ts";
import type { ResponseHead } from "./response-parser.ts";

type Callback = (error?: Error | null) => void;
type CreateConnection = (options: RequestOptions, done: (error: Error | null, socket?: Socket) => void) => Socket | undefined;

export class WireRequest extends OutgoingMessage {
  readonly method: string;
  readonly path: string;
  readonly host: string;
  readonly protocol: string;
  readonly agent: unknown;
  readonly reusedSocket = false;
  aborted = false;
  res: IncomingMessage | undefined;
  socket: Socket | undefined;
  #connected: (() => void)[] = [];
  #isDone = false;

  constructor(usual: Agent, options: RequestOptions, callback: unknown) {
    super({ autoDestroy: false, emitClose: true });
    const { createConnection, ...rest } = options;
    const target = targetOf(rest, usual);
    ({ method: this.method, path: this.path, host: this.host, protocol: this.protocol, agent: this.agent } = target);
    for (const [name, value] of target.headers) this.setHeader(name, value);
    if (typeof callback === "function") this.once("response", callback as () => void);
    const port = Number(options["port"] || options["defaultPort"] || usual.defaultPort);
    let isGiven = false;
    const given = (error: Error | null, socket?: Socket): void => {
      if (isGiven) return;
      isGiven = true;
      if (error || !socket) this.destroy(error ?? nodeError(Error, "ECONNRESET", "socket hang up"));
      else this.#over(socket);
    };
    const made = (createConnection as CreateConnection)({ ...options, host: target.host, port }, given);
    if (made) given(null, made);
    if (target.timeout !== undefined) this.setTimeout(target.timeout);
  }

  get connection(): Socket | undefined {
    return this.socket;
  }

  #over(socket: Socket): void {
    this.socket = socket;
    const parser = new ResponseParser(
      {
        onHead: (head) => this.#head(head, socket),
        onBody: (chunk) => void this.res?.push(Buffer.from(chunk)),
        onEnd: () => this.#end(),
      },
      this.method,
    );
    const data = (chunk: Uint8Array): void => {
      const rest = attempt(() => parser.push(chunk));
      if (!rest || !parser.isOver) return;
      quiet();
      if (this.res?.statusCode === 101) this.#upgrade(socket, rest);
    };
    const ended = (): void => {
      attempt(() => parser.end());
    };
    const failed = (error: Error): void => void this.destroy(error);
    const closed = (): void => {
      if (!this.#isDone && !this.destroyed) this.destroy(nodeError(Error, "ECONNRESET", "socket hang up"));
    };
    const attempt = <T>(work: () => T): T | undefined => {
      try {
        return work();
      } catch (error) {
        this.destroy(error as Error);
        return undefined;
      }
    };
    const quiet = (): void => {
      socket.off("data", data);
      socket.off("end", ended);
      socket.off("error", failed);
      socket.off("close", closed);
    };
    socket.on("data", data);
    socket.on("end", ended);
    socket.on("error", failed);
    socket.on("close", closed);
    nextTick(() => {
      if (this.destroyed) return;
      this.emit("socket", socket);
      for (const run of this.#connected.splice(0)) run();
    });
  }

  #head({ status, statusText, rawHeaders }: ResponseHead, socket: Socket): boolean {
    const message = new IncomingMessage(socket);
    message.statusCode = status;
    message.statusMessage = statusText;
    message.rawHeaders = [...rawHeaders];
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const [name, value] = [rawHeaders[at]!.toLowerCase(), rawHeaders[at + 1]!];
      const before = message.headers[name];
      if (name === "set-cookie") ((message.headers[name] ??= []) as string[]).push(value);
      else message.headers[name] = before === undefined ? value : `${String(before)}, ${value}`;
    }
    message._read = (): void => {};
    message.req = this;
    this.res = message;
    if (status === 101) return true;
    if (!this.emit("response", message)) message.resume();
    return false;
  }

  #upgrade(socket: Socket, rest: Uint8Array): void {
    this.#isDone = true;
    const message = this.res!;
    message.complete = true;
    // No listener takes the connection over.
    if (!this.emit("upgrade", message, socket, Buffer.from(rest))) socket.destroy();
    message.push(null);
    super.destroy();
  }

  #end(): void {
    this.#isDone = true;
    const message = this.res!;
    message.complete = true;
    message.push(null);
    this.socket?.end();
    message.once("close", () => super.destroy());
  }

  override _final(done: Callback): void {
    this.headersSent = true;
    this.finished = true;
    const body = this.body();
    if (body && !this.hasHeader("content-length")) this.#lines.push(`Content-Length: ${body.length}`);
    if (!this.hasHeader("connection")) this.#lines.push("Connection: close");
    const names = this.getRawHeaderNames();
    const lines = names.flatMap((name) => [this.getHeader(name)!].flat().map((value) => `${name}: ${String(value)}`));
    const head = `${this.method} ${this.path} HTTP/1.1\r\n${[...lines, ...this.#lines].join("\r\n")}\r\n\r\n`;
    const send = (): void => {
      this.socket!.write(Buffer.from(head, "latin1"));
      if (body) this.socket!.write(body);
    };
    if (this.socket) send();
    else this.#connected.push(send);
    done();
  }

  readonly #lines: string[] = [];

  setTimeout(ms: number, callback?: () => void): this {
    if (callback) this.once("timeout", callback);
    const set = (): void => void this.socket?.setTimeout(ms, () => this.emit("timeout"));
    if (this.socket) set();
    else this.#connected.push(set);
    return this;
  }

  setNoDelay(): void {}
  setSocketKeepAlive(): void {}

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    nextTick(() => this.emit("abort"));
    this.destroy();
  }

  override destroy(error?: Error): this {
    if (this.destroyed) return this;
    if (this.res && !this.res.complete) this.res.destroy(error);
    return super.destroy(error ?? (this.res ? undefined : nodeError(Error, "ECONNRESET", "socket hang up")));
  }

  override _destroy(error: Error | null, done: Callback): void {
    if (!this.#isDone) this.socket?.destroy();
    done(error);
  }
}
