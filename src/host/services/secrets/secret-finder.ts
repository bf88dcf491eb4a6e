/**
 * Trusted side: finds secrets in what servers send, all of them in one pass. Tables of the pairs of characters that a
 * secret can begin with rule out most bytes. From any other byte on, the unescaped text is compared with every form
 * that may begin there.
 */
import { SecretForms } from "./secret-forms.ts";
import type { Form } from "./secret-forms.ts";
import { CR, ESCAPES, INTERRUPTS, LF } from "./unescaped-text.ts";
import type { UnescapedText } from "./unescaped-text.ts";

/** A secret to look for, and the name to write in its place. */
export interface Redaction {
  readonly name: string;
  readonly forms: SecretForms;
  /**
   * How its forms begin: one bit for each pair of first and second, second and third, third and fourth characters,
   * where an escape may stand for a character; and again for each pair of first and second characters, where it may
   * not.
   */
  readonly pairs: Uint32Array;
}

const WORDS = 65_536 / 32;
const TABLES = 4;

export function redactionOf(name: string, secret: string): Redaction {
  const forms = new SecretForms(secret);
  const pairs = new Uint32Array(TABLES * WORDS);
  const note = (table: number, first: number, second: number): void => {
    const pair = first | (second << 8);
    pairs[table * WORDS + (pair >> 5)]! |= 1 << (pair & 31);
  };
  const interrupts = [...INTERRUPTS.keys()].filter((code) => INTERRUPTS[code] === 1);
  for (const [first, second] of ESCAPES) note(0, first, second);
  for (const table of [0, 1, 2]) {
    for (const { places } of forms.all) {
      const seconds = forms.members(places[table + 1]!);
      for (const first of forms.members(places[table]!)) {
        for (const second of [...seconds, ...interrupts]) note(table, first, second);
        if (table === 0) for (const second of seconds) note(3, first, second);
      }
    }
    // Anything may follow the beginning of an escape.
    if (table > 0) for (const first of interrupts) for (let second = 0; second < 256; second++) note(table, first, second);
  }
  return { name, forms, pairs };
}

export interface Found {
  readonly start: number;
  readonly end: number;
  /** Undefined: a secret may begin at `start`, and the rest of it is still to come. */
  readonly name: string | undefined;
}

/** Results of comparing a form with the text, other than the place where the form ends. */
const NO = -1;
const CUT = -2;
const SEVERAL = -3;

export class SecretFinder {
  readonly #redactions: readonly Redaction[];
  readonly #pairs: Uint32Array;
  /** No shorter text contains a secret. Infinity without secrets. */
  readonly shortest: number;

  constructor(redactions: readonly Redaction[]) {
    this.#redactions = redactions;
    this.shortest = Math.min(...redactions.map(({ forms }) => forms.shortest));
    this.#pairs = redactions.length === 1 ? redactions[0]!.pairs : new Uint32Array(TABLES * WORDS);
    if (redactions.length > 1) for (const { pairs } of redactions) for (let at = 0; at < pairs.length; at++) this.#pairs[at]! |= pairs[at]!;
  }

