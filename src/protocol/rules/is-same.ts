/**
 * Whether two JSON values are the same by content. Of something that is no JSON, which a gateway may have in its event, only the same object
 * is the same. Values too deep to compare differ: then the user is told of a change too many.
 */
export function isSame(left: unknown, right: unknown): boolean {
  try {
    return same(left, right);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function same(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Object.getPrototypeOf(left) !== Object.getPrototypeOf(right)) return false;
  if (Array.isArray(left))
    return left.length === (right as unknown[]).length && left.every((item, at) => same(item, (right as unknown[])[at]));
  if (Object.getPrototypeOf(left) !== Object.prototype) return false;
  const keys = Object.keys(right);
  return (
    keys.every((key) => Object.hasOwn(left, key) && same((left as Fields)[key], (right as Fields)[key])) &&
    Object.keys(left).length === keys.length
  );
}

type Fields = Readonly<Record<string, unknown>>;
