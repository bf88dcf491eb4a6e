/**
 * Inside the isolate: the package behind `inspect` names globals that cells do not have while it is evaluated. They
 * exist as empty functions until then.
 */
const NAMES = ["Atomics", "FinalizationRegistry", "WeakRef"].filter((name) => !Object.hasOwn(globalThis, name));
for (const name of NAMES) Object.defineProperty(globalThis, name, { value: function () {}, configurable: true });

/**
 * The package looks through all properties of an array for its named ones, where Node asks V8. A megabyte of bytes
 * would take more than a cell's heap, so a long list shows none.
 */
const MANY = 10_000;
const { getOwnPropertyDescriptors } = Object;
const isLong = (value: unknown): boolean =>
  (Array.isArray(value) || ArrayBuffer.isView(value)) && (value as unknown as ArrayLike<unknown>).length > MANY;
Object.getOwnPropertyDescriptors = ((value: object) => (isLong(value) ? {} : getOwnPropertyDescriptors(value))) as never;

export function removeScaffold(): void {
  for (const name of NAMES) Reflect.deleteProperty(globalThis, name);
  Object.getOwnPropertyDescriptors = getOwnPropertyDescriptors;
}
