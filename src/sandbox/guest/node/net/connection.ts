/**
 * Inside the isolate: one connection, which the host holds. The host reads ahead only as far as the plugin asks.
 * Untrusted side: the host checks every request against the grants.
 */
import { CONNECT_FAULTS } from "../../../../protocol/guest-surface/connect-faults.ts";
import { LIMITS } from "../../../../protocol/limits.ts";
import type { ConnectAddresses, ConnectOpened, ConnectPiece } from "../../../../protocol/messages/connect.ts";
import { turn } from "../../turn/mailbox.ts";
import { notifyHost, requestHost } from "../../turn/requests.ts";
import { bare } from "../../boot/primordials.ts";
import { Buffer } from "../buffer/buffer-class.ts";
import { nameOfAddress } from "./known-names.ts";

export interface Tls {
  readonly servername?: string | undefined;
  readonly alpn?: readonly string[] | undefined;
}

interface Reader {
  resolve(piece: ConnectPiece): void;
  reject(error: unknown): void;
}

let next = 1;

export class Connection {
  readonly #id = next++;
  /** The call that the outstanding read belongs to. */
  #owner = 0;
  #reading: Reader | undefined;
  #asked = 0;
  #isClosed = false;

  /** Rejects with an error that has one of Node's codes. */
  async open(host: string, port: number, tls?: Tls): Promise<ConnectOpened> {
    const secure = tls && bare({ servername: tls.servername, alpn: tls.alpn });
    const open = async (target: string): Promise<ConnectOpened> =>
      (await asked("connect.open", bare({ id: this.#id, host: target, port, tls: secure }))) as ConnectOpened;
    const name = nameOfAddress(host);
    if (name === undefined) return open(host);
    try {
      return await open(name);
    } catch (error) {
      // The grant may name the address after all.
      if ((error as { code?: unknown }).code !== "ERR_GRANT_MISSING") throw error;
      return open(host);
    }
  }

  async secure({ servername, alpn }: Tls): Promise<ConnectOpened> {
    this.#reading = undefined;
    return (await asked("connect.secure", bare({ id: this.#id, servername, alpn }))) as ConnectOpened;
  }

  /** What has arrived, or nothing more. One at a time. */
  read(): Promise<ConnectPiece> {
    const { promise, resolve, reject } = Promise.withResolvers<ConnectPiece>();
    this.#reading = { resolve, reject };
    this.#ask();
    return promise;
  }

  /** Done when the kernel has the bytes. One at a time. */
  async write(bytes: Uint8Array, isEnd: boolean): Promise<void> {
    // What comes back answers this call: a read that belongs to another one is asked for again.
    if (this.#reading && this.#owner !== turn.call) this.#ask();
    for (let at = 0; ; at += LIMITS.connect.writeBytes) {
      const piece = Buffer.from(bytes.subarray(at, at + LIMITS.connect.writeBytes)).toString("latin1");
      const isLast = at + LIMITS.connect.writeBytes >= bytes.length;
      const end = isLast && isEnd;
      await asked("connect.write", bare({ id: this.#id, bytes: piece, end }), LIMITS.connect.writeChars);
      if (isLast) return;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#reading = undefined;
    notifyHost("connect.close", bare({ id: this.#id }));
  }

  #ask(): void {
    this.#owner = turn.call;
    const number = ++this.#asked;
    asked("connect.read", bare({ id: this.#id })).then(
      (value) => {
        const piece = value as ConnectPiece;
        if (number === this.#asked && piece.superseded !== true) this.#take()?.resolve(piece);
      },
      (error: unknown) => {
        if (number === this.#asked) this.#take()?.reject(error);
      },
    );
  }

  #take(): Reader | undefined {
    const reading = this.#reading;
    this.#reading = undefined;
    return reading;
  }
}

export async function lookUp(host: string): Promise<ConnectAddresses["addresses"]> {
  return ((await asked("dns.lookup", bare({ host }))) as ConnectAddresses).addresses;
}

async function asked(service: string, args: object, limit?: number): Promise<unknown> {
  try {
    return await requestHost(service, args, limit, "kept");
  } catch (error) {
    throw withNodesCode(error as Error & { code: string });
  }
}

/** Programs look for Node's codes; the message stays the host's. */
function withNodesCode(error: Error & { code: string }): Error {
  if (error.code === "ERR_CONNECT_TIMEOUT") error.code = "ETIMEDOUT";
  if (error.code === "ERR_CONNECT_CLOSED") error.code = "ECONNRESET";
  if (error.code !== "ERR_CONNECT_FAILED") return error;
  for (const [code, words] of Object.entries(CONNECT_FAULTS)) if (error.message.endsWith(words)) error.code = code;
  return error;
}
