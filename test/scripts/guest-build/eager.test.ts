/** The bootstrap's functions are written so that V8 compiles them with the script; they still do the same. */
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { eager } from "../../../scripts/guest-build/eager.ts";

it("function declarations become constants in front of the rest, in parentheses", () => {
  expect(eager("go(); function go() { return 1 }")).toBe("const go=(function go() { return 1 });go(); ");
});

it("every arrow function is in parentheses, the inner ones too", () => {
  expect(eager("const add = a => b => a + b;")).toBe("const add = (a => (b => a + b));");
  expect(eager("f(()=>1,()=>()=>2)")).toBe("f((()=>1),(()=>(()=>2)))");
  expect(eager("function f() { return () => 1 }")).toBe("const f=(function f() { return (() => 1) });");
});

it("code without functions stays as it is", () => {
  expect(eager("1 + 1")).toBe("1 + 1");
});

it.each([
  ["[1, 2, 3].map(n => n * 2).filter(n => n > 2).join()", "4,6"],
  ["const f = (a, b = () => 1, ...c) => a + b() + c.length; f(1, undefined, 3)", 3],
  ["const o = { get: () => 5, m() { return [1].map(x => x + 1)[0] } }; o.get() + o.m()", 7],
  ["class A { f = () => this.x; x = 2; static s = () => 3 } new A().f() + A.s()", 5],
  ["two(); function one() { return (() => 1)() } function two() { return one() + one() } two()", 2],
  ["const g = async () => { for await (const x of []) x }; typeof g()", "object"],
  ["(x => x ? y => y : z => -z)(0)(4)", -4],
  ["`${(() => `a${(() => 1)()}`)()}`", "a1"],
])("%s has the same value", (code, value) => {
  expect(runInNewContext(code)).toBe(value);
  expect(runInNewContext(eager(code))).toBe(value);
});

it("what does not parse is refused", () => {
  expect(() => eager("const =")).toThrow("the bootstrap does not parse");
});
