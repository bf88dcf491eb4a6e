/**
 * Both sides: length-prefixed frames on a byte stream: a little-endian u32, then that many bytes of UTF-8. Both ends of
 * a lane's socket use it. Frames that are sent together are written together.
 */
import { REPLY_CODE } from "./call-frames.ts";
import type { Frame } from "./frames.ts";
import { LIMITS } from "../protocol/limits.ts";

const PREFIX = 4;

export function encodeFrames(frames: readonly Frame[]): Buffer {
  let total = 0;
  const sizes = frames.map((frame) => {
    const size = typeof frame === "string" ? Buffer.byteLength(frame) : frame.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
    total += PREFIX + size;
    return size;
  });
  const out = Buffer.allocUnsafe(total);
  let at = 0;
  for (const [index, frame] of frames.entries()) {
    at = out.writeUInt32LE(sizes[index]!, at);
    if (typeof frame === "string") at += out.write(frame, at);
    else for (const part of frame) at += out.write(part, at);
  }
  return out;
}

/** A frame that is longer than this gets its memory as its bytes arrive, not when its length is announced. */
const AT_ONCE_BYTES = 1024 * 1024;

export class FrameDecoder {
  readonly #maxBytes: number;
  /** The longest reply to a run that is accepted; undefined: as long as any frame. */
  replyBytes: number | undefined;
  /** An incomplete frame: its buffer, how many bytes have arrived, and in how many pieces. */
  #partial: Buffer | undefined;
  /** The buffer of the last such frame, for reuse, unless it was large. */
  #spare: Buffer | undefined;
  #held = 0;
  #pieces = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The frames that this chunk completes. Throws a RangeError on a frame above the limit, before buffering it, and on
   * one in too many pieces.
   * SECURITY: bytes from a peer cost no more than twice their size in memory, however they are cut.
   * test/transport/socket-framing.test.ts
   */
  push(chunk: Buffer): string[] {
    const frames: string[] = [];
    let at = this.#partial ? this.#complete(chunk, frames) : 0;
    while (chunk.length - at >= PREFIX) {
      const end = at + PREFIX + this.#size(chunk, at, chunk.length - at);
      if (end > chunk.length) break;
      frames.push(chunk.toString("utf8", at + PREFIX, end));
      at = end;
    }
    if (at < chunk.length) this.#keep(chunk, at);
    return frames;
  }

  /** Adds to the incomplete frame. Gives how many bytes of the chunk it took. */
  #complete(chunk: Buffer, frames: string[]): number {
    this.#pieces += 1;
    if (this.#pieces > LIMITS.frames.pieces + this.#held / LIMITS.frames.pieceBytes)
      throw new RangeError(`a frame in ${this.#pieces} pieces`);
    let taken = this.#held < PREFIX ? this.#take(chunk, 0, PREFIX) : 0;
    if (this.#held < PREFIX) return taken;
    const needed = PREFIX + this.#size(this.#partial!, 0, this.#held);
    taken += this.#take(chunk, taken, needed);
    if (this.#held < needed) return taken;
    frames.push(this.#partial!.toString("utf8", PREFIX, needed));
    if (this.#partial!.length <= AT_ONCE_BYTES) this.#spare = this.#partial;
    else resized(this.#partial!, 0);
    this.#partial = undefined;
    return taken;
  }

  /** Copies bytes of the chunk, until `needed` are held. Gives how many. */
  #take(chunk: Buffer, from: number, needed: number): number {
    const count = Math.min(needed - this.#held, chunk.length - from);
    const held = this.#held + count;
    if (held > this.#partial!.length) {
      const bytes = Math.min(needed, Math.max(2 * held, AT_ONCE_BYTES));
      if (this.#spare === this.#partial) this.#spare = undefined;
      this.#partial = resized(this.#partial!, bytes);
    }
    chunk.copy(this.#partial!, this.#held, from, from + count);
    this.#held = held;
    return count;
  }

  #keep(chunk: Buffer, from: number): void {
    this.#held = 0;
    this.#pieces = 1;
    const isHead = chunk.length - from >= PREFIX;
    const needed = isHead ? PREFIX + this.#size(chunk, from, chunk.length - from) : PREFIX;
    const bytes = Math.min(needed, Math.max(2 * (chunk.length - from), AT_ONCE_BYTES));
    this.#partial = this.#spare && this.#spare.length >= bytes ? this.#spare : Buffer.allocUnsafeSlow(bytes);
    this.#take(chunk, from, needed);
  }

  /** `held`: how much of it there is, from `at` on. */
  #size(data: Buffer, at: number, held: number): number {
    const size = data.readUInt32LE(at);
    if (size > this.#maxBytes) throw new RangeError(`a frame of ${size} bytes`);
    if (this.replyBytes !== undefined && size > this.replyBytes && held > PREFIX && data[at + PREFIX] === REPLY_CODE)
      throw new RangeError(`a reply of ${size} bytes`);
    return size;
  }
}

/**
 * The same buffer with another size. What was there before is freed at once: V8 is slow to notice memory outside its heap, and a peer that
 * sends long frames in pieces could make it grow by ten times their size.
 */
function resized(buffer: Buffer, bytes: number): Buffer {
  return Buffer.from((buffer.buffer as ArrayBuffer).transfer(bytes));
}
