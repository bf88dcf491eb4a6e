/**
 * Trusted side: lets `runSync` reach the sandbox process. A thread of the gateway's own process, which blocks nobody: it relays
 * frames between the host's port and the lane's socket. Started when a plugin first listens to a synchronous hook.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { MessageChannel, Worker } from "node:worker_threads";
import type { SyncPort } from "./unit.ts";

/** A lane that should dial in, and how. */
export interface Invitation {
  readonly path: string;
  readonly token: string;
}

/** To the bridge's thread: expect a lane, relay it to this port. */
export interface Expect {
  readonly kind: "expect";
  readonly lane: number;
  readonly token: string;
  readonly sync: SyncPort;
}
/** From the bridge's thread: the socket to dial. It is closed and unlinked as soon as the lane has come. */
export interface Listening {
  readonly token: string;
  readonly path: string;
}

export class SyncBridge {
  readonly #worker = new Worker(
    new URL(`./sync-bridge-thread${import.meta.url.slice(import.meta.url.lastIndexOf("."))}`, import.meta.url),
    { env: { TMPDIR: tmpdir() } },
  );
  readonly #waiting = new Map<string, (path: string) => void>();

  constructor() {
    this.#worker.unref();
    this.#worker.on("message", ({ token, path }: Listening) => {
      this.#waiting.get(token)?.(path);
      this.#waiting.delete(token);
    });
  }

  /** A line to a lane of the sandbox process, and the invitation to send to it. */
  async line(lane: number): Promise<{ sync: SyncPort; invitation: Invitation }> {
    const token = randomUUID();
    const { port1, port2 } = new MessageChannel();
    const notify = new Int32Array(new SharedArrayBuffer(4));
    const path = new Promise<string>((resolve) => this.#waiting.set(token, resolve));
    this.#worker.postMessage({ kind: "expect", lane, token, sync: { port: port2, notify } } satisfies Expect, [port2]);
    port1.unref();
    return { sync: { port: port1, notify }, invitation: { path: await path, token } };
  }

  async close(): Promise<void> {
    // It kept nobody alive so far; now somebody waits for its end.
    this.#worker.ref();
    const exited = once(this.#worker, "exit");
    this.#worker.postMessage({ kind: "close" });
    await exited;
  }
}
