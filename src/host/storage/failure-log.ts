/**
 * Trusted side: a full disk fails every request of every plugin. The operator gets one line per window of time, with the number
 * of failures that were left out since the line before it.
 */
import { LIMITS } from "../../protocol/limits.ts";
import { RateWindow } from "../../protocol/rules/rate-window.ts";

type WriteLine = (error: unknown, more: { readonly more?: number }) => void;

export class FailureLog {
  readonly #writeLine: WriteLine;
  readonly #lines: RateWindow;
  #leftOut = 0;

  constructor(writeLine: WriteLine, now?: () => number) {
    this.#writeLine = writeLine;
    this.#lines = new RateWindow(1, LIMITS.log.failureMs, now);
  }

  failed(error: unknown): void {
    if (!this.#lines.admit()) {
      this.#leftOut += 1;
      return;
    }
    this.#writeLine(error, this.#leftOut > 0 ? { more: this.#leftOut } : {});
    this.#leftOut = 0;
  }
}
