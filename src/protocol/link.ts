/**
 * A link carries frames (see frame.ts) between host and lane, in batches and in order: over a MessagePort in one process,
 * over a socket between two (socket-link.ts). Both sides use this file; what travels is the business of messages.ts.
 */
import type { MessagePort } from "node:worker_threads";

export interface Link {
  /** Frames that arrived together. */
  onFrames(listener: (frames: readonly string[]) => void): void;
  /** The other side is gone, or has hung up, or spoke nonsense. */
  onEnd(listener: (why: string) => void): void;
  /** `isAwaited`: whoever sends it polls until an answer has come, or rests. */
  send(frames: readonly string[], isAwaited?: boolean): void;
  /**
   * Hands over what has come, without waiting for the event loop to turn, which takes longer than most calls. True: there was something. For whoever
   * stays awake; the event loop has to turn now and then all the same. Missing: only the event loop can tell.
   */
  poll?(): boolean;
  /** From now on somebody polls, until they rest. */
  stayAwake?(): void;
  /** From now on nobody polls. */
  rest?(): void;
  /** An answer takes long: it shall not be for want of somebody who looks, on either side. */
  nudge?(): void;
  close(): void;
}

/** Two counters of shared memory, one for each end of a port: whoever sends counts the other's up. */
export interface Bells {
  readonly counters: Int32Array;
  readonly mine: 0 | 1;
  /** `node:worker_threads`' receiveMessageOnPort, from whoever may import it. It takes a lock, and whoever holds that all the time keeps the sender waiting. */
  readonly receive: (port: MessagePort) => { message: unknown } | undefined;
}

export const BELLS_BYTES = 2 * Int32Array.BYTES_PER_ELEMENT;

/** `notify` is set on the lane's end of a link for synchronous runs: the host sleeps on it. */
export function portLink(port: MessagePort, { notify, bells }: { notify?: Int32Array; bells?: Bells } = {}): Link {
  let hear: ((frames: readonly string[]) => void) | undefined;
  const take = (sent: string | readonly string[]): void => hear?.(typeof sent === "string" ? [sent] : sent);
  let heard = 0;
  return {
    onFrames: (listener) => {
      hear = listener;
      port.on("message", take);
    },
    onEnd: (listener) => void port.on("close", () => listener("the port was closed")),
    send: (frames) => {
      // One frame is the common case, and a string is the cheapest thing to clone.
      port.postMessage(frames.length === 1 ? frames[0] : frames);
      if (bells) Atomics.add(bells.counters, 1 - bells.mine, 1);
      if (notify) {
        Atomics.add(notify, 0, 1);
        Atomics.notify(notify, 0);
      }
    },
    ...(bells && {
      poll: () => {
        const rung = Atomics.load(bells.counters, bells.mine);
        if (rung === heard) return false;
        heard = rung;
        let received = bells.receive(port);
        // The event loop was faster.
        if (!received) return false;
        for (; received; received = bells.receive(port)) take(received.message as string | readonly string[]);
        return true;
      },
    }),
    close: () => port.close(),
  };
}
