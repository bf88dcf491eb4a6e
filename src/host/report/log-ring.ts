/** Trusted side: the latest log lines of plugins, by run, so that a run can be shown with them. Bounded in number and characters. */
import { LIMITS } from "../../protocol/limits.ts";
import type { RunDetail } from "../../protocol/live-report.ts";

type Line = RunDetail["logs"][number] & { readonly runId: string };

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

  of(wanted: string): RunDetail["logs"] {
    return this.#lines
      .slice(this.#first)
      .filter(({ runId }) => runId === wanted)
      .map(({ seq, at, plugin, level, text }) => ({ seq, at, plugin, level, text }));
  }
}
