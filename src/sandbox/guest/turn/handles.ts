/**
 * Inside the isolate: functions that a plugin put into a result (an approval's `onResolution`). The function stays
 * here; the host gets a number and may call it by that number, once.
 */
import { LIMITS } from "../../../protocol/limits.ts";
import { mapDelete, mapGet, mapSet, NativeFloor, NativeMap } from "../boot/primordials.ts";

const kept = new NativeMap<number, (value: unknown) => unknown>();
/** A random start, so that numbers of a replaced cell mean nothing in this one. */
const base = NativeFloor(Math.random() * 2 ** 40) * 2 ** 10;
let next = base + 1;

export function keep(fn: (value: unknown) => unknown): number {
  const handle = next++;
  mapSet(kept, handle, fn);
  mapDelete(kept, handle - LIMITS.causality.keptFunctions);
  return handle;
}

export function take(handle: number): ((value: unknown) => unknown) | undefined {
  const fn = mapGet(kept, handle);
  mapDelete(kept, handle);
  return fn;
}
