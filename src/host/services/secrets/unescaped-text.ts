/**
 * Trusted side: reads a response character by character, as it is and with one or two layers of escapes removed: a URL
 * within a URL, JSON within HTML. Knows percent codes, JSON, JavaScript, HTML and quoted-printable. Reads each byte a
 * bounded number of times, whatever the text.
 */

const END = -1;
const NONE = -2;

export const LF = 0x0a;
export const CR = 0x0d;
const TAB = 0x09;
const QUOTE = 0x22;
const HASH = 0x23;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const APOSTROPHE = 0x27;
const SLASH = 0x2f;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const BACKSLASH = 0x5c;

/** Where an escape or a line break may begin. */
export const INTERRUPTS: Uint8Array = Uint8Array.from({ length: 256 }, (_, code) =>
  Number([PERCENT, EQUALS, BACKSLASH, AMPERSAND, CR, LF].includes(code)),
);

export class UnescapedText {
  readonly data: Buffer;
  /** Up to three readings of one place: the characters, and where each ends. */
  readonly chars: [number, number, number] = [0, 0, 0];
  readonly ends: [number, number, number] = [0, 0, 0];
  count = 0;
  /** A reading may change once more of the text has arrived. */
  isCut = false;
  #next = 0;
  #place = -1;
  #wasCut = false;

  constructor(data: Buffer) {
    this.data = data;
  }

  read(at: number): void {
    if (at !== this.#place) {
      const before = this.isCut;
      this.isCut = false;
      this.#place = at;
      this.count = 0;
      this.#note(this.#plain(at));
      if (this.count > 0 && INTERRUPTS[this.chars[0]] === 1) {
        this.#note(this.#once(at));
        this.#note(this.#twice(at));
      }
      this.#wasCut = this.isCut;
      this.isCut = before;
    }
    this.isCut ||= this.#wasCut;
  }

  /** The place after the line break, in whichever way it is read; the place itself if there is none. */
  behindBreak(at: number): number {
    const first = this.#breakAt(at);
    if (first === CR && this.#breakAt(this.#next) !== LF) return at;
    return first === END ? at : this.#next;
  }

  #breakAt(at: number): number {
    this.read(at);
    for (let way = 0; way < this.count; way++) {
      const char = this.chars[way]!;
      if (char !== LF && char !== CR) continue;
      this.#next = this.ends[way]!;
      return char;
    }
    return END;
  }

  #note(char: number): void {
    if (char === END || (this.count > 0 && this.#next === this.ends[this.count - 1])) return;
    this.chars[this.count] = char;
    this.ends[this.count] = this.#next;
    this.count += 1;
  }

  #plain(at: number): number {
    if (at >= this.data.length) {
      this.isCut = true;
      return END;
    }
    this.#next = at + 1;
    return this.data[at]!;
  }

