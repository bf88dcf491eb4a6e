/**
 * Inside the isolate: `http.ServerResponse`, what a plugin answers to a request on one of its routes. The body is kept
 * until it is complete; the gateway sends it.
 */
import { Buffer } from "../buffer/buffer-class.ts";
import { STATUS_CODES } from "./http-tables.ts";
import type { IncomingMessage } from "./incoming-message.ts";
import { OutgoingMessage } from "./outgoing-message.ts";
import type { HeaderValue } from "./outgoing-message.ts";

type HeaderTable = Readonly<Record<string, HeaderValue>> | readonly HeaderValue[];

export class ServerResponse extends OutgoingMessage {
  statusCode = 200;
  statusMessage = "";
  readonly req: IncomingMessage;
  readonly socket: unknown;

  constructor(req: IncomingMessage) {
    super();
    this.req = req;
    this.socket = req.socket;
  }

  writeHead(status: number, reason?: string | HeaderTable, headers?: HeaderTable): this {
    this.statusCode = status;
    const table = typeof reason === "string" ? headers : reason;
    if (typeof reason === "string") this.statusMessage = reason;
    if (Array.isArray(table))
      for (let at = 0; at + 1 < table.length; at += 2) this.appendHeader(String(table[at]), table[at + 1] as string);
    else for (const [name, value] of Object.entries(table ?? {})) this.setHeader(name, value);
    this.headersSent = true;
    return this;
  }

  override _write(chunk: Uint8Array, encoding: string, done: (error?: Error | null) => void): void {
    this.headersSent = true;
    super._write(chunk, encoding, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.headersSent = this.finished = true;
    done();
  }

  override flushHeaders(): void {
    this.headersSent = true;
  }

  writeContinue(): void {}

  assignSocket(): void {}

  /** As the host takes it: texts as they are, other bytes in base64. */
  answer(): object {
    const bytes = Buffer.from(this.body() ?? new Uint8Array());
    const text = bytes.toString("utf8");
    const isText = Buffer.from(text, "utf8").equals(bytes);
    const headers = Object.fromEntries(
      Object.entries(this.getHeaders()).map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : String(value)]),
    );
    return {
      handled: true,
      status: this.statusCode,
      statusText: this.statusMessage || STATUS_CODES[this.statusCode] || "",
      headers,
      ...(isText ? { body: text } : { body: bytes.toString("base64"), encoding: "base64" }),
    };
  }
}
