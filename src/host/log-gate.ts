/** Trusted side: how many log lines of a plugin are let through in a while. Calls have their own limit; timers and detached promises can write without end. */
import { LIMITS } from "../protocol/limits.ts";

export class LogGate {
  readonly #windows = new Map<string, { sinceMs: number; lines: number }>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether the next line goes through; `last`: it does, and is the last one for a while. */
  admit(plugin: string): boolean | "last" {
    const nowMs = this.#now();
    let window = this.#windows.get(plugin);
    if (!window || nowMs - window.sinceMs > LIMITS.logWindowMs) this.#windows.set(plugin, (window = { sinceMs: nowMs, lines: 0 }));
    window.lines += 1;
    if (window.lines === LIMITS.logLinesPerWindow) return "last";
    return window.lines < LIMITS.logLinesPerWindow;
  }
}
