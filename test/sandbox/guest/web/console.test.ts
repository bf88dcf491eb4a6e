/** Each call of console is one line of the operator's log and reads as in Node. */
import { format, formatWithOptions, inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { next, plugin, sharedHost } from "../../../support/host.ts";

const ONE_LINE = { breakLength: Infinity, compact: true };
/** Each is the arguments of console.log. */
const ARGUMENTS = [
  `"plain"`,
  `"two", "words"`,
  `5, true, null, undefined, 12n, -0, Symbol("s")`,
  `"%s is %d years and %i, %f, %j %o %O %c%%", "Bob", 42.5, 42.5, "1.5", { a: [1] }, [1], { b: { c: {} } }, "css", "rest", 1`,
  `"%s", { toString: () => "own" }, "%s"`,
  `"100%", "sure"`,
  `{ a: 1, b: { c: { d: { e: 1 } } }, f: () => 1, g: class Mine {} }`,
  `[1, [2, [3, [4]]], , "x"]`,
  `new Map([[{ a: 1 }, new Set([1])]]), new Date(0), /x/g`,
  `new Uint8Array(3), new ArrayBuffer(2)`,
  `Object.create(null), new (class Foo { x = 1 })()`,
  `new URL("http://a/b?c=d#e")`,
  `new URLSearchParams("a=1&b=2")`,
  `new AbortController().signal, new Headers({ a: "b" })`,
  `Array.from({ length: 120 }, (_, i) => i)`,
  `"x".repeat(50), { long: "y".repeat(200) }`,
];

describe("console", () => {
  const shared = sharedHost("process", {
    plugins: [
      plugin("p", `api.on("message_sending", (event) => { (0, eval)(event.content); console.log("that was all"); });`, {
        hooks: { cpuMs: 2_000 },
        limits: { logLines: 1_000 },
      }),
    ],
  });
  const printed = async (code: string) => {
    const lines: string[] = [];
    const off = shared.host.on("log", ({ level, text }) => lines.push(`${level} ${text}`));
    const last = next(shared.host, "log", ({ text }) => text === "that was all");
    await shared.host.run("message_sending", { to: "x", content: code }, { channelId: "chat" });
    await last;
    off();
    return lines.filter((line) => line !== "info that was all");
  };

  it("shows values and format specifiers as Node does, on one line", async () => {
    const lines = await printed(ARGUMENTS.map((args) => `console.log(${args});`).join("\n"));
    // oxlint-disable-next-line no-eval -- the oracle reads the very text that the cell reads
    const wanted = ARGUMENTS.map((args) => (0, eval)(`[${args}]`) as unknown[]).map((args) =>
      typeof args[0] === "string" && args[0].includes("%")
        ? formatWithOptions(ONE_LINE, ...args)
        : args.map((one) => (typeof one === "string" ? one : inspect(one, ONE_LINE))).join(" "),
    );
    expect(lines).toEqual(wanted.map((text) => `info ${text}`));
    expect(format("%s", "oracle")).toBe("oracle");
  });

  it("each method has its level", async () => {
    expect(await printed(`for (const name of ["debug", "log", "info", "warn", "error", "dirxml"]) console[name](name);`)).toEqual([
      "debug debug",
      "info log",
      "info info",
      "warn warn",
      "error error",
      "info dirxml",
    ]);
    const { log } = { log: `const { log, error } = console; log("loose"); [1, 2].forEach(error);` };
    expect(await printed(log)).toEqual(["info loose", "error 1 0 [ 1, 2 ]", "error 2 1 [ 1, 2 ]"]);
  });

  it("groups, counts, times, tables, assertions", async () => {
    expect(
      await printed(`
        console.group("outer", 1); console.warn("in"); console.group(); console.log("deep"); console.groupEnd(); console.groupEnd(); console.groupEnd(); console.log("out");
        console.count(); console.count(); console.count("x"); console.countReset(); console.count(); console.countReset("nope");
        console.assert(true, "not shown"); console.assert(false); console.assert(0, "%s!", "no"); console.assert(false, { a: 1 });
        console.table([{ a: 1, b: "x" }, { a: 2, c: true }]); console.table([[1, 2], [3]]); console.table(new Map([["k", 1]])); console.table(5); console.table([{ a: 1, b: 2 }], ["b"]);
        console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 });
        console.timeEnd("never"); console.time("t"); console.time("t");`),
    ).toEqual([
      "info outer 1",
      "warn > in",
      "info > > deep",
      "info out",
      "info default: 1",
      "info default: 2",
      "info x: 1",
      "info default: 1",
      "warn Warning: Count for 'nope' does not exist",
      "warn Assertion failed",
      "warn Assertion failed: no!",
      "warn Assertion failed { a: 1 }",
      "info (index) | a | b | c",
      "info 0 | 1 | 'x' |",
      "info 1 | 2 |  | true",
      "info (index) | 0 | 1",
      "info 0 | 1 | 2",
      "info 1 | 3 |",
      "info (index) | Key | Values",
      "info 0 | 'k' | 1",
      "info 5",
      "info (index) | b",
      "info 0 | 2",
      "info { a: [Object] }",
      "warn Warning: No such label 'never' for console.timeEnd()",
      "warn Warning: Label 't' already exists for console.time()",
    ]);
    const [log, end, trace] = await printed(`console.timeLog("t", { x: 1 }); console.timeEnd("t"); console.trace("here", 1);`);
    expect(log).toMatch(/^info t: \d+(\.\d+)?m?s \{ x: 1 \}$/);
    expect(end).toMatch(/^info t: \d+(\.\d+)?m?s$/);
    expect(trace).toMatch(/^debug Trace: here 1 +at /);
  });

  it("errors have their stacks, hostile objects their own exceptions", async () => {
    const [error, cause] = await printed(
      `console.error("it failed:", new TypeError("bad")); console.error(new Error("outer", { cause: new Error("inner") }));`,
    );
    expect(error).toMatch(/^error it failed: TypeError: bad +at /);
    expect(cause).toMatch(/Error: outer.*\[cause\]: Error: inner/);
    expect(
      await printed(
        `try { console.log({ get [Symbol.toStringTag]() { throw new Error("mine"); } }); } catch (error) { console.log("thrown " + error.message); }`,
      ),
    ).toHaveLength(1);
  });

  it("an error of a listener is reported to the operator, and later listeners are called", async () => {
    const lines = await printed(
      `const t = new EventTarget(); t.addEventListener("x", () => { throw new RangeError("mine"); }); t.addEventListener("x", () => console.log("second")); console.log(String(t.dispatchEvent(new Event("x"))));`,
    );
    expect(lines.toSorted()).toEqual(["error unhandled rejection: mine", "info second", "info true"]);
  });

  it("a long list of bytes is shown in part, and costs no heap", async () => {
    const [line] = await printed(`console.log(new Uint8Array(4_000_000)); console.log(new Array(1_000_000).fill(0));`);
    expect(line).toMatch(/^info Uint8Array\(4000000\) \[ 0, 0, .* 3999900 more items \]$/);
  });
});
