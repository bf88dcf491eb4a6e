/**
 * Trusted side: whether a value of the gateway's is small enough to be written as JSON. Finds out without writing it:
 * 100 MB would block the gateway's thread for a second.
 */

export function isWithin(value: unknown, limit: number): boolean {
  const rest = [value];
  let size = 0;
  while (rest.length > 0 && size <= limit) {
    const next = rest.pop();
    size += 1;
    if (typeof next === "string") {
      size += next.length;
    } else if (Array.isArray(next)) {
      size += next.length;
      // Skip the items of an array that is too long already.
      if (size <= limit) for (const item of next) rest.push(item);
    } else if (typeof next === "object" && next !== null) {
      for (const [key, item] of Object.entries(next)) {
        size += key.length;
        rest.push(item);
      }
    }
  }
  return size <= limit;
}
