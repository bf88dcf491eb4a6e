/**
 * Trusted side: how many log lines of each plugin the host lets through within a window of time. Calls have their own limit;
 * timers and detached promises can write without end.
 */
import { LIMITS } from "../../protocol/limits.ts";
import { RateWindow } from "../../protocol/rules/rate-window.ts";

export class LogGate {
  readonly #windows = new Map<string, RateWindow>();
  readonly #now: (() => number) | undefined;

  constructor(now?: () => number) {
    this.#now = now;
  }

  /** Whether the next line goes through. `last`: it does, and it is the last one of this window. */
  admit(plugin: string): boolean | "last" {
    let window = this.#windows.get(plugin);
    if (!window) this.#windows.set(plugin, (window = new RateWindow(LIMITS.log.linesPerWindow, LIMITS.log.windowMs, this.#now)));
    const isAdmitted = window.admit();
    return isAdmitted && window.count === LIMITS.log.linesPerWindow ? "last" : isAdmitted;
  }
}
