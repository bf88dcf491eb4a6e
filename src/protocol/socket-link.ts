/**
 * A link over a socket, between two processes. Frames of a lane that is awake may take a shorter way, as letters; they are heard in the order in which they
 * were sent, whichever way they came.
 */
import type { Socket } from "node:net";
import type { Frame } from "./frame.ts";
import { readLetter, writeLetter } from "./letter.ts";
import { LOOKING } from "./letter-box.ts";
import type { Letter, LetterBox } from "./letter-box.ts";
import { LIMITS } from "./limits.ts";
import type { Link } from "./link.ts";
import { encodeFrames, FrameDecoder } from "./socket-framing.ts";

/** `node:fs`'s own, from whoever may import it: gives how many bytes it took, and throws EAGAIN when it can take none now. */
export type WriteNow = (fd: number, bytes: Uint8Array) => number;

export interface SocketOptions {
  /**
   * Frames go to the kernel at once, past Node's streams, whose bookkeeping costs about a tenth of a call; what it does not take, and
   * what comes behind that, goes through the stream.
   */
  readonly writeNow?: WriteNow | undefined;
  readonly letters?: Letters | undefined;
}

export interface Letters {
  readonly box: LetterBox;
  /** When this side has put a letter: does it look for one letter, or until it rests? */
  readonly looking: "once" | "always";
}

const LETTERS_AT_ONCE = 8;

/** Says nothing, and wakes whoever sleeps over a letter. */
const RING = "";

export function socketLink(socket: Socket, options: SocketOptions = {}): Link {
  return options.letters ? new LetterLink(socket, options.writeNow, options.letters) : new SocketLink(socket, options.writeNow);
}

class SocketLink implements Link {
  protected readonly socket: Socket;
  readonly #fd: number;
  readonly #writeNow: WriteNow | undefined;
  readonly #decoder = new FrameDecoder(LIMITS.frameBytes);
  /** Bytes on the socket, both ways. */
  protected sent = 0;
  protected received = 0;
  #hear: (frames: readonly string[]) => void = () => {};
  #why = "the socket was closed";

  constructor(socket: Socket, writeNow: WriteNow | undefined) {
    this.socket = socket;
    this.#writeNow = writeNow;
    // Not documented, and as old as Node's sockets. Without one everything goes through the stream.
    this.#fd = (socket as unknown as { _handle?: { fd?: number } })._handle?.fd ?? -1;
    // A sandbox is killed without goodbye: a reset is a normal end.
    socket.on("error", (error) => {
      this.#why = error.message;
    });
  }

  onFrames(listener: (frames: readonly string[]) => void): void {
    this.#hear = listener;
    this.socket.on("data", (chunk: Buffer) => this.arrived(chunk));
  }

  onEnd(listener: (why: string) => void): void {
    this.socket.on("close", () => listener(this.#why));
  }

  send(frames: readonly Frame[], _isAwaited?: boolean): void {
    // A descriptor that was closed may be another's by now.
    if (!this.socket.destroyed) this.write(encodeFrames(frames));
  }

  close(): void {
    this.socket.destroy();
  }

  protected arrived(chunk: Buffer): void {
    this.received += chunk.length;
    this.hear(() => this.#decoder.push(chunk));
  }

  /** SECURITY: what is no frame, or too long for one, ends the link before it is buffered. test/protocol/socket-framing.test.ts */
  protected hear(decode: () => readonly string[]): void {
    let frames = this.guarded(decode);
    if (frames?.includes(RING)) frames = frames.filter((frame) => frame !== RING);
    if (frames && frames.length > 0) this.#hear(frames);
  }

  /** Undefined: the other side has broken the rules, or is gone. */
  protected guarded<T>(read: () => T): T | undefined {
    if (this.socket.destroyed) return undefined;
    try {
      return read();
    } catch (error) {
      this.socket.destroy(error as Error);
      return undefined;
    }
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

class LetterLink extends SocketLink {
  readonly hasTwoWays = true;
  readonly #box: LetterBox;
  readonly #looking: (typeof LOOKING)["once" | "always"];
  /** When the other side was last seen to look: one that stays awake does so for a while only. */
  #watchedMs = -Infinity;
  #hasRung = false;

  constructor(socket: Socket, writeNow: WriteNow | undefined, { box, looking }: Letters) {
    super(socket, writeNow);
    this.#box = box;
    this.#looking = LOOKING[looking];
  }

  override send(frames: readonly Frame[], isAwaited = false): void {
    if (this.socket.destroyed) return;
    const length = isAwaited && this.isHeard() && this.#box.isWatched ? writeLetter(this.#box.paper, frames) : undefined;
    if (length === undefined) return this.write(encodeFrames(frames));
    this.#hasRung = false;
    this.guarded(() => this.#box.put(length, this.sent, this.#looking));
  }

  poll(): boolean {
    let frames = this.#takeLetter();
    if (!frames) {
      this.#ringIfForgotten();
      return false;
    }
    // Where many come at a time, what is there already is heard together: small batches would stay small for ever. Not all of it: somebody may write as fast as we read.
    for (let letters = 1; letters < LETTERS_AT_ONCE && this.#box.mayHaveMore; letters++) {
      const more = this.#takeLetter();
      if (!more) break;
      frames = [...frames, ...more];
    }
    const heard = frames;
    this.hear(() => heard);
    return true;
  }

  #takeLetter(): readonly string[] | undefined {
    const letter = this.#look();
    // What was sent before it is still on its way: the event loop brings it, and looks again.
    if (!letter || letter.after > this.received) return undefined;
    if (this.#box.hasReader) this.#watchedMs = performance.now();
    this.#box.take();
    return this.guarded(() => readLetter(letter.bytes));
  }

  #look(): Letter | undefined {
    if (this.socket.destroyed) return undefined;
    try {
      return this.#box.look();
    } catch (error) {
      this.socket.destroy(error as Error);
      return undefined;
    }
  }

  isHeard(): boolean {
    // Who said so a moment ago still does.
    if (!this.#box.isWatched || performance.now() - this.#watchedMs > LIMITS.lingerMs)
      this.guarded(() => {
        this.#box.look();
        this.#box.acknowledge();
      });
    return this.#box.hasReader;
  }

  stayAwake(): void {
    this.guarded(() => this.#box.stayAwake());
  }

  rest(): void {
    if (this.guarded(() => this.#box.rest())) while (this.poll());
  }

  nudge(): void {
    while (this.poll());
    if (this.#box.isUnread && !this.socket.destroyed) this.write(encodeFrames([RING]));
  }

  /** Letters that were sent before a part of this come before that part. */
  protected override arrived(chunk: Buffer): void {
    let rest = chunk;
    for (;;) {
      const after = this.#look()?.after ?? Infinity;
      const first = Math.min(Math.max(after - this.received, 0), rest.length);
      if (first > 0) super.arrived(rest.subarray(0, first));
      rest = rest.subarray(first);
      if (this.received < after || !this.poll()) break;
    }
    if (rest.length > 0) super.arrived(rest);
    // Behind a letter that waited for this there may have been that the other side rests.
    this.#ringIfForgotten();
  }

  #ringIfForgotten(): void {
    if (!this.#box.isForgotten || this.#hasRung || this.socket.destroyed) return;
    this.#hasRung = true;
    this.write(encodeFrames([RING]));
  }
}
