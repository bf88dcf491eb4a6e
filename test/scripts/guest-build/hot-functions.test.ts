/** Which functions of the bootstrap are compiled with the script: those that loading and calling a plugin needs. */
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { eager, listed } from "../../../scripts/guest-build/eager.ts";
import { candidates, functionsUsed } from "../../../scripts/guest-build/hot-functions.ts";
import { guestCode } from "../../../src/bundler/guest-code.ts";
import { LIBRARY_MARK } from "../../../src/protocol/guest-surface/surface.ts";

/** As far as `functionsUsed` knows a guest. */
function guest(inside: string): string {
  return `(function () { ${inside}\nreturn { enter: enter, dispatch: dispatch, observe: dispatch, mail: mail }; })()`;
}

const ENTRIES = `function enter(entry, factory) { const module = { exports: {} }; factory(module.exports, module); module.exports.register({ logger: { info() {} }, on }); return "{}"; }
const handlers = []; const on = (hook, handler) => { handlers.push(handler); };
function dispatch(call, event, context) { handlers[call % 1024](JSON.parse(event), JSON.parse(context)); return 0; }
function mail() {}
function never() { return () => 1; }
const unused = () => never();`;

async function used(code: string): Promise<string[]> {
  const [starts] = await functionsUsed([code], ([text]) => guest(text!) + LIBRARY_MARK);
  return candidates(code)
    .filter(({ start }) => starts!.has(start))
    .map(({ start, end }) => code.slice(start, end).split("(")[0]!.trim());
}

it("what runs while a plugin is loaded and called is used, and nothing else is", async () => {
  expect(await used(ENTRIES)).toEqual(["function enter", "", "function dispatch", "function mail"]);
});

it("only used functions are put in parentheses", async () => {
  const [starts] = await functionsUsed([ENTRIES], ([text]) => guest(text!) + LIBRARY_MARK);
  const made = eager(ENTRIES, starts);
  expect(made).toContain("const enter=(function enter(");
  expect(made).toContain("on = ((hook, handler) =>");
  expect(made).toContain("\nfunction never() { return () => 1; }");
  expect(made).toContain("unused = () => never()");
});

it.each([
  ["a loader that refuses the plugin", ENTRIES.replace(`return "{}"`, `return '!{"message":"x"}'`)],
  ["a call that fails", ENTRIES.replace("return 0;", `return '!{"message":"x"}';`)],
])("a bootstrap that does not work is not built: %s", async (_, code) => {
  await expect(functionsUsed([code], ([text]) => guest(text!) + LIBRARY_MARK)).rejects.toThrow("the bootstrap does not work");
});

it("functions in every form are found, and methods are none that could be put in parentheses", () => {
  const code =
    "const a = { get: function () { return () => 1 }, m() { return () => 2 }, get g() { return 3 } }; class C { m() { return function () {} } } function f() {}";
  expect(candidates(code).map(({ start, end }) => code.slice(start, end))).toEqual([
    "function () { return () => 1 }",
    "() => 1",
    "() => 2",
    "function () {}",
    "function f() {}",
  ]);
  expect(runInNewContext(`${eager(code)}; a.get()() + a.m()() + a.g`)).toBe(6);
});

it("lists that the bundler wrote as one text are lists again", () => {
  expect(listed("const A=`x.y/z.w`.split(`.`),b=e.split(`/`)")).toBe(`const A=["x","y/z","w"],b=e.split(\`/\`)`);
});

it("of the real bootstrap less than half is compiled ahead: what every plugin needs is, errors and timers are not", async () => {
  const [bootstrap] = (await guestCode()).split(LIBRARY_MARK);
  const declared = [...bootstrap!.matchAll(/(\(?)function (\w+)\(/g)].map(([, open, name]) => ({ name: name!, isEager: open === "(" }));
  const isEager = (name: string): boolean | undefined => declared.find((one) => one.name === name)?.isEager;
  expect(["load", "dispatch", "observe", "enter", "createApi", "settle"].map(isEager)).toEqual(Array(6).fill(true));
  expect(["describeError", "tick", "abandon", "drainMail"].map(isEager)).toEqual(Array(4).fill(false));
  expect(declared.filter((one) => one.isEager).length).toBeLessThan(declared.length / 2);
});
