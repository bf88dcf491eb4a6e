import { createCipheriv, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { chachaBlock, Generator } from "../../../src/sandbox/guest/node/chacha.ts";

function stream(key: Uint8Array, blocks: number): Buffer {
  // OpenSSL's IV is the counter, four bytes, and the nonce.
  return createCipheriv("chacha20", key, Buffer.alloc(16)).update(Buffer.alloc(blocks * 64));
}

function draw(seed: Uint8Array): string {
  const bytes = Buffer.alloc(64);
  new Generator(seed).fill(bytes);
  return bytes.toString("hex");
}

test("a block is that of RFC 8439, section 2.3.2", () => {
  const key = Uint8Array.from({ length: 32 }, (_, i) => i);
  const block = Buffer.alloc(64);
  chachaBlock(key, 1, Buffer.from("000000090000004a00000000", "hex"), block);
  expect(block.toString("hex")).toBe(
    "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4ed2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e",
  );
});

test("the generator's bytes are ChaCha20's, and the first 32 of each batch are the next key", () => {
  const seed = randomBytes(32);
  const generator = new Generator(seed);
  const given = Buffer.alloc(5000);
  // In pieces that do not fit the batches.
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

test("two seeds give two streams, and one seed gives one", () => {
  const seed = randomBytes(32);
  expect(draw(seed)).toBe(draw(seed));
  expect(draw(seed)).not.toBe(draw(randomBytes(32)));
});
