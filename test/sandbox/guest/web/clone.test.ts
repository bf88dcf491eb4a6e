/** structuredClone behaves as in Node. */
import { describe } from "vitest";
import { comparison } from "./compare.ts";

const KEPT = [
  `undefined`,
  `null`,
  `-0`,
  `12345678901234567890n`,
  `"text"`,
  `[1, , 3]`,
  `Object.assign([1], { x: 2 })`,
  `new Date(5)`,
  `new Date(NaN)`,
  `/a\\/b/giu`,
  `Object.assign(/a/g, { lastIndex: 3 }).lastIndex`,
  `new Map([[{ a: 1 }, new Set([1, [2]])]])`,
  `Object(1)`,
  `Object("s")`,
  `Object(true)`,
  `Object(5n)`,
  `new Uint8Array([1, 2, 3]).buffer`,
  `new Uint16Array([1, 2, 3]).subarray(1)`,
  `new DataView(new ArrayBuffer(4), 1, 2)`,
  `new BigInt64Array([1n])`,
  `new Float32Array([1.5])`,
  `new TypeError("m")`,
  `new RangeError("m", { cause: { a: [1] } })`,
  `new AggregateError([1], "m")`,
  `Object.assign(new Error("m"), { name: "Mine", extra: 1 })`,
  `new (class Mine extends Error {})("m")`,
  `new DOMException("m", "AbortError")`,
  `Object.create({ inherited: 1 }, { hidden: { value: 2 }, own: { value: 3, enumerable: true } })`,
  `new (class Point { x = 1; #y = 2; get z() { return 3; } })()`,
  `{ get computed() { return 7; } }`,
  `{ [Symbol("s")]: 1, a: 2 }`,
  `{ __proto__: null, a: 1 }`,
  `{ ["__proto__"]: 5 }`,
  `new Blob(["abc"], { type: "a/b" }).size`,
];
const REFUSED = [
  `() => 1`,
  `Symbol("x")`,
  `Object(Symbol("x"))`,
  `Promise.resolve()`,
  `new WeakMap()`,
  `new WeakSet()`,
  `{ a: { b() {} } }`,
  `[Symbol()]`,
  `new URL("http://a")`,
  `new URLSearchParams()`,
  `new FormData()`,
  `new Map([[1, () => 2]])`,
  `(function* () {})()`,
  `new Error("m", { cause: () => 1 })`,
  `{ get bad() { throw new RangeError("mine"); } }`,
];

describe("structuredClone", () => {
  const { same } = comparison();

  same("copies data, whatever it is made of", [
    `[structuredClone.length, structuredClone.name]`,
    ...KEPT.map((value) => `return structuredClone(${value});`),
    ...KEPT.map(
      (value) =>
        `const copy = structuredClone(${value}); return Object.prototype.toString.call(copy) + (Object(copy) === copy ? Object.getPrototypeOf(copy).constructor.name + Reflect.ownKeys(copy).filter((k) => k !== "stack").join() : "");`,
    ),
  ]);

  same("keeps cycles and shared parts, and shares nothing with the original", [
    `const a = { list: [] }; a.self = a; a.list.push(a.list, a); const b = structuredClone(a); return [b !== a, b.self === b, b.list[0] === b.list, b.list[1] === b, b.list !== a.list];`,
    `const shared = { x: 1 }; const b = structuredClone([shared, shared, new Map([[shared, shared]])]); return [b[0] === b[1], [...b[2]][0][0] === b[0], b[0] !== shared];`,
    `const buffer = new ArrayBuffer(8); const b = structuredClone([new Uint8Array(buffer), new DataView(buffer, 2)]); return [b[0].buffer === b[1].buffer, b[0].buffer !== buffer, b[1].byteOffset];`,
    `const error = new Error("m"); error.cause = error; const b = structuredClone(error); return b.cause === b;`,
    `const m = new Map(); m.set(m, m); const b = structuredClone(m); return b.get(b) === b;`,
    `const e = new RangeError("m"); return structuredClone(e).stack === e.stack;`,
  ]);

  same("refuses what is not data, by name", [
    ...REFUSED.map((value) => `return structuredClone(${value});`),
    ...REFUSED.slice(0, -1).map(
      (value) =>
        `try { structuredClone(${value}); return "cloned"; } catch (error) { return [error.name, error.code, error.message, error instanceof DOMException]; }`,
    ),
    `structuredClone()`,
    `structuredClone(1, 5)`,
    `structuredClone(1, { transfer: 5 })`,
    `structuredClone(1, { transfer: [{}] })`,
    `structuredClone(1, null)`,
  ]);

  same("transfers buffers", [
    `const b = new Uint8Array([1, 2]).buffer; const c = structuredClone({ b, v: new Uint8Array(b, 1) }, { transfer: [b] }); return [b.byteLength, c.b, c.v, c.v.buffer === c.b];`,
    `const b = new ArrayBuffer(4); structuredClone(1, { transfer: [b] }); return b.byteLength;`,
    `const b = new ArrayBuffer(4); try { structuredClone(() => 1, { transfer: [b] }); } catch {} ; return b.byteLength;`,
    `const b = new ArrayBuffer(4); structuredClone(b, { transfer: [b] }); return structuredClone(b);`,
    `const b = new ArrayBuffer(4); structuredClone(b, { transfer: [b, b] });`,
  ]);
});
