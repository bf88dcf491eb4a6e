/** Single keys at the terminal of `creel dev`. Without a terminal there are none. Whatever happens, it is given back as it was. */
const CTRL_C = "\u0003";

export class Keys implements Disposable {
  readonly #stream: NodeJS.ReadStream;
  readonly #pressed: (chunk: Buffer) => void;
  #isOver = false;

  /** `quit`: Ctrl-C, which a terminal that gives single keys does not turn into a signal. Undefined: this is no terminal. */
  static at(stream: NodeJS.ReadStream, pressed: (key: string) => void, quit: () => void): Keys | undefined {
    return stream.isTTY ? new Keys(stream, pressed, quit) : undefined;
  }

  private constructor(stream: NodeJS.ReadStream, pressed: (key: string) => void, quit: () => void) {
    this.#stream = stream;
    this.#pressed = (chunk: Buffer) => {
      for (const key of chunk.toString()) {
        if (key === CTRL_C || key === "q") return quit();
        pressed(key);
      }
    };
    this.resume();
  }

  /** Another program, such as an editor, gets the terminal. */
  pause(): void {
    this.#stream.off("data", this.#pressed);
    this.#stream.setRawMode(false);
    this.#stream.pause();
  }

  resume(): void {
    if (this.#isOver) return;
    this.#stream.setRawMode(true);
    this.#stream.resume();
    this.#stream.on("data", this.#pressed);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.pause();
  }
}
