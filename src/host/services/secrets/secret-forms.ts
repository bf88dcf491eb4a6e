/**
 * Trusted side: the texts in which a server may send a secret back: in any letter case, in UTF-16, hexadecimal, base64
 * and double base64. Each form is a sequence of character sets, because the first and last character of base64 encode
 * the secret only in part. Escapes (JSON, URLs, HTML, quoted-printable) and line breaks are not forms:
 * unescaped-text.ts removes them wherever they stand.
 */

/** The characters that one place of a form may have, one byte each. */
type Place = string;

export interface Form {
  /** The number of the set at each place. */
  readonly places: Uint16Array;
}

/** All forms of one secret. */
export class SecretForms {
  readonly all: readonly Form[];
  /** The forms that may begin with a character. */
  readonly byFirst: readonly (readonly Form[] | undefined)[];
  /** Places of the shortest form. */
  readonly shortest: number;
  readonly #sets: Uint32Array;

  constructor(secret: string) {
    const rows = rowsOf(secret);
    const numbers = new Map<Place, number>();
    for (const row of rows) for (const place of row) if (!numbers.has(place)) numbers.set(place, numbers.size);
    this.all = rows.map((row) => ({ places: Uint16Array.from(row, (place) => numbers.get(place)!) }));
    this.shortest = Math.min(...rows.map((row) => row.length));
    // 256 bits for each set.
    this.#sets = new Uint32Array(8 * numbers.size);
    for (const [place, number] of numbers) for (const code of codes(place)) this.#sets[number * 8 + (code >> 5)]! |= 1 << (code & 31);
    const byFirst: Form[][] = [];
    for (const [index, row] of rows.entries()) for (const code of codes(row[0]!)) (byFirst[code] ??= []).push(this.all[index]!);
    this.byFirst = Array.from({ length: 256 }, (_, code) => byFirst[code]);
  }

  has(set: number, code: number): boolean {
    return (this.#sets[set * 8 + (code >> 5)]! & (1 << (code & 31))) !== 0;
  }

  /** The characters of a set. */
  members(set: number): number[] {
    return Array.from({ length: 256 }, (_, code) => code).filter((code) => this.has(set, code));
  }
}

function codes(place: Place): number[] {
  return Array.from(place, (char) => char.charCodeAt(0));
}

/** A secret is printable ASCII: see protocol/config/secrets.ts. */
function rowsOf(secret: string): Place[][] {
  const chars = Array.from(secret);
  // HTML forms encode a space as a plus.
  const plain = chars.map((char) => (char === " " ? " +" : bothCases(char)));
  const hex = Array.from(Buffer.from(secret, "latin1").toString("hex"), bothCases);
  const once = inBase64(chars);
  return [
    plain,
    hex,
    chars.flatMap((char) => [char, "\0"]),
    chars.flatMap((char) => ["\0", char]),
    ...once,
    ...once.flatMap((row) => inBase64(row)),
  ];
}

function bothCases(char: string): Place {
  const lower = char.toLowerCase();
  return lower === char.toUpperCase() ? char : lower + char.toUpperCase();
}

/** Both alphabets: the URL alphabet differs in the last two characters. */
const ALPHABET: readonly Place[] = [...Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"), "+-", "/_"];

/** How a text looks in the middle of a longer one, by the number of bytes that precede it in a group of three. */
function inBase64(text: readonly Place[]): Place[][] {
  return [0, 1, 2].map((lead) => {
    const row: Place[] = [];
    const bits = (lead + text.length) * 8;
    for (let at = Math.floor((lead * 8) / 6) * 6; at < bits; at += 6) {
      const byte = (at >> 3) - lead;
      const offset = at & 7;
      // The number of bits from the next byte. A byte outside the text may have any value.
      const taken = Math.max(0, offset - 2);
      const high = parts(text[byte], taken > 0 ? 0 : 2 - offset, 63 >> taken);
      const low = taken === 0 ? ZERO : parts(text[byte + 1], 8 - taken, (1 << taken) - 1);
      if (high.length * low.length === 1) row.push(ALPHABET[(high[0]! << taken) | low[0]!]!);
      else row.push([...new Set(high.flatMap((first) => low.map((second) => ALPHABET[(first << taken) | second]!)))].join(""));
    }
    return row;
  });
}

const ZERO = [0];

/** The values that some bits of a byte may have. */
function parts(place: Place | undefined, shift: number, mask: number): number[] {
  if (place === undefined) return Array.from({ length: mask + 1 }, (_, value) => value);
  if (place.length === 1) return [(place.charCodeAt(0) >> shift) & mask];
  return [...new Set(codes(place).map((code) => (code >> shift) & mask))];
}
