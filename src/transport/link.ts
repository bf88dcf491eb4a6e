/**
 * Both sides: a link carries frames (frames.ts) between host and lane, in batches and in order. In one process it is a
 * MessagePort (below), between two processes a socket (socket-link.ts). What the frames say is defined in host-lane.ts.
 */
import type { MessagePort } from "node:worker_threads";
import type { Frame } from "./frames.ts";

/** `Received`: only a lane receives frames in parts, and only those that were sent in parts. */
export interface Link<Received extends Frame = string> {
  /** Frames that arrived together. */
  onFrames(listener: (frames: readonly Received[]) => void): void;
  /** The peer has gone or closed the link. `isBroken`: it broke the rules, and this side has closed the link. */
  onEnd(listener: (why: string, isBroken: boolean) => void): void;
  send(frames: readonly Frame[]): void;
  close(): void;

  /**
   * Delivers frames that have arrived, without waiting for a turn of the event loop, which takes longer than most
   * calls. True: it delivered some. The event loop has to turn now and then all the same, since some frames arrive only
   * there. Missing: all of them do.
   */
  poll?(): boolean;
  /** This side polls from now on. Callers use busy-poll.ts. */
  startPolling?(): void;
  stopPolling?(): void;
  /**
   * Does the peer poll? Then its reply is worth polling for: a peer that blocks has to be woken first, and may need
   * this very CPU to run on.
   */
  isPeerPolling?(): boolean;
  /** A reply is late: delivers what has arrived, and wakes a peer that has not read all it was sent. */
  kick?(): void;

  /** The longest reply to a run from now on. Missing: the peer is in this process, and what it sends is in memory already. */
  limitReplies?(bytes: number): void;
  /** Delivers nothing until `resume`, so that the peer has to wait. Missing: this link cannot be paused. */
  pause?(): void;
  resume?(): void;
  /** Bytes that were sent and that the peer's kernel has not taken yet. Missing: not counted. */
  readonly unsentBytes?: number;
}

/** Memory that both ends of a port share: a counter of sent messages for each end, and whether each end polls. */
export interface PortSignals {
  readonly memory: Int32Array;
  readonly mine: 0 | 1;
  /**
   * `receiveMessageOnPort` of `node:worker_threads`. It takes a lock, so calling it all the time would hold up the
   * sender.
   */
  readonly receive: (port: MessagePort) => { message: unknown } | undefined;
}

export const PORT_SIGNALS_BYTES = 4 * Int32Array.BYTES_PER_ELEMENT;
/** Index of the first end's poll flag, behind the two counters. */
const POLLS = 2;

/** `notify` is set on the lane's end of a link for synchronous runs: the host blocks on it. */
export function portLink<Received extends Frame = string>(
  port: MessagePort,
  { notify, signals }: { notify?: Int32Array; signals?: PortSignals } = {},
): Link<Received> {
  let listener: ((frames: readonly Received[]) => void) | undefined;
  const deliver = (sent: Received | readonly Received[]): void =>
    listener?.(typeof sent === "string" ? [sent] : (sent as readonly Received[]));
  let seen = 0;
  return {
    onFrames: (added) => {
      listener = added;
      port.on("message", deliver);
    },
    onEnd: (ended) => void port.on("close", () => ended("the port was closed", false)),
    send: (frames) => {
      // One frame is the common case, and a string is the cheapest thing to clone.
      port.postMessage(frames.length === 1 && typeof frames[0] === "string" ? frames[0] : frames);
      if (signals) Atomics.add(signals.memory, 1 - signals.mine, 1);
      if (notify) {
        Atomics.add(notify, 0, 1);
        Atomics.notify(notify, 0);
      }
    },
    ...(signals && {
      poll: () => {
        const sent = Atomics.load(signals.memory, signals.mine);
        if (sent === seen) return false;
        seen = sent;
        let received = signals.receive(port);
        // The event loop was faster.
        if (!received) return false;
        for (; received; received = signals.receive(port)) deliver(received.message as Received | readonly Received[]);
        return true;
      },
      isPeerPolling: () => Atomics.load(signals.memory, POLLS + 1 - signals.mine) === 1,
      startPolling: () => void Atomics.store(signals.memory, POLLS + signals.mine, 1),
      // The event loop is told of every message, polled or not.
      stopPolling: () => void Atomics.store(signals.memory, POLLS + signals.mine, 0),
    }),
    close: () => port.close(),
  };
}
