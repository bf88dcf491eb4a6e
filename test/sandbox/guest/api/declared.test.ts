/** A handler gets every argument that it can see, however it is written. */
import { runInThisContext } from "node:vm";
import { expect, it } from "vitest";
import { seenArguments } from "../../../../src/sandbox/guest/api/declared.ts";

type Handler = (...args: unknown[]) => unknown;

/** Handlers as texts, since a formatter would write them all alike. */
const made = (text: string): Handler => runInThisContext(`(${text})`) as Handler;

it.each([
  ["() => 1", 0],
  ["()=>1", 0],
  ["async () => 1", 0],
  ["async()=>1", 0],
  ["(event) => event", 1],
  ["event => event", 1],
  ["(  event  )  =>  event", 1],
  ["async (event) => event", 1],
  ["async event => event", 1],
  ["async => async", 1],
  ["(async) => async", 1],
  ["asynchronous => asynchronous", 1],
  ["$e_1 => $e_1", 1],
  ["(event, context) => context", 2],
  ["(event, context = {}) => context", 2],
  ["(event, ...rest) => rest", 2],
  ["(...all) => all", 2],
  ["(event = {}) => event", 2],
  ["({ params }) => params", 2],
  ["([first]) => first", 2],
  ["(event /* , context */) => event", 2],
  ["(/* nothing */) => 1", 2],
  ["(event\n) => event", 2],
  ["ереигнис => ереигнис", 2],
  ["function () { return arguments[1]; }", 2],
  ["function named(event) { return arguments[1]; }", 2],
  ["async function (event) { return arguments[1]; }", 2],
  ["function* (event) { yield arguments[1]; }", 2],
  ["{ on(event) { return arguments[1]; } }.on", 2],
  ["{ async(event) { return arguments[1]; } }.async", 2],
  ["{ async event(event) { return arguments[1]; } }.event", 2],
  ["class { constructor(event) { this.seen = arguments; } }", 2],
  ["((event) => event).bind(null)", 2],
  ["new Proxy((event) => event, {})", 2],
  ["new Proxy(() => 1, { apply: (target, self, args) => args[1] })", 2],
])("%s sees %i of two", (text, seen) => {
  expect(seenArguments(made(text))).toBe(seen);
});

it("a function whose own toString lies is read as it is", () => {
  const liar = Object.assign(made("function () { return arguments[1]; }"), { toString: () => "() => 1" });
  expect(seenArguments(liar)).toBe(2);
});
