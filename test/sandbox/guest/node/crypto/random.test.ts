import { createCipheriv, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { RandomGenerator } from "../../../../../src/sandbox/guest/node/crypto/random.ts";

function stream(key: Uint8Array, blocks: number): Buffer {
  // OpenSSL's IV is the counter, four bytes, and the nonce.
  return createCipheriv("chacha20", key, Buffer.alloc(16)).update(Buffer.alloc(blocks * 64));
}

function draw(seed: Uint8Array): string {
  const bytes = Buffer.alloc(64);
  new RandomGenerator(seed).fill(bytes);
  return bytes.toString("hex");
}

test("the generator gives the bytes of OpenSSL's ChaCha20, and the first 32 of each batch become the next key", () => {
  const seed = randomBytes(32);
  const generator = new RandomGenerator(seed);
  const given = Buffer.alloc(5000);
  // Pieces that cross the borders of batches.
  for (let at = 0; at < given.length; at += 77) generator.fill(given.subarray(at, Math.min(at + 77, given.length)));
  let key: Uint8Array = seed;
  const expected: Buffer[] = [];
  for (let i = 0; i < 6; i++) {
    const batch = stream(key, 16);
    expected.push(batch.subarray(32));
    key = batch.subarray(0, 32);
  }
  expect(given.equals(Buffer.concat(expected).subarray(0, given.length))).toBe(true);
});

test("equal seeds give equal streams, different seeds different ones", () => {
  const seed = randomBytes(32);
  expect(draw(seed)).toBe(draw(seed));
  expect(draw(seed)).not.toBe(draw(randomBytes(32)));
});

test("after a draw neither the seed nor the bytes drawn are left in the generator's buffers", () => {
  const seed = randomBytes(32);
  const buffers: Uint8Array[] = [];
  class Recorded extends Uint8Array {
    constructor(...args: [number]) {
      super(...args);
      buffers.push(this);
    }
  }
  const drawn = Buffer.alloc(900);
  const native = globalThis.Uint8Array;
  globalThis.Uint8Array = Recorded as typeof Uint8Array;
  try {
    new RandomGenerator(seed).fill(drawn);
  } finally {
    globalThis.Uint8Array = native;
  }
  const memory = Buffer.concat(buffers.map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)));
  expect(memory.length).toBeGreaterThan(1024);
  expect(memory.includes(seed)).toBe(false);
  for (let at = 0; at + 16 <= 800; at += 16) expect(memory.includes(drawn.subarray(at, at + 16))).toBe(false);
});
