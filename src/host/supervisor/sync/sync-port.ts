/**
 * Trusted side: the host's end of a lane's second link, on which the caller's thread blocks. Its event loop does not
 * turn meanwhile, so nothing can be awaited: a thread's port wakes the caller through shared memory; a socket is read
 * and written directly, with short sleeps in between.
 */
import { readSync, writeSync } from "node:fs";
import type { Socket } from "node:net";
import { receiveMessageOnPort } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { LIMITS } from "../../../protocol/limits.ts";
import { encodeFrames, FrameDecoder } from "../../../transport/socket-framing.ts";

export interface SyncPort {
  /**
   * Blocks for at most `ms` if the lane does not take the frames at once. What it has not taken by then goes ahead of
   * the next frames.
   */
  send(frames: readonly string[], ms: number): void;
  /**
   * Frames that have arrived; blocks for at most `ms` if there are none. Undefined: the lane has closed the link.
   * Throws when it breaks the protocol.
   */
  receive(ms: number): readonly unknown[] | undefined;
}

/** To a thread of this process, which increments `notify` with everything it sends. */
export function portSync(port: MessagePort, notify: Int32Array): SyncPort {
  const take = (): unknown[] => {
    const frames: unknown[] = [];
    for (let received; (received = receiveMessageOnPort(port));) frames.push([received.message].flat());
    return frames.flat();
  };
  return {
    send: (frames) => port.postMessage(frames),
    receive: (ms) => {
      const seen = Atomics.load(notify, 0);
      const frames = take();
      if (frames.length > 0) return frames;
      Atomics.wait(notify, 0, seen, ms);
      return take();
    },
  };
}

/** To the sandbox process. Undefined: sockets of this system have no file descriptor. */
export function socketSync(socket: Socket): SyncPort | undefined {
  // Not documented, but as old as Node's sockets.
  const fd = (socket as unknown as { _handle?: { fd?: number } })._handle?.fd;
  return fd === undefined || fd < 0 ? undefined : new SocketSync(socket, fd);
}

/** Sockets that the host closed because the lane broke the protocol. */
export const brokenSockets = new WeakSet<Socket>();

class SocketSync implements SyncPort {
  readonly #socket: Socket;
  readonly #fd: number;
  readonly #decoder = new FrameDecoder(LIMITS.frames.laneBytes);
  /** Bytes that arrived since a caller last blocked: at most the rest of a late answer. */
  #lateBytes = 0;
  readonly #chunk = Buffer.allocUnsafe(64 * 1024);
  #unsent: Buffer = Buffer.alloc(0);

  constructor(socket: Socket, fd: number) {
    this.#socket = socket;
    this.#fd = fd;
    // While no caller blocks, the event loop reads. What arrives then is a late answer, which is dropped.
    socket.on("data", (chunk: Buffer) => {
      try {
        this.#lateBytes += chunk.length;
        if (this.#lateBytes > LIMITS.frames.laneBytes) throw new RangeError("unexpected answers");
        this.#decoder.push(chunk);
      } catch (error) {
        brokenSockets.add(socket);
        socket.destroy(error as Error);
      }
    });
    socket.on("error", () => {});
  }

  send(frames: readonly string[], ms: number): void {
    this.#lateBytes = 0;
    this.#unsent = Buffer.concat([this.#unsent, encodeFrames(frames)]);
    const startedMs = performance.now();
    while (this.#unsent.length > 0) {
      const written = this.#try(() => writeSync(this.#fd, this.#unsent));
      if (written === "gone") return;
      this.#unsent = this.#unsent.subarray(written === "not now" ? 0 : written);
      if (written === "not now" && !nap(startedMs, ms)) return;
    }
  }

  receive(ms: number): readonly string[] | undefined {
    const startedMs = performance.now();
    for (;;) {
      const read = this.#try(() => readSync(this.#fd, this.#chunk));
      if (read === "gone" || read === 0) return undefined;
      if (read === "not now") {
        if (!nap(startedMs, ms)) return [];
      } else {
        // SECURITY: an oversized frame throws before it is buffered. test/host/supervisor/sync/sync-port.test.ts
        const frames = this.#decoder.push(Buffer.from(this.#chunk.subarray(0, read)));
        if (frames.length > 0) return frames;
      }
    }
  }

  #try(io: () => number): number | "not now" | "gone" {
    // The kernel may have reused the number of a closed descriptor.
    if (this.#socket.destroyed) return "gone";
    try {
      return io();
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "EAGAIN" ? "not now" : "gone";
    }
  }
}

const SLEEP = new Int32Array(new SharedArrayBuffer(4));

/**
 * Sleeps for a share of the time spent so far: a quick answer is found quickly, a slow one costs little. False: time is
 * up.
 */
function nap(startedMs: number, ms: number): boolean {
  const spentMs = performance.now() - startedMs;
  if (spentMs >= ms) return false;
  const napMs = Math.min(Math.max(spentMs * LIMITS.sync.napShare, LIMITS.sync.napMs), LIMITS.sync.napMaxMs);
  Atomics.wait(SLEEP, 0, 0, Math.min(napMs, ms - spentMs));
  return true;
}
