/**
 * Length-prefixed frames on a byte stream: a little-endian u32 counts the UTF-8 bytes that follow. This is the one
 * place that knows; both ends of a lane's socket use it. Frames that are sent together are written together.
 */
import type { Frame } from "./frame.ts";

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

export class FrameDecoder {
  #rest: Buffer | undefined;
  #chunks: Buffer[] = [];
  #pending = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The frames that are complete with this chunk. Throws a RangeError on a frame above the limit, before buffering it. */
  push(chunk: Buffer): string[] {
    let data = chunk;
    if (this.#rest) {
      // A large frame arrives in many chunks: join them once, when it is whole.
      this.#chunks.push(chunk);
      this.#pending += chunk.length;
      const held = this.#rest.length + this.#pending;
      if (held < PREFIX || (this.#rest.length >= PREFIX && held < PREFIX + this.#size(this.#rest, 0))) return [];
      data = Buffer.concat([this.#rest, ...this.#chunks], held);
      this.#rest = undefined;
      this.#chunks = [];
      this.#pending = 0;
    }
    const frames: string[] = [];
    let at = 0;
    while (data.length - at >= PREFIX) {
      const end = at + PREFIX + this.#size(data, at);
      if (end > data.length) break;
      frames.push(data.toString("utf8", at + PREFIX, end));
      at = end;
    }
    if (at < data.length) this.#rest = data.subarray(at);
    return frames;
  }

  #size(data: Buffer, at: number): number {
    const size = data.readUInt32LE(at);
    if (size > this.#maxBytes) throw new RangeError(`a frame of ${size} bytes`);
    return size;
  }
}
