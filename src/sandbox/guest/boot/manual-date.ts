/**
 * Inside the isolate, in an author's test: a Date whose "now" is the test's. It shares its prototype with V8's own, so
 * that dates of either are instances of both.
 */
import { NativeDate } from "./primordials.ts";

const { construct } = Reflect;

const method = (value: unknown): PropertyDescriptor => ({ value, writable: true, configurable: true });

export function installDate(now: () => number): void {
  function ManualDate(this: unknown, ...parts: unknown[]): unknown {
    if (new.target === undefined) return new NativeDate(now()).toString();
    return construct(NativeDate, parts.length === 0 ? [now()] : parts, new.target);
  }
  const { prototype } = NativeDate;
  Object.defineProperties(ManualDate, {
    name: { value: "Date", configurable: true },
    length: { value: 7, configurable: true },
    prototype: { value: prototype, writable: false },
    now: method(() => now()),
    parse: method(NativeDate.parse),
    UTC: method(NativeDate.UTC),
  });
  Object.defineProperty(prototype, "constructor", method(ManualDate));
  Object.defineProperty(globalThis, "Date", method(ManualDate));
}
