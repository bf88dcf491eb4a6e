/**
 * Inside the isolate: `tls.TLSSocket`. The host makes the TLS connection and verifies the certificate against the
 * gateway's authorities; no option of a plugin weakens that, and keys never enter the cell.
 */
import { nodeError, refuse } from "../errors.ts";
import { nextTick } from "../next-tick.ts";
import type { ConnectOpened } from "../../../../protocol/messages/connect.ts";
import { isIP } from "./ip.ts";
import { Socket } from "./socket.ts";
import type { SocketOptions } from "./socket.ts";

const HOST = "the host holds the TLS connection";

export class TLSSocket extends Socket {
  readonly encrypted = true;
  authorized = false;
  authorizationError: Error | null = null;
  alpnProtocol: string | false | null = null;
  servername: string | false | undefined;
  ssl: object | null = {};
  #opened: ConnectOpened = {};
  #alpn: readonly string[] | undefined;

  constructor(socket?: unknown, options: SocketOptions = {}) {
    super(options);
    this.#alpn = protocolsOf(options["ALPNProtocols"]);
    const name = options["servername"];
    if (typeof name === "string" && name !== "") this.servername = name;
    if (socket !== undefined && socket !== null) this.#over(socket);
  }

  protected override open(options: SocketOptions): void {
    const target = this.starts(options);
    if (!target) return;
    this.opening(async (connection) => {
      this.#opened = await connection.open(target.host, target.port, { servername: this.servername || undefined, alpn: this.#alpn });
      this.#secured();
    });
  }

  /** A connection that has been plain becomes a TLS connection. */
  #over(socket: unknown): void {
    if (!(socket instanceof Socket)) {
      const error = nodeError(
        Error,
        "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM",
        `TLS over a stream is not available inside the sandbox: ${HOST}`,
      );
      nextTick(() => void this.destroy(error));
      return;
    }
    this.connecting = true;
    this.host = socket.host;
    ({ remotePort: this.remotePort, remoteAddress: this.remoteAddress, remoteFamily: this.remoteFamily } = socket);
    this.once("close", () => socket.destroy());
    socket.once("error", (error) => this.destroy(error));
    const begin = (): void => {
      const connection = socket.handOver();
      if (!connection) return void this.destroy(nodeError(Error, "ECONNRESET", "the socket is closed"));
      this.opening(async () => {
        this.#opened = await connection.secure({ servername: this.servername || socket.host, alpn: this.#alpn });
        this.#secured();
      }, connection);
    };
    if (socket.connecting) socket.once("connect", begin);
    else nextTick(begin);
  }

  #secured(): void {
    this.authorized = true;
    this.alpnProtocol = this.#opened.alpn ?? false;
    this.servername ??= isIP(this.host) === 0 ? this.host : false;
    // After `connect`, as in Node.
    this.once("ready", () => {
      this.emit("secure");
      this.emit("secureConnect");
    });
  }

  getProtocol(): string | null {
    return this.#opened.protocol ?? null;
  }
  getCipher(): object {
    const name = this.#opened.cipher;
    return { name, standardName: name, version: this.#opened.protocol };
  }
  getPeerCertificate(): object {
    return {};
  }
  getCertificate(): object {
    return {};
  }
  getPeerX509Certificate(): undefined {
    return undefined;
  }
  getX509Certificate(): undefined {
    return undefined;
  }
  getSession(): undefined {
    return undefined;
  }
  getTLSTicket(): undefined {
    return undefined;
  }
  getFinished(): undefined {
    return undefined;
  }
  getPeerFinished(): undefined {
    return undefined;
  }
  getEphemeralKeyInfo(): object {
    return {};
  }
  getSharedSigalgs(): string[] {
    return [];
  }
  isSessionReused(): boolean {
    return false;
  }
  setServername(name: string): void {
    this.servername = name;
  }
  setSession(): void {}
  setMaxSendFragment(): boolean {
    return true;
  }
  disableRenegotiation(): void {}
  enableTrace(): void {}
}

Object.assign(TLSSocket.prototype, {
  renegotiate: refuse("tls.TLSSocket.renegotiate", HOST),
  exportKeyingMaterial: refuse("tls.TLSSocket.exportKeyingMaterial", HOST),
});

/** Names, or Node's packed form. */
function protocolsOf(given: unknown): readonly string[] | undefined {
  if (Array.isArray(given)) return given.map(String);
  if (!(given instanceof Uint8Array)) return undefined;
  const names: string[] = [];
  for (let at = 0; at < given.length; at += given[at]! + 1) names.push(String.fromCharCode(...given.subarray(at + 1, at + 1 + given[at]!)));
  return names;
}
