/**
 * Trusted side: progress updates of a tool, on their way to a client of `creel serve`. The plugin decides how many it
 * sends and the client how fast it reads, so both are bounded: updates past a bound are dropped and counted, and the
 * next update that is sent carries the count. The answer always has room.
 */
import { LIMITS } from "../protocol/limits.ts";
import type { RequestId, ServerFrame } from "../protocol/serve.ts";

export interface UpdateOutlet {
  /** Bytes that wait for the client to read. */
  readonly waitingBytes: number;
  send(frame: ServerFrame): void;
}

export class CallUpdates {
  readonly #outlet: UpdateOutlet;
  readonly #id: RequestId;
  #sentBytes = 0;
  #dropped = 0;
  /** The last that was left out, if it is not too large to be kept. */
  #last: unknown;

  constructor(outlet: UpdateOutlet, id: RequestId) {
    this.#outlet = outlet;
    this.#id = id;
  }

  tell(value: unknown): void {
    const bytes = Buffer.byteLength(JSON.stringify(value) ?? "");
    if (this.#sentBytes + bytes > LIMITS.serve.updatesBytes || !this.#fits(bytes)) {
      this.#dropped += 1;
      this.#last = bytes <= LIMITS.serve.lastUpdateBytes ? value : undefined;
      return;
    }
    this.#sentBytes += bytes;
    this.#send(value);
  }

  /** Before the answer: if updates were dropped, sends the last of them with the count. */
  end(): void {
    if (this.#dropped > 0) this.#send(this.#last);
  }

  #fits(bytes: number): boolean {
    return this.#outlet.waitingBytes + bytes <= LIMITS.serve.updateBufferBytes;
  }

  #send(value: unknown): void {
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#last = undefined;
    this.#outlet.send({ update: this.#id, value: value ?? null, ...(dropped > 0 && { dropped }) });
  }
}
