/**
 * Inside the isolate: `util.types`. It checks internal slots where the language allows that. It cannot tell a proxy
 * from its target.
 */

type Test = (value: unknown) => boolean;

/** True if this getter or method accepts the value as its receiver, which proves its type. */
function branded(prototype: object, name: string | symbol): Test {
  const { get, value: method } = Object.getOwnPropertyDescriptor(prototype, name) as { get?: () => unknown; value?: () => unknown };
  return (value) => {
    if (typeof value !== "object" || value === null) return false;
    try {
      Reflect.apply((get ?? method)!, value, []);
      return true;
    } catch {
      return false;
    }
  };
}

const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);
// oxlint-disable-next-line typescript/unbound-method -- called on the value in question
const arrayTag = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag)!.get!;
const typedTag = (value: unknown): unknown => (typeof value === "object" && value !== null ? (arrayTag.call(value) as unknown) : undefined);
const asyncFunction = Object.getPrototypeOf(async () => {}) as object;
const generatorFunction = Object.getPrototypeOf(function* () {}) as object;
const asyncGeneratorFunction = Object.getPrototypeOf(async function* () {}) as object;
const isA = (value: unknown, prototype: object): boolean =>
  typeof value === "function" && Object.prototype.isPrototypeOf.call(prototype, value);
const tagged =
  (tag: string): Test =>
  (value) =>
    typeof value === "object" && value !== null && tagOf(value) === tag;

const isNumberObject = branded(Number.prototype, "valueOf");
const isStringObject = branded(String.prototype, "valueOf");
const isBooleanObject = branded(Boolean.prototype, "valueOf");
const isBigIntObject = branded(BigInt.prototype, "valueOf");
const isSymbolObject = branded(Symbol.prototype, "valueOf");
const isArrayBuffer = branded(ArrayBuffer.prototype, "byteLength");

const types = {
  isExternal: (): boolean => false,
  isDate: branded(Date.prototype, "getTime"),
  isArgumentsObject: tagged("Arguments"),
  isBigIntObject,
  isBooleanObject,
  isNumberObject,
  isStringObject,
  isSymbolObject,
  isBoxedPrimitive: (value: unknown): boolean =>
    [isNumberObject, isStringObject, isBooleanObject, isBigIntObject, isSymbolObject].some((test) => test(value)),
  isNativeError: (value: unknown): boolean => (Error as unknown as { isError?: Test }).isError?.(value) ?? value instanceof Error,
  isRegExp: (value: unknown): boolean => value !== RegExp.prototype && branded(RegExp.prototype, "source")(value),
  isAsyncFunction: (value: unknown): boolean => isA(value, asyncFunction) || isA(value, asyncGeneratorFunction),
  isGeneratorFunction: (value: unknown): boolean => isA(value, generatorFunction) || isA(value, asyncGeneratorFunction),
  isGeneratorObject: (value: unknown): boolean => tagged("Generator")(value) || tagged("AsyncGenerator")(value),
  /** Only V8 knows, and it does not tell code inside an isolate: never true. Packages ask before they show or copy a value. */
  isProxy: (): boolean => false,
  isPromise: (value: unknown): boolean => value instanceof Promise,
  isMap: branded(Map.prototype, "size"),
  isSet: branded(Set.prototype, "size"),
  isMapIterator: tagged("Map Iterator"),
  isSetIterator: tagged("Set Iterator"),
  isWeakMap: branded(WeakMap.prototype, "has"),
  isWeakSet: branded(WeakSet.prototype, "has"),
  isArrayBuffer,
  isDataView: (value: unknown): boolean => ArrayBuffer.isView(value) && typedTag(value) === undefined,
  isSharedArrayBuffer: (): boolean => false,
  isModuleNamespaceObject: tagged("Module"),
  isAnyArrayBuffer: isArrayBuffer,
  isArrayBufferView: (value: unknown): boolean => ArrayBuffer.isView(value),
  isTypedArray: (value: unknown): boolean => typedTag(value) !== undefined,
  isCryptoKey: (value: unknown): boolean => tagged("CryptoKey")(value),
  isKeyObject: (): boolean => false,
} as Record<string, Test>;

for (const name of [
  "Uint8Array",
  "Uint8ClampedArray",
  "Uint16Array",
  "Uint32Array",
  "Int8Array",
  "Int16Array",
  "Int32Array",
  "Float16Array",
  "Float32Array",
  "Float64Array",
  "BigInt64Array",
  "BigUint64Array",
])
  types[`is${name}`] = (value) => typedTag(value) === name;

export default types;
