/**
 * Trusted side: breakpoints that a debugger has taken back just after the plugin was loaded again. Chrome DevTools does that with each of
 * its own, and sets it again when it has read the new script. A call in between would not stop, so the cell keeps them for a moment.
 */
import { LIMITS } from "../../protocol/limits.ts";
import type { CdpMessage } from "./debugger-state.ts";

type Remove = (breakpointId: string) => void;

export class LateRemovals {
  /** By id: the place where it was set. */
  readonly #held = new Map<string, string>();
  readonly #remove: Remove;
  #untilMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(remove: Remove) {
    this.#remove = remove;
  }

  /** The debugger learns of a new isolate now. What was held concerns the one before. */
  begin(): void {
    this.clear();
    this.#untilMs = performance.now() + LIMITS.inspect.settleMs;
  }

  clear(): void {
    this.#held.clear();
    clearTimeout(this.#timer);
    this.#untilMs = -Infinity;
  }

  /** `set`: the command that has set the breakpoint. False: it is removed as usual. */
  hold(breakpointId: string, set: CdpMessage | undefined): boolean {
    if (!set || performance.now() > this.#untilMs) return false;
    if (this.#held.size === 0) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#removeAll(), LIMITS.inspect.settleMs).unref();
    }
    this.#held.set(breakpointId, placeOf(set));
    return true;
  }

  /** Before a breakpoint is set: the one at this place makes room for it. */
  setting(command: CdpMessage): void {
    const place = placeOf(command);
    for (const [id, held] of this.#held) {
      if (held !== place) continue;
      this.#held.delete(id);
      this.#remove(id);
    }
  }

  #removeAll(): void {
    const ids = [...this.#held.keys()];
    this.clear();
    for (const id of ids) this.#remove(id);
  }
}

function placeOf({ params = {} }: CdpMessage): string {
  const { url, urlRegex, scriptHash, lineNumber, columnNumber } = params;
  return JSON.stringify([url, urlRegex, scriptHash, lineNumber, columnNumber]);
}
