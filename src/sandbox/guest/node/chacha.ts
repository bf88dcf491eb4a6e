/**
 * Inside the isolate: random numbers. A cell cannot ask its lane for them in the middle of a turn, so it has a generator of its own: ChaCha20
 * (RFC 8439) from the 32 fresh bytes that every cell is given, with fast key erasure: of each batch the first 32 bytes are the next
 * key, and what was handed out is wiped. SECURITY: test/guest/node/chacha.test.ts
 */

const KEY_BYTES = 32;
const BLOCK_BYTES = 64;
const BATCH_BLOCKS = 16;

function quarter(x: Uint32Array, a: number, b: number, c: number, d: number): void {
  x[a]! += x[b]!;
  x[d] = rotated(x[d]! ^ x[a]!, 16);
  x[c]! += x[d];
  x[b] = rotated(x[b]! ^ x[c]!, 12);
  x[a]! += x[b];
  x[d] = rotated(x[d] ^ x[a]!, 8);
  x[c]! += x[d];
  x[b] = rotated(x[b] ^ x[c]!, 7);
}

function rotated(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

/** One block of the key stream, into `out` at `at`. */
export function chachaBlock(key: Uint8Array, counter: number, nonce: Uint8Array, out: Uint8Array, at = 0): void {
  const [keys, nonces] = [new DataView(key.buffer, key.byteOffset), new DataView(nonce.buffer, nonce.byteOffset)];
  const start = new Uint32Array(16);
  start.set([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]);
  for (let i = 0; i < 8; i++) start[4 + i] = keys.getUint32(4 * i, true);
  start[12] = counter;
  for (let i = 0; i < 3; i++) start[13 + i] = nonces.getUint32(4 * i, true);
  const x = start.slice();
  for (let round = 0; round < 10; round++) {
    quarter(x, 0, 4, 8, 12);
    quarter(x, 1, 5, 9, 13);
    quarter(x, 2, 6, 10, 14);
    quarter(x, 3, 7, 11, 15);
    quarter(x, 0, 5, 10, 15);
    quarter(x, 1, 6, 11, 12);
    quarter(x, 2, 7, 8, 13);
    quarter(x, 3, 4, 9, 14);
  }
  const words = new DataView(out.buffer, out.byteOffset + at, BLOCK_BYTES);
  for (let i = 0; i < 16; i++) words.setUint32(4 * i, x[i]! + start[i]!, true);
}

export class Generator {
  readonly #key = new Uint8Array(KEY_BYTES);
  readonly #batch = new Uint8Array(BATCH_BLOCKS * BLOCK_BYTES);
  readonly #nonce = new Uint8Array(12);
  /** What of the batch is left begins here. */
  #at = this.#batch.length;

  constructor(seed: Uint8Array) {
    this.#key.set(seed.subarray(0, KEY_BYTES));
  }

  fill(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length;) {
      if (this.#at === this.#batch.length) this.#refill();
      const count = Math.min(bytes.length - done, this.#batch.length - this.#at);
      bytes.set(this.#batch.subarray(this.#at, this.#at + count), done);
      this.#batch.fill(0, this.#at, this.#at + count);
      this.#at += count;
      done += count;
    }
  }

  #refill(): void {
    for (let i = 0; i < BATCH_BLOCKS; i++) chachaBlock(this.#key, i, this.#nonce, this.#batch, i * BLOCK_BYTES);
    this.#key.set(this.#batch.subarray(0, KEY_BYTES));
    this.#batch.fill(0, 0, KEY_BYTES);
    this.#at = KEY_BYTES;
  }
}
