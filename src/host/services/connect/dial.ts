/**
 * Trusted side: makes a socket to an address that was checked, and makes it a TLS socket. Nothing here reads the
 * environment: certificates are always verified, and no option of a plugin's reaches Node's functions but names.
 */
import { connect } from "node:net";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Address } from "../fetch/addresses.ts";
import type { ConnectOpened } from "../../../protocol/messages/connect.ts";

export interface Secure {
  readonly servername: string;
  readonly alpn: readonly string[];
}

/** Tries the addresses in turn. Rejects with the last one's error. */
export async function dial(addresses: readonly Address[], port: number, signal: AbortSignal): Promise<Socket> {
  let last: unknown;
  for (const { address, family } of addresses) {
    signal.throwIfAborted();
    // SECURITY: an address, never a name: nothing is resolved again. test/host/services/connect/connect.test.ts
    const socket = connect({ host: address, port, family, allowHalfOpen: true, noDelay: true });
    try {
      await event(socket, "connect", signal);
      return socket;
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

/** TLS over a connected socket, also over one that has been plain. */
export async function secure(socket: Socket, { servername, alpn }: Secure, signal: AbortSignal): Promise<TLSSocket> {
  // Loading it takes as long as opening a host takes its gateway, and most plugins connect to nothing.
  const made = process.getBuiltinModule("node:tls").connect({
    socket,
    // An address is verified against the certificate's addresses, but not sent as a name.
    ...(isName(servername) ? { servername } : { host: servername }),
    ...(alpn.length > 0 && { ALPNProtocols: [...alpn] }),
    // SECURITY: NODE_TLS_REJECT_UNAUTHORIZED and a plugin's rejectUnauthorized do not apply; no version before TLS 1.2.
    // test/host/services/connect/tls.test.ts
    rejectUnauthorized: true,
    minVersion: "TLSv1.2",
  });
  await event(made, "secureConnect", signal);
  return made;
}

export function opened(socket: Socket | TLSSocket): ConnectOpened {
  if (!isTls(socket)) return {};
  return {
    protocol: socket.getProtocol() ?? "TLSv1.3",
    cipher: socket.getCipher().standardName,
    ...(typeof socket.alpnProtocol === "string" && { alpn: socket.alpnProtocol }),
  };
}

export function isTls(socket: Socket | TLSSocket): socket is TLSSocket {
  return "encrypted" in socket;
}

function isName(host: string): boolean {
  return !/^[\d.]+$|:/.test(host);
}

/** Destroys the socket if the event does not come. */
async function event(socket: Socket, name: "connect" | "secureConnect", signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (error?: unknown): void => {
    reject(error instanceof Error ? error : Object.assign(new Error("cut"), { code: "ECONNRESET" }));
    socket.destroy();
  };
  const aborted = (): void => fail(signal.reason);
  socket.once(name, resolve);
  socket.once("error", fail);
  socket.once("close", fail);
  signal.addEventListener("abort", aborted, { once: true });
  try {
    await promise;
    // A later error is the connection's to hear, and a socket without a listener would end the gateway.
    socket.on("error", () => {});
  } catch (error) {
    socket.on("error", () => {});
    throw error;
  } finally {
    socket.off(name, resolve);
    socket.off("error", fail);
    socket.off("close", fail);
    signal.removeEventListener("abort", aborted);
  }
}
