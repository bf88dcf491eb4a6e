/**
 * Both sides: a link over a socket, between two processes. Where both sides poll, small frames take a shorter way, the
 * shared-memory channel (shm-channel.ts). Frames are delivered in the order in which they were sent, whichever way they
 * came. Users of the link see no difference.
 */
import type { Socket } from "node:net";
import type { Frame } from "./frames.ts";
import { readRecord, writeRecord } from "./shm-record.ts";
import { POLL_MODE } from "./shm-channel.ts";
import type { ShmChannel, ShmMessage } from "./shm-channel.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Link } from "./link.ts";
import { encodeFrames, FrameDecoder } from "./socket-framing.ts";

/**
 * `writeSync` of `node:fs`, which a lane must not import: gives how many bytes it took, and throws EAGAIN when it can
 * take none now.
 */
export type WriteNow = (fd: number, bytes: Uint8Array) => number;

export interface SocketOptions {
  /**
   * Writes frames straight to the kernel, past Node's streams, whose bookkeeping costs about a tenth of a call. What
   * the kernel does not take, and everything behind it, goes through the stream.
   */
  readonly writeNow?: WriteNow | undefined;
  readonly shm?: ShmOptions | undefined;
  /** The longest frame that this side accepts. */
  readonly maxBytes?: number | undefined;
}

export interface ShmOptions {
  readonly channel: ShmChannel;
  /** How this side polls: for one reply per message, or until it stops. */
  readonly pollMode: "oneShot" | "continuous";
}

/** A peer that has sent nothing for so long does not poll: it does for a moment after it has sent something. */
export const QUIET_MS = 2 * LIMITS.poll.idleMs;

/** How many messages of the channel are delivered together. */
const MESSAGES_AT_ONCE = 8;

/** An empty frame: wakes a peer that has stopped polling with a message unread. */
const WAKE = "";

/** An honest peer sends one wake-up frame, and then waits until its message was read. */
const WAKES_AT_ONCE = 64;

export function socketLink(socket: Socket, options: SocketOptions = {}): Link {
  return options.shm ? new ShmLink(socket, options, options.shm) : new SocketLink(socket, options);
}

function withoutWakes(frames: readonly string[]): readonly string[] {
  const others = frames.filter((frame) => frame !== WAKE);
  if (frames.length - others.length > WAKES_AT_ONCE) throw new RangeError(`${frames.length - others.length} wake-up frames at once`);
  return others;
}

class SocketLink implements Link {
  protected readonly socket: Socket;
  readonly #fd: number;
  readonly #writeNow: WriteNow | undefined;
  readonly #decoder: FrameDecoder;
  /** Bytes on the socket, both ways. */
  protected sent = 0;
  protected received = 0;
  #listener: ((frames: readonly string[]) => void) | undefined;
  #why = "the socket was closed";
  #isBroken = false;

  constructor(socket: Socket, { writeNow, maxBytes = LIMITS.frames.bytes }: SocketOptions) {
    this.socket = socket;
    this.#writeNow = writeNow;
    this.#decoder = new FrameDecoder(maxBytes);
    // Not documented, but as old as Node's sockets. Without it everything goes through the stream.
    this.#fd = (socket as unknown as { _handle?: { fd?: number } })._handle?.fd ?? -1;
    // A sandbox process may be killed at any moment, so a reset is a normal end.
    socket.on("error", (error) => {
      this.#why = error.message;
    });
  }

