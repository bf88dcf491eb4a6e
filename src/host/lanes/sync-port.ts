/**
 * Trusted side: the host's end of a lane's second link, on which the caller's thread blocks. Its event loop does not turn
 * meanwhile, so nothing can be awaited: a thread's port wakes the caller through shared memory, and a socket is read and written
 * directly, with naps in between.
 */
import { readSync, writeSync } from "node:fs";
import type { Socket } from "node:net";
import { receiveMessageOnPort } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { LIMITS } from "../../protocol/limits.ts";
import { encodeFrames, FrameDecoder } from "../../protocol/socket-framing.ts";

export interface SyncPort {
  /** Blocks for at most so long if the lane does not take it at once; what it has not taken by then goes ahead of the next frames. */
  send(frames: readonly string[], ms: number): void;
  /** What has come; blocks for at most so long if nothing has. Undefined: the lane has hung up. Throws when it sends nonsense. */
  receive(ms: number): readonly unknown[] | undefined;
}

/** To a thread of this process, which counts `notify` up with everything it sends. */
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

/** To the sandbox process. Undefined: this system has no descriptors to read a socket by. */
export function socketSync(socket: Socket): SyncPort | undefined {
  // Not documented, and as old as Node's sockets.
  const fd = (socket as unknown as { _handle?: { fd?: number } })._handle?.fd;
  return fd === undefined || fd < 0 ? undefined : new SocketSync(socket, fd);
}

class SocketSync implements SyncPort {
  readonly #socket: Socket;
  readonly #fd: number;
  readonly #decoder = new FrameDecoder(LIMITS.frameBytes);
  readonly #chunk = Buffer.allocUnsafe(64 * 1024);
  #unsent: Buffer = Buffer.alloc(0);

  constructor(socket: Socket, fd: number) {
    this.#socket = socket;
    this.#fd = fd;
    // While nobody blocks, the event loop reads. What comes then is late, and only has to be taken out of the way.
    socket.on("data", (chunk: Buffer) => {
      try {
        this.#decoder.push(chunk);
      } catch (error) {
        socket.destroy(error as Error);
      }
    });
    socket.on("error", () => {});
  }

  send(frames: readonly string[], ms: number): void {
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
        // SECURITY: an oversized frame throws before it is buffered. test/host/sync-port.test.ts
        const frames = this.#decoder.push(Buffer.from(this.#chunk.subarray(0, read)));
        if (frames.length > 0) return frames;
      }
    }
  }

  #try(io: () => number): number | "not now" | "gone" {
    // A descriptor that was closed may be another's by now.
    if (this.#socket.destroyed) return "gone";
    try {
      return io();
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "EAGAIN" ? "not now" : "gone";
    }
  }
}

const BED = new Int32Array(new SharedArrayBuffer(4));

/** Sleeps the longer the longer it has taken already: a quick answer is met quickly, a slow one costs little. False: time is up. */
function nap(startedMs: number, ms: number): boolean {
  const spentMs = performance.now() - startedMs;
  if (spentMs >= ms) return false;
  const napMs = Math.min(Math.max(spentMs * LIMITS.syncNapShare, LIMITS.syncNapMs), LIMITS.syncNapMaxMs);
  Atomics.wait(BED, 0, 0, Math.min(napMs, ms - spentMs));
  return true;
}
