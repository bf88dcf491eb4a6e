/** Progress of a measurement: one line that rewrites itself on a terminal; otherwise one line per part. */
import type { Step } from "./measure.ts";
import type { Terminal } from "../ui/terminal.ts";

/** Writing more often would disturb the measurement. */
const EVERY_MS = 100;

export class Progress {
  readonly #terminal: Terminal;
  readonly #leftMs: () => number | undefined;
  #part = "";
  #toldMs = -Infinity;

  /** `leftMs`: the time left in total, if known. */
  constructor(terminal: Terminal, leftMs: () => number | undefined = () => undefined) {
    this.#terminal = terminal;
    this.#leftMs = leftMs;
  }

  /** Another part begins. */
  begin(part: string): void {
    this.#part = part;
    this.#toldMs = -Infinity;
    if (this.#terminal.rewrite) this.#show("");
    else this.#terminal.line(`${part}${left(this.#leftMs())}`);
  }

  readonly step = ({ phase, at, of }: Step): void => {
    if (!this.#terminal.rewrite || performance.now() - this.#toldMs < EVERY_MS) return;
    this.#show(`  ${phase} ${at + 1} of ${of}`);
  };

  /** The part is over; `text` stays on the screen. */
  end(text: string): void {
    this.#terminal.line(text);
  }

  /** All is over, and nothing is to remain. */
  clear(): void {
    this.#terminal.rewrite?.("");
  }

  #show(step: string): void {
    this.#toldMs = performance.now();
    this.#terminal.rewrite!(`${this.#part}${step}${left(this.#leftMs())}`);
  }
}

function left(ms: number | undefined): string {
  return ms === undefined ? "" : `, about ${clock(ms)} left`;
}

export function clock(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
