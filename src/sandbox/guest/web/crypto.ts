/**
 * Inside the isolate: the Web's `crypto`. Random numbers come from the cell's own generator, `subtle` from its lane.
 */
import { fillRandom, randomUuid } from "../node/crypto/random.ts";
import { DOMException } from "./dom-exception.ts";
import { coded, expose } from "./idl.ts";
import { CryptoKey, subtle, SubtleCrypto } from "./subtle.ts";

const INTEGERS = /^(?:Big)?(?:Uint|Int)(?:8|16|32|64)(?:Clamped)?Array$/;
const MOST = 65_536;
// oxlint-disable-next-line typescript/unbound-method -- called on the value in question
const tagOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag)!.get!;

let hasOne = false;

class Crypto {
  constructor() {
    if (hasOne) throw coded(TypeError, "ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor");
    hasOne = true;
  }

  get subtle(): SubtleCrypto {
    return subtle;
  }

  getRandomValues<T>(array: T): T {
    const view = array as Uint8Array;
    const tag = typeof array === "object" && array !== null ? (tagOf.call(array) as unknown) : undefined;
    if (typeof tag !== "string" || !INTEGERS.test(tag))
      throw new DOMException("The data argument must be an integer-type TypedArray", "TypeMismatchError");
    if (view.byteLength > MOST) throw new DOMException("The requested length exceeds 65,536 bytes", "QuotaExceededError");
    fillRandom(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
    return array;
  }

  randomUUID(): string {
    return randomUuid();
  }
}

expose(Crypto);

export const crypto = new Crypto();
export { Crypto, CryptoKey, SubtleCrypto };
