/** Trusted side: takes secrets out of what servers answer, in one piece or as it comes, also where one is split between two chunks. */
import { formsOf } from "./secret-forms.ts";
import type { Form } from "./secret-forms.ts";

/** A secret to look for, and what is written in its place. */
export interface Redaction {
  readonly name: string;
  readonly forms: readonly Form[];
}

export function redactionOf(name: string, secret: string): Redaction {
  return { name, forms: formsOf(secret) };
}

interface Span {
  start: number;
  end: number;
  readonly name: string;
}

export class Redactor {
  readonly #redactions: readonly Redaction[];
  /** Of all forms; without any, no text is long enough. */
  readonly #shortest: number;
  /** Not given out yet: a secret may begin in it. */
  #tail: Buffer = Buffer.alloc(0);
  /** So many bytes of the tail belong to a secret that was replaced already. */
  #covered = 0;
  readonly #found: (name: string) => void;

  /** `found` is told of every secret that was taken out. */
  constructor(redactions: readonly Redaction[], found: (name: string) => void = () => {}) {
    this.#redactions = redactions;
    this.#found = found;
    this.#shortest = Math.min(...redactions.flatMap(({ forms }) => forms.map(({ bytes }) => bytes.length)));
  }

  /** Another text, of one character per byte, such as a header. */
  text(text: string): string {
    if (text.length < this.#shortest) return text;
    const other = new Redactor(this.#redactions, this.#found);
    return other.#scan(Buffer.from(text, "latin1"), true).toString("latin1");
  }

  push(chunk: Buffer): Buffer {
    return this.#redactions.length === 0 ? chunk : this.#scan(chunk, false);
  }

  /** What was held back. */
  end(): Buffer {
    return this.#redactions.length === 0 ? Buffer.alloc(0) : this.#scan(Buffer.alloc(0), true);
  }

  // SECURITY: what begins before the limit is seen whole, so nothing that is given out belongs to a secret. test/host/redact.test.ts
  #scan(chunk: Buffer, isLast: boolean): Buffer {
    const data = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk]);
    const limit = isLast ? data.length : this.#undecided(data);
    const out: Buffer[] = [];
    let done = this.#covered;
    for (const { start, end, name } of this.#spans(data, limit)) {
      if (start >= done) {
        out.push(data.subarray(done, start), Buffer.from(`[secret ${name}]`));
        this.#found(name);
      }
      done = Math.max(done, end);
    }
    if (done < limit) {
      out.push(data.subarray(done, limit));
      done = limit;
    }
    // A copy: a small rest must not keep a large chunk in memory.
    this.#tail = Buffer.from(data.subarray(limit));
    this.#covered = done - limit;
    return Buffer.concat(out);
  }

  /** Where the first secret may begin of which the rest is still to come. Only that is held back: a stream of events must not wait for its next one. */
  #undecided(data: Buffer): number {
    let limit = data.length;
    for (const { forms } of this.#redactions) for (const form of forms) limit = Math.min(limit, beginningOf(form, data));
    return limit;
  }

  /** By their beginnings, those that begin before the limit. */
  #spans(data: Buffer, limit: number): Span[] {
    const spans: Span[] = [];
    for (const { name, forms } of this.#redactions) for (const form of forms) spans.push(...occurrences(data, form, limit, name));
    return spans.toSorted((a, b) => a.start - b.start || b.end - a.end);
  }
}

/** The earliest place from which the data, up to its end, is a beginning of the form; its length, if there is none. */
function beginningOf({ bytes, before, after }: Form, data: Buffer): number {
  // One that is complete may still be followed by a character that is half its own.
  for (let at = Math.max(0, data.length - bytes.length + (after ? 0 : 1)); at < data.length; at++)
    if (data[at] === bytes[0] && bytes.compare(data, at, data.length, 0, data.length - at) === 0)
      return before && isBase64(data[at - 1]) ? at - 1 : at;
  // Nor is it known of the last character whether it is.
  return before && isBase64(data.at(-1)) ? data.length - 1 : data.length;
}

function occurrences(data: Buffer, { bytes, before, after }: Form, limit: number, name: string): Span[] {
  const spans: Span[] = [];
  for (let at = data.indexOf(bytes); at !== -1; at = data.indexOf(bytes, at + 1)) {
    const start = before && isBase64(data[at - 1]) ? at - 1 : at;
    if (start >= limit) break;
    const end = at + bytes.length;
    const span = { start, end: after && isBase64(data[end]) ? end + 1 : end, name };
    const last = spans.at(-1);
    // A secret that repeats itself overlaps with itself.
    if (last && span.start < last.end) last.end = span.end;
    else spans.push(span);
  }
  return spans;
}

function isBase64(byte: number | undefined): boolean {
  return byte !== undefined && /[\w+/-]/.test(String.fromCharCode(byte));
}
