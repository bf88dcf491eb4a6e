/**
 * Inside the isolate: `WebSocket`, over a connection to a host and port that the operator granted (`connect`). The
 * protocol is spoken in the cell; the host makes the TLS of `wss:` and sees bytes only.
 */
import { Buffer } from "../../node/buffer/buffer-class.ts";
import cryptoModule from "../../node/crypto/crypto.ts";
import { Agent, SecureAgent } from "../../node/http/agent.ts";
import { WireRequest } from "../../node/http/wire-request.ts";
import net from "../../node/net/net.ts";
import tls from "../../node/net/tls.ts";
import type { Socket } from "../../node/net/socket.ts";
import { crypto } from "../crypto.ts";
import { DOMException } from "../dom-exception.ts";
import { TextDecoder } from "../encoding.ts";
import { dispatch, Event, EventTarget, handlerOf, setHandler } from "../events.ts";
import { constants, expose } from "../idl.ts";
import { frame, FrameReader, OPCODE, ProtocolError } from "./frames.ts";
import { CloseEvent, MessageEvent } from "./message-events.ts";

const STATE = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 } as const;
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/** How long the server may take to answer a close. */
const CLOSE_MS = 3_000;
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;

interface Options {
  readonly protocols?: string | readonly string[];
  readonly headers?: Record<string, string>;
}

interface Hash {
  update(text: string): Hash;
  digest(encoding: string): string;
}

export class WebSocket extends EventTarget {
  readonly #url: URL;
  readonly #reader = new FrameReader((opcode, payload) => this.#received(opcode, payload));
  #state: number = STATE.CONNECTING;
  #socket: Socket | undefined;
  #request: WireRequest | undefined;
  #protocol = "";
  #binaryType: "blob" | "arraybuffer" = "blob";
  #buffered = 0;
  #close: { code: number; reason: string } | undefined;
  #isClosing = false;

  constructor(url: unknown, given: string | readonly string[] | Options = []) {
    super();
    const options: Options = typeof given === "string" || Array.isArray(given) ? { protocols: given as string } : (given as Options);
    const protocols = [options.protocols ?? []].flat();
    this.#url = target(url);
    if (protocols.some((one) => !TOKEN.test(one)) || new Set(protocols).size < protocols.length)
      throw new DOMException("Invalid Sec-WebSocket-Protocol value", "SyntaxError");
    this.#connect(protocols, options.headers ?? {});
  }

  #connect(protocols: readonly string[], headers: Record<string, string>): void {
    const { protocol, hostname, port, pathname, search } = this.#url;
    const isSecure = protocol === "wss:";
    const key = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("base64");
    const request = new WireRequest(
      isSecure ? new SecureAgent() : new Agent(),
      {
        hostname,
        port: port === "" ? undefined : Number(port),
        path: `${pathname}${search}`,
        headers: {
          ...headers,
          Connection: "Upgrade",
          Upgrade: "websocket",
          "Sec-WebSocket-Version": "13",
          "Sec-WebSocket-Key": key,
          ...(protocols.length > 0 && { "Sec-WebSocket-Protocol": protocols.join(", ") }),
        },
        createConnection: (where: { host: string; port: number }) => (isSecure ? tls : net).connect({ host: where.host, port: where.port }),
      },
      undefined,
    );
    this.#request = request;
    request.on("error", (error: Error) => this.#failed(error));
    request.on("response", (response: { statusCode: number; destroy(): void }) => {
      response.destroy();
      this.#failed(new Error(`the server answered with ${response.statusCode}, not with a WebSocket`));
    });
    request.on("upgrade", (response: { headers: Record<string, string | undefined> }, socket: Socket, head: Uint8Array) => {
      const { headers: got } = response;
      const chosen = got["sec-websocket-protocol"];
      const { createHash } = cryptoModule as unknown as { createHash: (this: void, name: string) => Hash };
      const isValid =
        got["sec-websocket-accept"] ===
          createHash("sha1")
            .update(key + GUID)
            .digest("base64") &&
        got["upgrade"]?.toLowerCase() === "websocket" &&
        got["sec-websocket-extensions"] === undefined &&
        (chosen === undefined || protocols.includes(chosen));
      if (!isValid || this.#state !== STATE.CONNECTING) {
        socket.destroy();
        return this.#failed(new Error("the server's handshake is not valid"));
      }
      this.#protocol = chosen ?? "";
      this.#opened(socket, head);
    });
    request.end();
  }

