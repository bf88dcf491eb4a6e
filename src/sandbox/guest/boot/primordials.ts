/**
 * Inside the isolate, before any plugin code: the built-ins that the bootstrap relies on, captured as V8 made them. A
 * plugin that replaces one of them later does not change the bootstrap.
 */
const { apply, ownKeys } = Reflect;

/** Turns a method into a function of (self, ...args) that ignores later tampering. */
function uncurry<Self, Args extends unknown[], R>(method: (this: Self, ...args: Args) => R): (self: Self, ...args: Args) => R {
  return (self, ...args) => apply(method, self, args);
}

export const call = apply;
export const keysOf = ownKeys;
export const { parse, stringify } = JSON;
export const { isArray } = Array;
export const NativeError = Error;
export const NativeString = String;
export const NativeNumber = Number;
export const NativeFloor = Math.floor;
export const { random } = Math;
export const NativeMap = Map;
export const NativePromise = Promise;
export const NativeDate = Date;
export const currentMs = Date.now;
// oxlint-disable-next-line typescript/unbound-method -- captured on purpose, called through `call`
export const promiseThen = Promise.prototype.then;
export const NativeTypeError = TypeError;
export const NativeUint8Array = Uint8Array;
export const NativeArrayBuffer = ArrayBuffer;
/** Plugins do not get it: they could observe garbage collection. */
export const NativeWeakRef = WeakRef;
export const { fromCharCode, fromCodePoint } = String;
export const encodeUri = encodeURIComponent;
export const unescapeText = unescape;
// oxlint-disable typescript/unbound-method -- as above
export const { isView } = ArrayBuffer;
export const sliceText = uncurry(String.prototype.slice);
export const charCodeAt = uncurry(String.prototype.charCodeAt);
export const lowerCase = uncurry(String.prototype.toLowerCase);
export const upperCase = uncurry(String.prototype.toUpperCase);
export const mapGet = uncurry(Map.prototype.get) as <K, V>(map: Map<K, V>, key: K) => V | undefined;
export const mapSet = uncurry(Map.prototype.set) as <K, V>(map: Map<K, V>, key: K, value: V) => unknown;
export const mapDelete = uncurry(Map.prototype.delete) as <K, V>(map: Map<K, V>, key: K) => boolean;
export const mapEach = uncurry(Map.prototype.forEach) as <K, V>(map: Map<K, V>, visit: (value: V, key: K) => void) => void;
export const split = uncurry(String.prototype.split as (this: string, by: string) => string[]);
export const toWellFormed = uncurry(String.prototype.toWellFormed);
export const sort = uncurry(Array.prototype.sort as (this: string[]) => string[]);
/**
 * Moves memory to a new owner and takes none, since it has no length argument. Plugins have no method for it, see
 * globals.ts.
 */
export const transferBuffer = uncurry(ArrayBuffer.prototype.transfer);
export const subarray = uncurry(Uint8Array.prototype.subarray);
// oxlint-enable typescript/unbound-method

/** An object without a prototype: no setter or `toJSON` of the plugin can be found on it. */
export function bare<T extends object>(fields: T): T {
  return { __proto__: null, ...fields };
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