  /** The first secret that begins at `from` or later. `isLast`: the text ends here. */
  next(text: UnescapedText, from: number, isLast: boolean): Found | undefined {
    const { data } = text;
    // The last three bytes do not form all pairs yet.
    const last = data.length - 3;
    const pairs = this.#pairs;
    let at = from;
    let second = at < last ? data[at]! : 0;
    for (; at < last; at++) {
      const first = second;
      second = data[at + 1]!;
      const pair = first | (second << 8);
      if ((pairs[pair >> 5]! & (1 << (pair & 31))) === 0) continue;
      if (INTERRUPTS[first] === 0) {
        if (INTERRUPTS[second] === 1) {
          if (!this.#goesOn(text, first, at + 1, isLast)) continue;
        } else {
          const third = data[at + 2]!;
          if (!this.#has(1, second, third) || !this.#has(2, third, data[at + 3]!)) continue;
        }
      }
      const found = this.#at(text, at, isLast);
      if (found) return found;
    }
    for (; at < data.length; at++) {
      const found = this.#at(text, at, isLast);
      if (found) return found;
    }
    return undefined;
  }

  #has(table: number, first: number, second: number): boolean {
    const pair = first | (second << 8);
    return (this.#pairs[table * WORDS + (pair >> 5)]! & (1 << (pair & 31))) !== 0;
  }

  /**
   * Whether a form may continue after this first character with what follows, where an escape or a line break begins.
   */
  #goesOn(text: UnescapedText, first: number, from: number, isLast: boolean): boolean {
    const { data } = text;
    let at = from;
    if (data[at] === CR) at += 1;
    if (data[at] === LF) at += 1;
    if (at < data.length && INTERRUPTS[data[at]!] === 0) return this.#has(3, first, data[at]!);
    text.isCut = false;
    text.read(at);
    if (text.isCut) return !isLast;
    for (let way = 0; way < text.count; way++) {
      const char = text.chars[way]!;
      // An escaped line break. The comparison reads what follows it.
      if ((way > 0 && (char === CR || char === LF)) || this.#has(3, first, char)) return true;
    }
    return false;
  }

  #at(text: UnescapedText, at: number, isLast: boolean): Found | undefined {
    let best: Found | undefined;
    text.isCut = false;
    text.read(at);
    if (text.isCut && !isLast) return { start: at, end: at, name: undefined };
    const { count } = text;
    for (let way = 0; way < count; way++) {
      const first = text.chars[way]!;
      const behind = text.ends[way]!;
      for (const { name, forms } of this.#redactions) {
        const possible = forms.byFirst[first];
        if (possible)
          for (const form of possible) {
            const end = compare(form, forms, text, behind, isLast);
            if (end === CUT) return { start: at, end: at, name: undefined };
            if (end > (best?.end ?? 0)) best = { start: at, end, name };
          }
      }
      // The comparison has overwritten what was read here.
      if (way + 1 < count) text.read(at);
    }
    return best;
  }
}

/** Where the form ends whose first character stands before `from`. */
function compare(form: Form, forms: SecretForms, text: UnescapedText, from: number, isLast: boolean): number {
  const { data } = text;
  const { places } = form;
  let at = from;
  for (let place = 1; place < places.length; place++) {
    if (data[at] === CR) at += 1;
    if (data[at] === LF) at += 1;
    if (at >= data.length) return isLast ? NO : CUT;
    const char = data[at]!;
    // An empty line ends a text. It separates events, which must not wait for the next one.
    if (char === CR || char === LF) return NO;
    if (INTERRUPTS[char] === 0) {
      if (!forms.has(places[place]!, char)) return NO;
      at += 1;
      continue;
    }
    text.isCut = false;
    text.read(at);
    if (text.isCut && !isLast) return CUT;
    const only = onlyWay(forms, places[place]!, text);
    if (only === SEVERAL) return compareWays(form, forms, text, at, place, isLast);
    if (only === NO) return NO;
    at = only;
  }
  return at;
}

/** Where the text continues, if the last character has only one reading. */
function onlyWay(forms: SecretForms, set: number, text: UnescapedText): number {
  let found = NO;
  for (let way = 0; way < text.count; way++) {
    const char = text.chars[way]!;
    const fits = forms.has(set, char);
    if (char === CR || char === LF || (fits && found !== NO)) return SEVERAL;
    if (fits) found = text.ends[way]!;
  }
  return found;
}

/** The same with several readings, which are followed in parallel: a `%` may be itself or begin an escape. */
function compareWays({ places }: Form, forms: SecretForms, text: UnescapedText, from: number, first: number, isLast: boolean): number {
  text.isCut = false;
  let here = [from];
  for (let place = first; place < places.length && here.length > 0; place++) {
    const there: number[] = [];
    for (const at of here) {
      step(forms, places[place]!, text, at, there);
      if (at < text.data.length && INTERRUPTS[text.data[at]!] === 0) continue;
      const behind = text.behindBreak(at);
      if (behind !== at) step(forms, places[place]!, text, behind, there);
    }
    here = there;
  }
  if (text.isCut && !isLast) return CUT;
  return here.length === 0 ? NO : Math.max(...here);
}

/** Adds where the text continues after one character of the set, in each reading. */
function step(forms: SecretForms, set: number, text: UnescapedText, at: number, there: number[]): void {
  text.read(at);
  for (let way = 0; way < text.count; way++)
    if (forms.has(set, text.chars[way]!) && !there.includes(text.ends[way]!)) there.push(text.ends[way]!);
}
