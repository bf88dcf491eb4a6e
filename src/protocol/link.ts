/**
 * A link carries frames (see frame.ts) between host and lane, in batches and in order: over a MessagePort in one process,
 * over a socket between two (socket-link.ts). Both sides use this file; what travels is the business of messages.ts.
 */
import type { MessagePort } from "node:worker_threads";
import type { Frame } from "./frame.ts";

/** `Heard`: in parts comes only what was sent in parts, and only to a lane. */
export interface Link<Heard extends Frame = string> {
  /** Frames that arrived together. */
  onFrames(listener: (frames: readonly Heard[]) => void): void;
  /** The other side is gone, or has hung up, or spoke nonsense. */
  onEnd(listener: (why: string) => void): void;
  /** `isAwaited`: whoever sends it polls until an answer has come, or rests. */
  send(frames: readonly Frame[], isAwaited?: boolean): void;
  /**
   * Hands over what has come, without waiting for the event loop to turn, which takes longer than most calls. True: there was something. For whoever
   * stays awake; the event loop has to turn now and then all the same. Missing: only the event loop can tell.
   */
  poll?(): boolean;
  /** There are things that polling does not find, and only the event loop brings. */
  readonly hasTwoWays?: boolean;
  /** Is somebody polling at the other end? Then an answer is worth staying awake for: who sleeps has to be woken, and may need this very CPU for it. */
  isHeard?(): boolean;
  /** From now on somebody polls, until they rest. */
  stayAwake?(): void;
  /** From now on nobody polls. */
  rest?(): void;
  /** An answer takes long: it shall not be for want of somebody who looks, on either side. */
  nudge?(): void;
  close(): void;
}

/** Shared memory of both ends of a port: a counter for each, which whoever sends counts up for the other, and whether each is polling. */
export interface Bells {
  readonly memory: Int32Array;
  readonly mine: 0 | 1;
  /** `node:worker_threads`' receiveMessageOnPort, from whoever may import it. It takes a lock, and whoever holds that all the time keeps the sender waiting. */
  readonly receive: (port: MessagePort) => { message: unknown } | undefined;
}

export const BELLS_BYTES = 4 * Int32Array.BYTES_PER_ELEMENT;
/** Where the second pair begins. */
const POLLS = 2;

/** `notify` is set on the lane's end of a link for synchronous runs: the host sleeps on it. */
export function portLink<Heard extends Frame = string>(
  port: MessagePort,
  { notify, bells }: { notify?: Int32Array; bells?: Bells } = {},
): Link<Heard> {
  let hear: ((frames: readonly Heard[]) => void) | undefined;
  const take = (sent: Heard | readonly Heard[]): void => hear?.(typeof sent === "string" ? [sent] : (sent as readonly Heard[]));
  let heard = 0;
  return {
    onFrames: (listener) => {
      hear = listener;
      port.on("message", take);
    },
    onEnd: (listener) => void port.on("close", () => listener("the port was closed")),
    send: (frames) => {
      // One frame is the common case, and a string is the cheapest thing to clone.
      port.postMessage(frames.length === 1 && typeof frames[0] === "string" ? frames[0] : frames);
      if (bells) Atomics.add(bells.memory, 1 - bells.mine, 1);
      if (notify) {
        Atomics.add(notify, 0, 1);
        Atomics.notify(notify, 0);
      }
    },
    ...(bells && {
      poll: () => {
        const rung = Atomics.load(bells.memory, bells.mine);
        if (rung === heard) return false;
        heard = rung;
        let received = bells.receive(port);
        // The event loop was faster.
        if (!received) return false;
        for (; received; received = bells.receive(port)) take(received.message as Heard | readonly Heard[]);
        return true;
      },
      isHeard: () => Atomics.load(bells.memory, POLLS + 1 - bells.mine) === 1,
      stayAwake: () => void Atomics.store(bells.memory, POLLS + bells.mine, 1),
      // The event loop is told of every message, polled or not.
      rest: () => void Atomics.store(bells.memory, POLLS + bells.mine, 0),
    }),
    close: () => port.close(),
  };
}
