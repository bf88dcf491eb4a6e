/** Inside the isolate: deep equality of two values, for `assert` and `util`. */
import types from "../util/util-types.ts";

const { isDate, isRegExp, isMap, isSet, isNativeError, isBoxedPrimitive, isAnyArrayBuffer, isArrayBufferView } = types as Record<
  string,
  (value: unknown) => boolean
>;

/** strict: Object.is and prototypes. loose: `==`. partial: strict, but only for what is expected. */
export type Mode = "strict" | "loose" | "partial";

type Seen = Map<object, object>;

export function isDeepEqual(actual: unknown, expected: unknown, mode: Mode, seen: Seen = new Map()): boolean {
  if (Object.is(actual, expected)) return true;
  const isLoose = mode === "loose";
  if (!isObject(actual) || !isObject(expected)) {
    // oxlint-disable-next-line eqeqeq -- that is what loose means
    if (isLoose && !isObject(actual) && !isObject(expected)) return actual == expected || (actual !== actual && expected !== expected);
    return false;
  }
  if (!isLoose && Object.getPrototypeOf(actual) !== Object.getPrototypeOf(expected) && mode === "strict") return false;
  if (tagOf(actual) !== tagOf(expected) || Array.isArray(actual) !== Array.isArray(expected)) return false;
  if (!isSameKind(actual, expected, mode, seen)) return false;
  const known = seen.get(actual);
  if (known !== undefined) return known === expected;
  seen.set(actual, expected);
  const isSame = isSameInside(actual, expected, mode, seen);
  seen.delete(actual);
  return isSame;
}

function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === "object" && value !== null;
}

function tagOf(value: object): string {
  return Object.prototype.toString.call(value);
}

/** Compares what is not in properties: dates, patterns, boxed values, maps, sets. */
function isSameKind(a: object, b: object, mode: Mode, seen: Seen): boolean {
  for (const test of [isDate, isRegExp, isMap, isSet, isNativeError, isBoxedPrimitive, isAnyArrayBuffer, isArrayBufferView])
    if (test!(a) !== test!(b)) return false;
  if (isDate!(a)) return Object.is(Date.prototype.getTime.call(a), Date.prototype.getTime.call(b));
  if (isRegExp!(a)) {
    const [x, y] = [a as RegExp, b as RegExp];
    return x.source === y.source && x.flags === y.flags && x.lastIndex === y.lastIndex;
  }
  if (isNativeError!(a)) {
    const [x, y] = [a as Error & { errors?: unknown }, b as Error & { errors?: unknown }];
    if (x.message !== y.message || x.name !== y.name) return false;
    for (const key of ["cause", "errors"] as const)
      if (Object.hasOwn(x, key) !== Object.hasOwn(y, key) || !isDeepEqual(x[key], y[key], mode, seen)) return false;
    return true;
  }
  if (isBoxedPrimitive!(a)) return Object.is(a.valueOf(), b.valueOf());
  if (isAnyArrayBuffer!(a)) return isSameBytes(new Uint8Array(a as ArrayBuffer), new Uint8Array(b as ArrayBuffer));
  if (isArrayBufferView!(a)) {
    const [x, y] = [a as Float64Array, b as Float64Array];
    // In loose mode 0 equals -0, although their bytes differ.
    if (mode === "loose" && tagOf(a).startsWith("[object Float")) return x.length === y.length && x.every((n, i) => n === y[i]);
    return isSameBytes(new Uint8Array(x.buffer, x.byteOffset, x.byteLength), new Uint8Array(y.buffer, y.byteOffset, y.byteLength));
  }
  return true;
}

function isSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

function isSameInside(a: Record<PropertyKey, unknown>, b: Record<PropertyKey, unknown>, mode: Mode, seen: Seen): boolean {
  if (Array.isArray(a) && mode === "partial") return isPartOfList(a as unknown[], b as unknown as unknown[], seen);
  if (Array.isArray(a) && a.length !== (b as unknown as unknown[]).length) return false;
  if (isSet!(a) && !isSameSet(a as unknown as Set<unknown>, b as unknown as Set<unknown>, mode, seen)) return false;
  if (isMap!(a) && !isSameMap(a as unknown as Map<unknown, unknown>, b as unknown as Map<unknown, unknown>, mode, seen)) return false;
  const keys = keysOf(b, mode);
  if (mode !== "partial" && keysOf(a, mode).length !== keys.length) return false;
  return keys.every((key) => Object.prototype.propertyIsEnumerable.call(a, key) && isDeepEqual(a[key], b[key], mode, seen));
}

function keysOf(value: object, mode: Mode): PropertyKey[] {
  const names: PropertyKey[] = ArrayBuffer.isView(value) ? Object.keys(value).filter((key) => !/^\d+$/.test(key)) : Object.keys(value);
  if (mode === "loose") return names;
  return [...names, ...Object.getOwnPropertySymbols(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key))];
}

/** The expected items appear, in order. */
function isPartOfList(actual: unknown[], expected: unknown[], seen: Seen): boolean {
  let at = 0;
  return expected.every((wanted) => {
    while (at < actual.length) if (isDeepEqual(actual[at++], wanted, "partial", seen)) return true;
    return false;
  });
}

function isSameSet(a: Set<unknown>, b: Set<unknown>, mode: Mode, seen: Seen): boolean {
  if (mode === "partial" ? a.size < b.size : a.size !== b.size) return false;
  const rest = [...a];
  return [...b].every((wanted) => {
    const exact = rest.findIndex((one) => Object.is(one, wanted));
    const at = exact >= 0 ? exact : rest.findIndex((one) => isDeepEqual(one, wanted, mode, seen));
    if (at >= 0) rest.splice(at, 1);
    return at >= 0;
  });
}

function isSameMap(a: Map<unknown, unknown>, b: Map<unknown, unknown>, mode: Mode, seen: Seen): boolean {
  if (mode === "partial" ? a.size < b.size : a.size !== b.size) return false;
  const rest = [...a];
  return [...b].every(([key, value]) => {
    const at = rest.findIndex(([k, v]) => isDeepEqual(k, key, mode, seen) && isDeepEqual(v, value, mode, seen));
    if (at >= 0) rest.splice(at, 1);
    return at >= 0;
  });
}
