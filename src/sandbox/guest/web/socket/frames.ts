/** Inside the isolate: frames of the WebSocket protocol (RFC 6455), as a client writes and reads them. */
import { Buffer } from "../../node/buffer/buffer-class.ts";
import { LIMITS } from "../../../../protocol/limits.ts";
import { crypto } from "../crypto.ts";

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** A client masks every frame. */
export function frame(opcode: number, payload: Uint8Array): Uint8Array {
  const { length } = payload;
  const extra = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const bytes = new Uint8Array(6 + extra + length);
  bytes[0] = 0x80 | opcode;
  bytes[1] = 0x80 | (extra === 0 ? length : extra === 2 ? 126 : 127);
  const view = new DataView(bytes.buffer);
  if (extra === 2) view.setUint16(2, length);
  if (extra === 8) view.setBigUint64(2, BigInt(length));
  const mask = crypto.getRandomValues(new Uint8Array(4));
  bytes.set(mask, 2 + extra);
  for (let at = 0; at < length; at++) bytes[6 + extra + at] = payload[at]! ^ mask[at & 3]!;
  return bytes;
}

/** Breaks the protocol: the connection is closed with this code. */
export class ProtocolError extends Error {
  readonly closeCode: number;
  constructor(closeCode: number, message: string) {
    super(message);
    this.closeCode = closeCode;
  }
}

/** Puts fragments together. */
export class FrameReader {
  readonly #message: (opcode: number, payload: Uint8Array) => void;
  #held: Uint8Array = new Uint8Array(0);
  #parts: Uint8Array[] = [];
  #opcode = 0;
  #bytes = 0;

  constructor(message: (opcode: number, payload: Uint8Array) => void) {
    this.#message = message;
  }

  /** Throws a ProtocolError. */
  push(chunk: Uint8Array): void {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    while (this.#next());
  }

  #next(): boolean {
    const held = this.#held;
    if (held.length < 2) return false;
    const [first, second] = [held[0]!, held[1]!];
    if ((first & 0x70) !== 0) throw new ProtocolError(1002, "reserved bits are set");
    if ((second & 0x80) !== 0) throw new ProtocolError(1002, "a server's frame is masked");
    const opcode = first & 0x0f;
    const isLast = (first & 0x80) !== 0;
    let [length, at] = [second & 0x7f, 2];
    const view = new DataView(held.buffer, held.byteOffset, held.byteLength);
    if (length === 126) {
      if (held.length < 4) return false;
      [length, at] = [view.getUint16(2), 4];
    } else if (length === 127) {
      if (held.length < 10) return false;
      [length, at] = [Number(view.getBigUint64(2)), 10];
    }
    if (opcode >= 8 && (length > 125 || !isLast)) throw new ProtocolError(1002, "a control frame is too long or in parts");
    if (this.#bytes + length > LIMITS.fetch.responseBytes) throw new ProtocolError(1009, "the message is too long");
    if (held.length < at + length) return false;
    const payload = held.subarray(at, at + length);
    this.#held = held.subarray(at + length);
    if (opcode >= 8) this.#message(opcode, payload);
    else this.#part(opcode, payload, isLast);
    return true;
  }

  #part(opcode: number, payload: Uint8Array, isLast: boolean): void {
    if ((opcode === OPCODE.continuation) === (this.#opcode === 0)) throw new ProtocolError(1002, "a message is not in order");
    if (opcode !== OPCODE.continuation) this.#opcode = opcode;
    this.#parts.push(payload);
    this.#bytes += payload.length;
    if (!isLast) return;
    const whole = Buffer.concat(this.#parts);
    const kind = this.#opcode;
    this.#parts = [];
    this.#bytes = 0;
    this.#opcode = 0;
    this.#message(kind, whole);
  }
}
