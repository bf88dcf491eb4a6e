/** Random JSON as people write it, with a record of where everything is. Every comment has a number. */
import * as fc from "fast-check";

export interface Spot {
  readonly path: readonly (string | number)[];
  /** Of the key, if it has one. */
  readonly memberStart: number;
  readonly start: number;
  readonly end: number;
}

export interface Written {
  readonly data: unknown;
  readonly text: string;
  readonly spots: readonly Spot[];
  readonly comments: readonly { readonly mark: string; readonly at: number }[];
}

/** No `__proto__`: in JavaScript, by which the results are judged, it would be something else. */
const key = fc
  .oneof(fc.constantFrom("a", "b", "plugins", "entries", "", "1", '"', "// no", "/* no */", "ü\u2028"), fc.string({ maxLength: 4 }))
  .filter((text) => text !== "__proto__" && !text.includes("«"));
const plain = fc.oneof(
  fc.constantFrom(null, true, false, 0, -1.5e10, "", "// text", "/* text */", "},]", "\\"),
  fc.integer(),
  fc.string({ maxLength: 6 }).filter((text) => !text.includes("«")),
);

export const { value } = fc.letrec<{ value: unknown; list: unknown[]; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof({ depthSize: "small" }, plain, tie("object"), tie("list")),
  list: fc.array(tie("value"), { maxLength: 4 }),
  object: fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
}));

/** A random number below the limit. */
export type Dice = (limit: number) => number;

export function diceOf(seed: number): Dice {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

class Writer {
  text: string;
  readonly spots: Spot[] = [];
  readonly comments: { mark: string; at: number }[] = [];
  readonly #dice: Dice;
  readonly #eol: string;

  constructor(dice: Dice) {
    this.#dice = dice;
    this.#eol = dice(3) === 0 ? "\r\n" : "\n";
    this.text = dice(8) === 0 ? "\ufeff" : "";
  }

  /** What may be between two tokens. */
  gap(): void {
    for (let pieces = this.#dice(3); pieces > 0; pieces--) {
      const mark = `«${this.comments.length}»`;
      const piece = [
        "",
        " ",
        "\t",
        this.#eol,
        `${this.#eol}    `,
        `/* ${mark} */`,
        `/*${mark}${this.#eol} " */`,
        `// ${mark} }{"${this.#eol}`,
      ][this.#dice(8)]!;
      if (piece.includes(mark)) this.comments.push({ mark, at: this.text.length });
      this.text += piece;
    }
  }

  write(data: unknown, path: Spot["path"], memberStart = this.text.length): void {
    const start = this.text.length;
    if (typeof data === "object" && data !== null) this.#parts(data, path);
    else this.text += JSON.stringify(data);
    this.spots.push({ path, memberStart: path.length === 0 ? start : memberStart, start, end: this.text.length });
  }

  #parts(data: object, path: Spot["path"]): void {
    const isList = Array.isArray(data);
    const pairs = isList ? [...data.entries()] : Object.entries(data as Record<string, unknown>);
    this.text += isList ? "[" : "{";
    this.gap();
    for (const [index, [step, inner]] of pairs.entries()) {
      const at = this.text.length;
      if (!isList) {
        this.text += JSON.stringify(step);
        this.gap();
        this.text += ":";
        this.gap();
      }
      this.write(inner, [...path, step], at);
      this.gap();
      if (index < pairs.length - 1 || this.#dice(4) === 0) this.text += ",";
      this.gap();
    }
    this.text += isList ? "]" : "}";
  }
}

export function written(data: unknown, dice: Dice): Written {
  const writer = new Writer(dice);
  writer.gap();
  writer.write(data, []);
  writer.gap();
  const { text, spots, comments } = writer;
  return { data, text, spots, comments };
}
