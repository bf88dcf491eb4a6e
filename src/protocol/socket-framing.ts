/**
 * Length-prefixed frames on a byte stream: a little-endian u32 counts the UTF-8 bytes that follow. This is the one
 * place that knows; both ends of a lane's socket use it. Frames that are sent together are written together.
 */
const PREFIX = 4;

export function encodeFrames(frames: readonly string[]): Buffer {
  let total = 0;
  const sizes = frames.map((frame) => {
    const size = Buffer.byteLength(frame);
    total += PREFIX + size;
    return size;
  });
  const out = Buffer.allocUnsafe(total);
  let at = 0;
  for (const [index, frame] of frames.entries()) {
    at = out.writeUInt32LE(sizes[index]!, at);
    at += out.write(frame, at);
  }
  return out;
}

/** Writes frames into a buffer. Gives how many bytes they take; undefined: they do not fit for certain. */
export function encodeFramesInto(out: Buffer, frames: readonly string[]): number | undefined {
  let at = 0;
  for (const frame of frames) {
    // A character takes at most three bytes.
    if (at + PREFIX + frame.length * 3 > out.length) return undefined;
    const size = out.write(frame, at + PREFIX);
    out.writeUInt32LE(size, at);
    at += PREFIX + size;
  }
  return at;
}

/** Of bytes that hold whole frames. Throws a RangeError when they do not. */
export function decodeFrames(bytes: Buffer): string[] {
  const frames: string[] = [];
  let at = 0;
  while (at < bytes.length) {
    const end = bytes.length - at < PREFIX ? Infinity : at + PREFIX + bytes.readUInt32LE(at);
    if (end > bytes.length) throw new RangeError("a part of a frame");
    frames.push(bytes.toString("utf8", at + PREFIX, end));
    at = end;
  }
  return frames;
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
