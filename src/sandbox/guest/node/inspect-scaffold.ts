/** Inside the isolate: the package behind `inspect` names globals that cells do not have while it is evaluated. Empty ones, until it has been. */
const NAMES = ["Atomics", "FinalizationRegistry", "WeakRef"].filter((name) => !Object.hasOwn(globalThis, name));
for (const name of NAMES) Object.defineProperty(globalThis, name, { value: function () {}, configurable: true });

export function removeScaffold(): void {
  for (const name of NAMES) Reflect.deleteProperty(globalThis, name);
}
