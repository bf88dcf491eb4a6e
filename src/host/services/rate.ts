/** Trusted side: how often a plugin may ask for something in a while. */
import { CreelError } from "../../protocol/errors.ts";
import type { ErrorCode } from "../../protocol/errors.ts";

interface Window {
  startedMs: number;
  count: number;
}

export class Rate {
  readonly #code: ErrorCode;
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #windows = new Map<string, Window>();

  /** `code`: of an error whose message has places for `limit` and `seconds`. */
  constructor(code: ErrorCode, limit: number, windowMs: number) {
    this.#code = code;
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /** Throws when it is too often. */
  take(plugin: string): void {
    const nowMs = performance.now();
    let window = this.#windows.get(plugin);
    if (!window || nowMs - window.startedMs > this.#windowMs) this.#windows.set(plugin, (window = { startedMs: nowMs, count: 0 }));
    window.count += 1;
    if (window.count > this.#limit) throw new CreelError(this.#code, { limit: this.#limit, seconds: this.#windowMs / 1000 });
  }
}
