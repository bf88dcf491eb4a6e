/**
 * The text form of every message between host and lane, the same on a MessagePort and on a socket: one line of
 * JSON (the header), then the bodies, whose lengths the header lists. Bodies are JSON texts that nobody on the
 * way needs to read, so they are never escaped or parsed in passing.
 */
/**
 * A frame, or its parts, one behind the other: what is long is not copied only to stand behind its header (to make one string of 1 MB takes half a
 * millisecond, most of it for memory). Whoever hears it may get one as the other.
 */
export type Frame = string | readonly string[];

export function pack(header: object, ...bodies: string[]): string {
  let text = `${JSON.stringify({ ...header, sizes: bodies.map((body) => body.length) })}\n`;
  for (const body of bodies) text += body;
  return text;
}

export interface Unpacked {
  header: unknown;
  bodies: string[];
}

/** Throws a SyntaxError or RangeError on anything that `pack` cannot have made. */
export function unpack(text: string): Unpacked {
  const end = text.indexOf("\n");
  if (end < 0) throw new SyntaxError("a frame without a header");
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
