/**
 * Trusted side: the address where a debugger connects: HTTP and WebSocket on the loopback interface. A web page must not
 * get in: it can reach loopback addresses through the developer's browser. So `Host` must be exactly this address (a
 * page can point its own name here), `Origin` must be missing or DevTools' own, and the WebSocket's path is secret.
 * Other users of this machine can read the path at /json/list, as with `node --inspect`.
 */
import { randomBytes } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import { CreelError } from "../../protocol/errors.ts";
import { LIMITS } from "../../protocol/limits.ts";

const LOOPBACK = "127.0.0.1";
const DEVTOOLS = "devtools://devtools";
/** Close code of WebSocket: try again later. */
const TRY_LATER = 1013;

export interface DoorOptions {
  /** 0: any free port. Undefined: the usual one, or any if that is taken. */
  readonly port: number | undefined;
  /** The plugin's id, as debuggers show it. */
  readonly title: string;
  /** A debugger has connected. Only one is let in at a time. */
  connected(client: Client): void;
}

/** A debugger. */
export interface Client {
  send(message: string): void;
  onMessage(listener: (message: string) => void): void;
  onEnd(listener: () => void): void;
}

/** Where debuggers connect. */
export interface InspectAddress {
  /** The id of the plugin. */
  readonly plugin: string;
  readonly host: string;
  readonly port: number;
  /** ws:// with the secret path. */
  readonly url: string;
  /** To open in Chrome or Chromium. */
  readonly devtools: string;
  /** Lets pages of one more origin in: a browser that serves its own DevTools. */
  admit(origin: string): void;
}

export class Door {
  readonly #options: DoorOptions;
  readonly #path = `/${randomBytes(16).toString("hex")}`;
  readonly #server: Server = process.getBuiltinModule("node:http").createServer((request, response) => this.#serve(request, response));
  readonly #origins = new Set([DEVTOOLS]);
  #sockets: WebSocketServer | undefined;
  #client: WebSocket | undefined;

  constructor(options: DoorOptions) {
    this.#options = options;
    this.#server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => this.#upgrade(request, socket, head));
  }

  async open(): Promise<InspectAddress> {
    // Loaded only here: a host that is not inspected has no use for it.
    const { WebSocketServer: Sockets } = await import("ws");
    this.#sockets = new Sockets({ noServer: true, maxPayload: LIMITS.inspect.clientBytes, perMessageDeflate: false });
    const { port } = this.#options;
    try {
      await this.#listen(port ?? LIMITS.inspect.port);
    } catch (error) {
      const detail = (error as Error).message;
      if (port !== undefined) throw new CreelError("ERR_INSPECT_PORT", { port, detail });
      await this.#listen(0);
    }
    return this.address;
  }

  get address(): InspectAddress {
    const { port } = this.#server.address() as AddressInfo;
    const place = `${LOOPBACK}:${port}${this.#path}`;
    return {
      plugin: this.#options.title,
      host: LOOPBACK,
      port,
      url: `ws://${place}`,
      devtools: `devtools://devtools/bundled/js_app.html?experiments=true&v8only=true&ws=${place}`,
      admit: (origin) => void this.#origins.add(origin),
    };
  }

  close(): void {
    this.#client?.terminate();
    this.#sockets?.close();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, LOOPBACK, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
  }

  /** SECURITY: a page in the developer's browser gets neither the list nor a session. test/host/inspect/door.test.ts */
  #admits({ headers }: IncomingMessage): boolean {
    const { port } = this.address;
    const isHost = headers.host === `${LOOPBACK}:${port}` || headers.host === `localhost:${port}`;
    const { origin } = headers;
    return isHost && (origin === undefined || this.#origins.has(origin));
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#admits(request)) return void response.writeHead(403).end();
    const answer = request.method === "GET" ? this.#answer(request.url ?? "") : undefined;
    if (answer === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "application/json; charset=UTF-8", "cache-control": "no-store" }).end(JSON.stringify(answer));
  }

  #answer(url: string): unknown {
    if (url === "/json/version") return { Browser: "creel", "Protocol-Version": "1.3" };
    if (url !== "/json" && url !== "/json/list") return undefined;
    const { devtools, url: webSocketDebuggerUrl } = this.address;
    const { title } = this.#options;
    return [
      {
        description: "a plugin in Creel's sandbox",
        devtoolsFrontendUrl: devtools,
        id: this.#path.slice(1),
        title,
        type: "node",
        url: `creel:plugin/${title}`,
        webSocketDebuggerUrl,
      },
    ];
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (!this.#admits(request) || request.url !== this.#path) return void socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n");
    this.#sockets!.handleUpgrade(request, socket, head, (client) => this.#connect(client));
  }

  #connect(client: WebSocket): void {
    client.on("error", () => client.terminate());
    if (this.#client) return client.close(TRY_LATER, "another debugger is connected");
    this.#client = client;
    // Before the listeners of the session: a debugger that connects from them is let in.
    client.on("close", () => {
      this.#client = undefined;
    });
    this.#options.connected({
      send: (message) => client.readyState === client.OPEN && client.send(message),
      onMessage: (listener) => void client.on("message", (data: Buffer, isBinary) => isBinary || listener(data.toString())),
      onEnd: (listener) => void client.on("close", listener),
    });
  }
}