  /** A later listener takes the place of an earlier one. */
  onFrames(listener: (frames: readonly string[]) => void): void {
    if (!this.#listener) this.socket.on("data", (chunk: Buffer) => this.arrived(chunk));
    this.#listener = listener;
  }

  onEnd(listener: (why: string, isBroken: boolean) => void): void {
    this.socket.on("close", () => listener(this.#why, this.#isBroken));
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    if (!this.socket.destroyed) this.socket.resume();
  }

  get unsentBytes(): number {
    return this.socket.writableLength;
  }

  limitReplies(bytes: number): void {
    this.#decoder.replyBytes = bytes;
  }

  send(frames: readonly Frame[]): void {
    // The kernel may have reused the number of a closed descriptor.
    if (!this.socket.destroyed) this.write(encodeFrames(frames));
  }

  close(): void {
    this.socket.destroy();
  }

  protected arrived(chunk: Buffer): void {
    this.received += chunk.length;
    this.deliver(() => this.#decoder.push(chunk));
  }

  /**
   * SECURITY: a malformed or oversized frame ends the link before it is buffered. test/transport/socket-framing.test.ts
   */
  protected deliver(decode: () => readonly string[]): void {
    let frames = this.guarded(decode);
    if (frames?.includes(WAKE)) frames = this.guarded(() => withoutWakes(frames!));
    if (frames && frames.length > 0) this.#listener?.(frames);
  }

  /** Undefined: the peer has broken the rules, or is gone. */
  protected guarded<T>(read: () => T): T | undefined {
    if (this.socket.destroyed) return undefined;
    try {
      return read();
    } catch (error) {
      this.hangUp(error as Error);
      return undefined;
    }
  }

  protected hangUp(error: Error): void {
    this.#isBroken = true;
    this.socket.destroy(error);
  }

  protected write(bytes: Buffer): void {
    this.sent += bytes.length;
    let taken = 0;
    if (this.#writeNow && this.#fd >= 0 && this.socket.writableLength === 0) {
      try {
        taken = this.#writeNow(this.#fd, bytes);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") {
          this.socket.destroy(error as Error);
          return;
        }
      }
    }
    if (taken < bytes.length) this.socket.write(taken === 0 ? bytes : bytes.subarray(taken));
  }
}

class ShmLink extends SocketLink {
  readonly #channel: ShmChannel;
  readonly #pollMode: (typeof POLL_MODE)["oneShot" | "continuous"];
  #isPolling = false;
  /** When something last came from the peer. */
  #receivedMs = performance.now();
  /** When the peer was last seen to poll. It polls for a while only. */
  #peerPolledMs = -Infinity;
  #hasWoken = false;
  #isPaused = false;

  constructor(socket: Socket, options: SocketOptions, { channel, pollMode }: ShmOptions) {
    super(socket, options);
    this.#channel = channel;
    this.#pollMode = POLL_MODE[pollMode];
  }

  /** The channel is used only while both sides poll: a side that polls expects an answer, and finds it there. */
  override send(frames: readonly Frame[]): void {
    if (this.socket.destroyed) return;
    const canSend = this.#isPolling && this.isPeerPolling() && this.#channel.canSend;
    const length = canSend ? writeRecord(this.#channel.sendBuffer, frames) : undefined;
    if (length === undefined) return this.write(encodeFrames(frames));
    this.#hasWoken = false;
    this.guarded(() => this.#channel.send(length, this.sent, this.#pollMode));
  }

  poll(): boolean {
    return !this.#isPaused && this.#pollNow();
  }

  override pause(): void {
    this.#isPaused = true;
    super.pause();
  }

  override resume(): void {
    this.#isPaused = false;
    super.resume();
    // The event loop is not told of messages in the channel.
    while (this.poll());
  }

  #pollNow(): boolean {
    let frames = this.#take();
    if (!frames) {
      this.#wakeIfStranded();
      return false;
    }
    // Deliver messages that have arrived together, or small batches would stay small for ever. Not all of them: the
    // peer may write as fast as we read.
    for (let messages = 1; messages < MESSAGES_AT_ONCE && this.#channel.mayHaveMore; messages++) {
      const more = this.#take();
      if (!more) break;
      frames = [...frames, ...more];
    }
    const received = frames;
    this.deliver(() => received);
    return true;
  }

  #take(): readonly string[] | undefined {
    const message = this.#peek();
    // Bytes that were sent before it are still on the socket: the event loop delivers them, and then polls again.
    if (!message || message.socketOffset > this.received) return undefined;
    this.#receivedMs = performance.now();
    if (this.#channel.isPeerPolling) this.#peerPolledMs = this.#receivedMs;
    this.#channel.take();
    return this.guarded(() => readRecord(message.bytes));
  }

  #peek(): ShmMessage | undefined {
    if (this.socket.destroyed) return undefined;
    try {
      return this.#channel.peek();
    } catch (error) {
      this.hangUp(error as Error);
      return undefined;
    }
  }

  isPeerPolling(): boolean {
    const nowMs = performance.now();
    // A lone call spares the system call. If the peer polls after all, the call takes the socket.
    if (nowMs - this.#receivedMs > QUIET_MS) return false;
    // A peer that said so a moment ago still polls.
    if (!this.#channel.canSend || nowMs - this.#peerPolledMs > LIMITS.poll.idleMs)
      this.guarded(() => {
        this.#channel.peek();
        this.#channel.acknowledge();
      });
    return this.#channel.isPeerPolling;
  }

  /** `oneShot` is told to the peer with each message. */
  startPolling(): void {
    this.#isPolling = true;
    if (this.#pollMode === POLL_MODE.continuous) this.guarded(() => this.#channel.startPolling());
  }

  stopPolling(): void {
    this.#isPolling = false;
    if (this.guarded(() => this.#channel.stopPolling())) while (this.poll());
  }

  kick(): void {
    while (this.poll());
    if (this.#channel.isUnread && !this.socket.destroyed) this.write(encodeFrames([WAKE]));
  }

  /** Delivers messages of the channel that were sent before a part of this chunk ahead of that part. */
  protected override arrived(chunk: Buffer): void {
    this.#receivedMs = performance.now();
    let rest = chunk;
    for (;;) {
      const offset = this.#peek()?.socketOffset ?? Infinity;
      const first = Math.min(Math.max(offset - this.received, 0), rest.length);
      if (first > 0) super.arrived(rest.subarray(0, first));
      rest = rest.subarray(first);
      if (this.received < offset || !this.#pollNow()) break;
    }
    if (rest.length > 0) super.arrived(rest);
    // Behind a message that waited for this chunk, a record may say that the peer has stopped polling.
    this.#wakeIfStranded();
  }

  #wakeIfStranded(): void {
    if (!this.#channel.isStranded || this.#hasWoken || this.socket.destroyed) return;
    this.#hasWoken = true;
    this.write(encodeFrames([WAKE]));
  }
}
