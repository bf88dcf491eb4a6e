/** Trusted side: how often each plugin may use a service within a window of time. */
import { CreelError } from "../../protocol/errors.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import { RateWindow } from "../../protocol/rules/rate-window.ts";

export class PluginRates {
  readonly #code: ErrorCode;
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #windows = new Map<string, RateWindow>();

  /** `code`: an error whose message takes `limit` and `seconds`. */
  constructor(code: ErrorCode, limit: number, windowMs: number) {
    this.#code = code;
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /** Throws when the plugin is over its limit. */
  take(plugin: string): void {
    let window = this.#windows.get(plugin);
    if (!window) this.#windows.set(plugin, (window = new RateWindow(this.#limit, this.#windowMs)));
    if (!window.admit()) throw new CreelError(this.#code, { limit: this.#limit, seconds: this.#windowMs / 1000 });
  }
}
