/**
 * Inside the isolate: the cell's only source of random bytes. A cell cannot request bytes from its lane in the middle
 * of a turn, so it expands the 32 fresh bytes that the lane gave it with ChaCha20 (RFC 8439).
 */
import { chacha20 } from "@noble/ciphers/chacha.js";
import { world } from "../../boot/world.ts";
import { encode } from "../buffer/codecs.ts";

const KEY_BYTES = 32;
const BATCH_BYTES = 1024;

/**
 * A generator with fast key erasure: the first 32 bytes of each batch become the next key, and bytes are wiped from the
 * batch when they are handed out. A reader of its memory cannot compute earlier output.
 */
// SECURITY: no earlier output can be recovered from the state. test/sandbox/guest/node/crypto/random.test.ts
export class RandomGenerator {
  readonly #key = new Uint8Array(KEY_BYTES);
  /** The nonce may stay zero: no key is used for a second batch. */
  readonly #nonce = new Uint8Array(12);
  readonly #batch = new Uint8Array(BATCH_BYTES);
  /** Where the unused rest of the batch begins. */
  #at = BATCH_BYTES;

  constructor(seed: Uint8Array) {
    this.#key.set(seed.subarray(0, KEY_BYTES));
  }

  fill(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length;) {
      if (this.#at === BATCH_BYTES) this.#refill();
      const count = Math.min(bytes.length - done, BATCH_BYTES - this.#at);
      bytes.set(this.#batch.subarray(this.#at, this.#at + count), done);
      this.#batch.fill(0, this.#at, this.#at + count);
      this.#at += count;
      done += count;
    }
  }

  #refill(): void {
    // The cipher XORs its key stream into the batch, which is all zeros by now.
    chacha20(this.#key, this.#nonce, this.#batch, this.#batch);
    this.#key.set(this.#batch.subarray(0, KEY_BYTES));
    this.#batch.fill(0, 0, KEY_BYTES);
    this.#at = KEY_BYTES;
  }
}

let generator: RandomGenerator | undefined;

export function fillRandom(bytes: Uint8Array): void {
  if (!generator) {
    generator = new RandomGenerator(encode(world.seed, "hex"));
    world.seed = "";
  }
  generator.fill(bytes);
}

export function randomUuid(): string {
  const bytes = new Uint8Array(16);
  fillRandom(bytes);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
