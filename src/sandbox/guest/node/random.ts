/** Inside the isolate: the cell's one source of random bytes. */
import { world } from "../world.ts";
import { Generator } from "./chacha.ts";
import { encode } from "./codecs.ts";

let generator: Generator | undefined;

export function fillRandom(bytes: Uint8Array): void {
  if (!generator) {
    generator = new Generator(encode(world.seed, "hex"));
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
