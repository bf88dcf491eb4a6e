/**
 * A link carries frames (see frame.ts) between host and lane, in batches and in order: over a MessagePort in one process,
 * over a socket between two. Both sides use this file; what travels is the business of messages.ts.
 */
import type { Socket } from "node:net";
import type { MessagePort } from "node:worker_threads";
import { LIMITS } from "./limits.ts";
import { encodeFrames, FrameDecoder } from "./socket-framing.ts";

export interface Link {
  /** Frames that arrived together. */
  onFrames(listener: (frames: readonly string[]) => void): void;
  /** The other side is gone, or has hung up, or spoke nonsense. */
  onEnd(listener: (why: string) => void): void;
  send(frames: readonly string[]): void;
  close(): void;
}

/** `notify` is set on the lane's end of a link for synchronous runs: the host sleeps on it. */
export function portLink(port: MessagePort, notify?: Int32Array): Link {
  return {
    onFrames: (listener) =>
      void port.on("message", (sent: string | readonly string[]) => listener(typeof sent === "string" ? [sent] : sent)),
    onEnd: (listener) => void port.on("close", () => listener("the port was closed")),
    send: (frames) => {
      // One frame is the common case, and a string is the cheapest thing to clone.
      port.postMessage(frames.length === 1 ? frames[0] : frames);
      if (notify) {
        Atomics.add(notify, 0, 1);
        Atomics.notify(notify, 0);
      }
    },
    close: () => port.close(),
  };
}

/** `node:fs`'s own, from whoever may import it: gives how many bytes it took, and throws EAGAIN when it can take none now. */
export type WriteNow = (fd: number, bytes: Uint8Array) => number;

/**
 * With `writeNow` frames go to the kernel at once, past Node's streams, whose bookkeeping costs about a tenth of a call; what it does not take, and
 * what comes behind that, goes through the stream.
 */
export function socketLink(socket: Socket, writeNow?: WriteNow): Link {
  // Not documented, and as old as Node's sockets. Without one everything goes through the stream.
  const fd = (socket as unknown as { _handle?: { fd?: number } })._handle?.fd ?? -1;
  const decoder = new FrameDecoder(LIMITS.frameBytes);
  let why = "the socket was closed";
  // A sandbox is killed without goodbye: a reset is a normal end.
  socket.on("error", (error) => {
    why = error.message;
  });
  return {
    onFrames: (listener) =>
      void socket.on("data", (chunk: Buffer) => {
        let frames: string[];
        try {
          frames = decoder.push(chunk);
        } catch (error) {
          // SECURITY: an oversized frame ends the link before it is buffered. test/protocol/socket-framing.test.ts
          socket.destroy(error as Error);
          return;
        }
        if (frames.length > 0) listener(frames);
      }),
    onEnd: (listener) => void socket.on("close", () => listener(why)),
    send: (frames) => {
      // A descriptor that was closed may be another's by now.
      if (socket.destroyed) return;
      const bytes = encodeFrames(frames);
      let taken = 0;
      if (writeNow && fd >= 0 && socket.writableLength === 0) {
        try {
          taken = writeNow(fd, bytes);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "EAGAIN") {
            socket.destroy(error as Error);
            return;
          }
        }
      }
      if (taken < bytes.length) socket.write(taken === 0 ? bytes : bytes.subarray(taken));
    },
    close: () => socket.destroy(),
  };
}
