/**
 * Trusted side: notices that a program goes on running only because its host was never closed, and logs it once. Node has no event for that, so
 * every second the host unrefs its handles for a moment and counts what else keeps the process alive.
 */
import { fstatSync } from "node:fs";
import { LIMITS } from "../protocol/limits.ts";
import type { Logger } from "./report/log.ts";

export interface Forgettable {
  /** Whether the host's handles keep the process alive. */
  readonly hold: (isHeld: boolean) => void;
  /** A run or a request to the host is pending. */
  readonly isBusy: () => boolean;
  readonly logger: Logger;
}

/** One look may fall between two things that a program does. */
const LOOKS = 2;

export class Forgotten {
  readonly #host: Forgettable;
  #timer: NodeJS.Timeout | undefined;
  #seen = 0;
  #isHeld = true;

  constructor(host: Forgettable) {
    this.#host = host;
  }

  watch(): void {
    this.#timer = setInterval(() => this.#look(), LIMITS.report.forgottenMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The gateway says whether an open host shall keep its program alive. */
  setRef(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#host.hold(isHeld);
  }

  #look(): void {
    if (!this.#isHeld || this.#host.isBusy()) return;
    this.#host.hold(false);
    const isAlone = others(process.getActiveResourcesInfo()) === 0;
    this.#host.hold(true);
    this.#seen = isAlone ? this.#seen + 1 : 0;
    if (this.#seen < LOOKS) return;
    this.stop();
    this.#host.logger.warn(
      { fix: "call host.close(), or open it with `await using`; host.unref() lets the program end with the host open" },
      "the program has nothing left to do, but a Creel host is still open and keeps it running",
    );
  }
}

/** Without the program's own input and output, and without measured delays: Node lists them although they keep no process alive. */
function others(active: readonly string[]): number {
  const left = active.filter((kind) => kind !== "IntervalHistogram");
  for (const fd of [0, 1, 2]) {
    const at = left.indexOf(kindOf(fd) ?? "");
    if (at !== -1) left.splice(at, 1);
  }
  return left.length;
}

function kindOf(fd: number): string | undefined {
  try {
    const stat = fstatSync(fd);
    if (stat.isFIFO() || stat.isSocket()) return "PipeWrap";
    return stat.isCharacterDevice() ? "TTYWrap" : undefined;
  } catch {
    // It is closed.
    return undefined;
  }
}
