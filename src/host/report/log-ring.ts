/** Trusted side: the latest log lines of plugins, so that readers who come later see them. Bounded in number and characters. */
import { LIMITS } from "../../protocol/limits.ts";
import type { Fact } from "./events.ts";

type Line = Fact<"log">;

export class LogRing {
  #lines: Line[] = [];
  #first = 0;
  #chars = 0;

  add(line: Line): void {
    this.#lines.push(line);
    this.#chars += line.text.length;
    while (this.#lines.length - this.#first > LIMITS.report.logLines || this.#chars > LIMITS.report.logChars)
      this.#chars -= this.#lines[this.#first++]!.text.length;
    // Not a shift per line: that moves all others.
    if (this.#first < LIMITS.report.logLines) return;
    this.#lines = this.#lines.slice(this.#first);
    this.#first = 0;
  }

  /** The oldest first. */
  all(): readonly Line[] {
    return this.#lines.slice(this.#first);
  }
}