  #opened(socket: Socket, head: Uint8Array): void {
    this.#socket = socket;
    this.#state = STATE.OPEN;
    socket.setTimeout(0);
    socket.on("data", (chunk: Uint8Array) => this.#push(chunk));
    socket.on("error", (error: Error) => this.#failed(error));
    socket.on("close", () => this.#closed());
    dispatch(this, new Event("open"), true);
    if (head.length > 0) this.#push(head);
  }

  #push(chunk: Uint8Array): void {
    try {
      if (this.#state !== STATE.CLOSED) this.#reader.push(chunk);
    } catch (error) {
      if (error instanceof ProtocolError) this.#shake(error.closeCode, error.message);
      this.#failed(error as Error);
    }
  }

  #received(opcode: number, payload: Uint8Array): void {
    switch (opcode) {
      case OPCODE.text:
        return this.#message(decoded(payload));
      case OPCODE.binary: {
        const bytes = new Uint8Array(payload);
        return this.#message(this.#binaryType === "arraybuffer" ? bytes.buffer : new Blob([bytes]));
      }
      case OPCODE.ping:
        return this.#write(frame(OPCODE.pong, payload));
      case OPCODE.pong:
        return;
      case OPCODE.close: {
        const code = payload.length >= 2 ? payload[0]! * 256 + payload[1]! : 1005;
        this.#close = { code, reason: payload.length > 2 ? decoded(payload.subarray(2)) : "" };
        if (!this.#isClosing) this.#shake(code === 1005 ? undefined : code, "");
        this.#state = STATE.CLOSING;
        this.#socket?.end();
        return;
      }
      default:
        throw new ProtocolError(1002, "a frame of an unknown kind");
    }
  }

  #message(data: unknown): void {
    if (this.#state === STATE.OPEN) dispatch(this, new MessageEvent("message", { data, origin: this.#url.origin }), true);
  }

  #write(bytes: Uint8Array, size = 0): void {
    this.#buffered += size;
    this.#socket?.write(bytes, () => (this.#buffered -= size));
  }

  send(data: unknown): void {
    if (this.#state === STATE.CONNECTING) throw new DOMException("Sent before connected.", "InvalidStateError");
    if (Object.prototype.toString.call(data) === "[object Blob]") {
      void (data as Blob).arrayBuffer().then((buffer) => this.#send(OPCODE.binary, new Uint8Array(buffer)));
      return;
    }
    if (ArrayBuffer.isView(data)) this.#send(OPCODE.binary, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    else if (data instanceof ArrayBuffer) this.#send(OPCODE.binary, new Uint8Array(data));
    else this.#send(OPCODE.text, Buffer.from(String(data).toWellFormed()));
  }

  #send(opcode: number, payload: Uint8Array): void {
    if (this.#state === STATE.OPEN) this.#write(frame(opcode, payload), payload.length);
    else this.#buffered += payload.length;
  }

  close(code?: number, reason = ""): void {
    if (code !== undefined && code !== 1000 && !(code >= 3000 && code <= 4999))
      throw new DOMException("invalid code", "InvalidAccessError");
    if (Buffer.from(reason).length > 123) throw new DOMException("Reason must be less than 123 bytes", "SyntaxError");
    if (this.#state >= STATE.CLOSING) return;
    const wasOpen = this.#state === STATE.OPEN;
    this.#state = STATE.CLOSING;
    if (!wasOpen) {
      this.#request?.destroy(new Error("closed before the connection was made"));
      return;
    }
    this.#shake(code, reason);
    setTimeout(() => this.#socket?.destroy(), CLOSE_MS);
  }

  #shake(code: number | undefined, reason: string): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    const payload = code === undefined ? new Uint8Array(0) : Buffer.concat([new Uint8Array([code >> 8, code & 255]), Buffer.from(reason)]);
    this.#write(frame(OPCODE.close, payload));
  }

  #failed(error: Error): void {
    if (this.#state === STATE.CLOSED) return;
    const event = new Event("error");
    Object.defineProperties(event, { message: { value: error.message, enumerable: true }, error: { value: error, enumerable: true } });
    this.#state = STATE.CLOSED;
    this.#socket?.destroy();
    dispatch(this, event, true);
    dispatch(this, new CloseEvent("close", { code: 1006, wasClean: false }), true);
  }

  #closed(): void {
    if (this.#state === STATE.CLOSED) return;
    this.#state = STATE.CLOSED;
    const { code, reason } = this.#close ?? { code: 1006, reason: "" };
    dispatch(this, new CloseEvent("close", { code, reason, wasClean: this.#close !== undefined }), true);
  }

  get url(): string {
    return this.#url.href;
  }
  get readyState(): number {
    return this.#state;
  }
  get bufferedAmount(): number {
    return this.#buffered;
  }
  get extensions(): string {
    return "";
  }
  get protocol(): string {
    return this.#protocol;
  }
  get binaryType(): string {
    return this.#binaryType;
  }
  set binaryType(type: string) {
    if (type === "blob" || type === "arraybuffer") this.#binaryType = type;
  }
}

for (const type of ["open", "message", "error", "close"])
  Object.defineProperty(WebSocket.prototype, `on${type}`, {
    get(this: WebSocket) {
      return handlerOf(this, type);
    },
    set(this: WebSocket, handler: unknown) {
      setHandler(this, type, handler);
    },
    configurable: true,
    enumerable: true,
  });
expose(WebSocket);
constants([WebSocket, WebSocket.prototype], STATE);

/** `http:` means `ws:`, as in browsers of today. */
function target(url: unknown): URL {
  const parsed = URL.parse(String(url));
  if (parsed?.protocol === "http:") parsed.protocol = "ws:";
  if (parsed?.protocol === "https:") parsed.protocol = "wss:";
  if (!parsed || !/^wss?:$/.test(parsed.protocol) || parsed.hash !== "")
    throw new DOMException(`Invalid URL for a WebSocket: ${String(url)}`, "SyntaxError");
  return parsed;
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ProtocolError(1007, "the text is not UTF-8");
  }
}
