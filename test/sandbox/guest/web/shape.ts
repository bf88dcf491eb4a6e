/** A line that describes the own properties of an object: what they are, and whether they can be written, listed and changed. */
export function shapeOf(name: string): string {
  return `return Object.fromEntries(Reflect.ownKeys(${name}).filter((k) => typeof k === "string" || k === Symbol.toStringTag).map((k) => { const d = Object.getOwnPropertyDescriptor(${name}, k); return [String(k), [typeof d.value, typeof d.get, typeof d.set, d.writable, d.enumerable, d.configurable].join()]; }).sort());`;
}