  #once(at: number): number {
    const char = this.#plain(at);
    return char === END || INTERRUPTS[char] === 0 ? char : this.#unescape(char, false);
  }

  #twice(at: number): number {
    const char = this.#once(at);
    return char === END || INTERRUPTS[char] === 0 ? char : this.#unescape(char, true);
  }

  /** What the character and those after it encode; otherwise the character itself. */
  #unescape(char: number, isInner: boolean): number {
    const after = this.#next;
    const found =
      char === PERCENT
        ? this.#hex(isInner, 2)
        : char === AMPERSAND
          ? this.#entity(isInner)
          : char === BACKSLASH
            ? this.#backslash(isInner)
            : char === EQUALS
              ? this.#quotedPrintable(isInner)
              : NONE;
    if (found !== NONE) return found;
    this.#next = after;
    return char;
  }

  /** The next character of an escape, with one layer of escapes removed from it. */
  #inner(isInner: boolean): number {
    return isInner ? this.#once(this.#next) : this.#plain(this.#next);
  }

  #quotedPrintable(isInner: boolean): number {
    const after = this.#next;
    const char = this.#inner(isInner);
    // A soft line break.
    if (char === LF) return LF;
    if (char === CR) return this.#inner(isInner) === LF ? LF : NONE;
    this.#next = after;
    return this.#hex(isInner, 2);
  }

  #backslash(isInner: boolean): number {
    const char = this.#inner(isInner);
    if (char === QUOTE || char === APOSTROPHE || char === SLASH || char === BACKSLASH) return char;
    if (char === 0x75) return this.#hex(isInner, 4);
    if (char === 0x78) return this.#hex(isInner, 2);
    return char === 0x6e ? LF : char === 0x72 ? CR : char === 0x74 ? TAB : NONE;
  }

  #hex(isInner: boolean, digits: number): number {
    let value = 0;
    for (let count = 0; count < digits; count++) {
      const digit = hexDigit(this.#inner(isInner));
      if (digit === NONE) return NONE;
      value = value * 16 + digit;
    }
    return value < 256 ? value : NONE;
  }

  #entity(isInner: boolean): number {
    let char = this.#inner(isInner);
    if (char !== HASH) return this.#named(char, isInner);
    char = this.#inner(isInner);
    const isHex = (char | 0x20) === 0x78;
    if (isHex) char = this.#inner(isInner);
    let value = 0;
    // Leading zeros are allowed, but only so many.
    for (let count = 0; count < ENTITY_DIGITS; count++) {
      const digit = isHex ? hexDigit(char) : char >= 0x30 && char <= 0x39 ? char - 0x30 : NONE;
      if (digit === NONE) return char === SEMICOLON && count > 0 && value < 256 ? value : NONE;
      value = value * (isHex ? 16 : 10) + digit;
      char = this.#inner(isInner);
    }
    return char === SEMICOLON && value < 256 ? value : NONE;
  }

  #named(first: number, isInner: boolean): number {
    let name = "";
    for (let char = first; name.length <= LONGEST_NAME; char = this.#inner(isInner)) {
      if (char === SEMICOLON) return NAMED.get(name) ?? NONE;
      const lower = char | 0x20;
      if (char < 0 || lower < 0x61 || lower > 0x7a) return NONE;
      name += String.fromCharCode(char);
    }
    return NONE;
  }
}

const ENTITY_DIGITS = 8;

function hexDigit(char: number): number {
  if (char >= 0x30 && char <= 0x39) return char - 0x30;
  const lower = char | 0x20;
  return char > 0 && lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : NONE;
}

/** HTML's names of ASCII characters. */
const NAMED: ReadonlyMap<string, number> = new Map(
  Object.entries({
    " ": "nbsp",
    "!": "excl",
    '"': "quot QUOT",
    "#": "num",
    $: "dollar",
    "%": "percnt",
    "&": "amp AMP",
    "'": "apos",
    "(": "lpar",
    ")": "rpar",
    "*": "ast midast",
    "+": "plus",
    ",": "comma",
    ".": "period",
    "/": "sol",
    ":": "colon",
    ";": "semi",
    "<": "lt LT",
    "=": "equals",
    ">": "gt GT",
    "?": "quest",
    "@": "commat",
    "[": "lsqb lbrack",
    "\\": "bsol",
    "]": "rsqb rbrack",
    "^": "Hat",
    _: "lowbar UnderBar",
    "`": "grave DiacriticalGrave",
    "{": "lcub lbrace",
    "|": "verbar vert VerticalLine",
    "}": "rcub rbrace",
    "\t": "Tab",
    "\n": "NewLine",
  }).flatMap(([char, names]) => names.split(" ").map((name): [string, number] => [name, char.charCodeAt(0)])),
);
const LONGEST_NAME = Math.max(...Array.from(NAMED.keys(), (name) => name.length));

/** Pairs of characters that begin an escape. */
export const ESCAPES: readonly [first: number, second: number][] = [
  ...pairs("%=", "0123456789abcdefABCDEF"),
  ...pairs("\\", "\"'/\\ux"),
  ...pairs("&", "#abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
];

function pairs(firsts: string, seconds: string): [number, number][] {
  return Array.from(firsts).flatMap((first) =>
    Array.from(seconds, (second): [number, number] => [first.charCodeAt(0), second.charCodeAt(0)]),
  );
}
