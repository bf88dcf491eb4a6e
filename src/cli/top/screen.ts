/** Trusted side: a terminal that `creel top` paints over and over. Whatever happens, the terminal is given back as it was. */
import { styleText } from "node:util";
import type { Style } from "../ui/terminal.ts";

const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const CLEAR_LINE = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";
const MIN_WIDTH = 60;
const CTRL_C = "\u0003";

export class TopScreen implements Disposable {
  readonly #out: NodeJS.WriteStream;
  readonly #keys: NodeJS.ReadStream | undefined;
  readonly #restore = (): void => void this.#out.write(LEAVE);
  readonly #onKey: (chunk: Buffer) => void;

  /** `quit`: the person wants to leave, by q or Ctrl-C. */
  constructor(out: NodeJS.WriteStream, keys: NodeJS.ReadStream, quit: () => void) {
    this.#out = out;
    this.#keys = keys.isTTY ? keys : undefined;
    this.#onKey = (chunk) => {
      if (chunk.includes("q") || chunk.includes(CTRL_C)) quit();
    };
    out.write(ENTER);
    // Also if an exception ends the process.
    process.once("exit", this.#restore);
    this.#keys?.setRawMode(true);
    this.#keys?.on("data", this.#onKey);
  }

  get width(): number {
    return Math.max(MIN_WIDTH, this.#out.columns || 0);
  }

  get rows(): number {
    return this.#out.rows || 24;
  }

  readonly paint = (style: Style, text: string): string => styleText(style, text, { stream: this.#out });

  draw(lines: readonly string[]): void {
    const shown = lines.slice(0, this.rows);
    this.#out.write(`${HOME}${shown.map((line) => `${line}${CLEAR_LINE}`).join("\r\n")}${CLEAR_BELOW}`);
  }

  [Symbol.dispose](): void {
    process.off("exit", this.#restore);
    this.#keys?.off("data", this.#onKey);
    this.#keys?.setRawMode(false);
    this.#keys?.pause();
    this.#restore();
  }
}
