/** Reads numbers in the texts between host, lane and cell. It is on the path of every call, so it parses by hand. */
const ZERO = 48;
const NINE = 57;

/**
 * Reads decimal numbers from a text, each with the one character that ends it. Throws a RangeError if there is none.
 */
export class NumberReader {
  readonly #text: string;
  at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  next(): number {
    const text = this.#text;
    let at = this.at;
    let value = 0;
    let code = text.charCodeAt(at);
    while (code >= ZERO && code <= NINE) {
      value = value * 10 + (code - ZERO);
      at += 1;
      code = text.charCodeAt(at);
    }
    if (at === this.at || value > Number.MAX_SAFE_INTEGER || Number.isNaN(code)) throw new RangeError("a number was expected");
    this.at = at + 1;
    return value;
  }

  /** As `next`, but the number must end with this character. */
  upTo(mark: string): number {
    const value = this.next();
    if (this.#text[this.at - 1] !== mark) throw new RangeError(`a "${mark}" was expected`);
    return value;
  }
}
