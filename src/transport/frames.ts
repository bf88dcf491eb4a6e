/**
 * Both sides: the text form of every message between host and lane, the same on a MessagePort and on a socket: one line
 * of JSON (the header), then the bodies, whose lengths the header lists. Bodies are JSON texts that the transport never
 * parses or escapes.
 */

/**
 * A frame, or its consecutive parts. A long body is not copied to stand behind its header: building one string of 1 MB
 * takes half a millisecond, most of it for memory. A receiver may get either form, whichever was sent.
 */
export type Frame = string | readonly string[];

export function pack(header: object, ...bodies: string[]): string {
  let text = `${JSON.stringify({ ...header, sizes: bodies.map((body) => body.length) })}\n`;
  for (const body of bodies) text += body;
  return text;
}

/** Does a text take at most so many bytes? Counts them only if in doubt: a UTF-16 unit takes one to three bytes. */
export function fitsBytes(text: string, limit: number): boolean {
  return text.length * 3 <= limit || (text.length <= limit && Buffer.byteLength(text) <= limit);
}

export interface Unpacked {
  header: unknown;
  bodies: string[];
}

/**
 * Throws a SyntaxError or RangeError on anything that `pack` cannot have made, or if the header is longer than
 * `headerChars`.
 */
export function unpack(text: string, headerChars = Infinity): Unpacked {
  const end = text.indexOf("\n");
  if (end < 0) throw new SyntaxError("a frame without a header");
  if (end > headerChars) throw new RangeError(`a header of ${end} characters`);
  const header: unknown = JSON.parse(text.slice(0, end));
  const sizes = (header as { sizes?: unknown } | null)?.sizes;
  if (!Array.isArray(sizes)) throw new SyntaxError("a frame without sizes");
  const bodies: string[] = [];
  let at = end + 1;
  for (const size of sizes as unknown[]) {
    if (!Number.isSafeInteger(size) || (size as number) < 0) throw new RangeError("a frame with an impossible size");
    bodies.push(text.slice(at, (at += size as number)));
  }
  if (at !== text.length) throw new RangeError("a frame whose sizes do not add up");
  return { header, bodies };
}
