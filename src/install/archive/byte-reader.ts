/** Trusted side: reads bytes from a stream in portions of any size. Holds one chunk of the stream at a time. */
const NOTHING = Buffer.alloc(0);

export class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = NOTHING;
  #position = 0;

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** How many bytes were taken. */
  get position(): number {
    return this.#position;
  }

  /** The buffered bytes, at most `most`, without a copy. Undefined at the end. */
  async piece(most: number): Promise<Buffer | undefined> {
    while (this.#rest.length === 0) {
      const next = await this.#source.next();
      if (next.done) return undefined;
      this.#rest = next.value;
    }
    const piece = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(piece.length);
    this.#position += piece.length;
    return piece;
  }

  /** `count` bytes in one buffer; fewer at the end. For small counts, since the buffer is held in memory. */
  async take(count: number): Promise<Buffer> {
    const taken: Buffer[] = [];
    for await (const piece of this.pieces(count)) taken.push(piece);
    return taken.length === 1 ? taken[0]! : Buffer.concat(taken);
  }

  /** `count` bytes, chunk by chunk; fewer at the end. */
  async *pieces(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0;) {
      const piece = await this.piece(left);
      if (!piece) return;
      left -= piece.length;
      yield piece;
    }
  }

  /** Gives back the end of the last piece. */
  unread(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([bytes, this.#rest]);
    this.#position -= bytes.length;
  }
}
