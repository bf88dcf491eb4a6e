/** A scan reports what the code contains, with its line; comments, spellings and texts do not mislead it. */
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { scanModule } from "../../../src/bundler/child/scan.ts";

const rules = (code: string) => scanModule("x.ts", code).findings.map(({ rule, line }) => `${rule}:${line}`);

describe("the scan of a module", () => {
  it.each([
    ["eval", "\neval('1');", ["eval:2"]],
    ["indirect eval", "(0, eval)('1');", ["eval:1"]],
    ["eval by another name", "const run = globalThis.x || eval;", ["eval:1"]],
    ["new Function", "const f = new Function('a', 'return a');", ["function:1"]],
    ["Function without new", "const f = Function('return this')();", ["function:1"]],
    ["a timer with text", "setTimeout('alert(1)', 1);", ["timer-text:1"]],
    ["an import of a computed name", "const n = 'net';\nimport('node:' + n);", ["dynamic-import:2"]],
    ["a require of a computed name", "require(process.argv[2]);", ["dynamic-require:1"]],
    ["the way to Function through constructors", "const F = [].constructor.constructor;", ["constructor-chain:1"]],
    ["the same, spelled with brackets", "[]['constructor']['constructor']('return this')();", ["constructor-chain:1"]],
    ["the constructor of a function, called", "(() => {}).constructor('return process')();", ["constructor-chain:1"]],
    ["a change of a prototype", "Array.prototype.map = () => [];", ["prototype-change:1"]],
    ["names made by an obfuscator", Array.from({ length: 8 }, (_, at) => `const _0x3f2a${at} = ${at};`).join("\n"), ["hex-names:8"]],
    ["a long encoded text", `const x = "${randomBytes(1500).toString("base64")}";`, ["encoded-text:1"]],
    ["text as escapes", `const x = "${"\\x68\\x69".repeat(40)}";`, ["escaped-text:1"]],
    ["a long line", `\n${"a;".repeat(2_600)}`, ["long-line:2"]],
  ])("%s is found with its line", (_, code, expected) => {
    expect(rules(code)).toEqual(expected);
  });

  it("types are no code; code between them is", () => {
    const code =
      'type A = "https://a.example.com";\ninterface B { eval: "https://b.example.com" }\nconst c = (eval as A)!;\nenum D { X = eval("1") as never }\nclass E { constructor(private x: A = eval("2")) {} }\nnamespace F { eval("3"); }';
    expect(rules(code)).toEqual(["eval:3", "eval:4", "eval:5", "eval:6"]);
    expect(scanModule("x.ts", code).origins).toEqual([]);
  });

  it("comments, texts and names that only look alike are no findings", () => {
    const code = [
      "// eval('x'); new Function('y')",
      "const text = \"eval('x')\";",
      "const evaluate = (eval_: number) => eval_;",
      "class A { constructor() { this.x = evaluate(1); } }",
      "setTimeout(() => new A(), 5);",
      "z.eval(text);",
      "require('./x.json'); await import(`./y.ts`);",
      "A.prototype.toString = () => text;",
      `const prose = "${"the quick brown fox jumps over the lazy dog, ".repeat(40)}";`,
    ].join("\n");
    expect(scanModule("x.ts", code).findings).toEqual([]);
  });

  it("origins in literals and templates are listed once, in lower case, without namespaces", () => {
    const code = [
      "const a = 'https://API.example.com:8443/v1/x?y';",
      "const b = `http://127.0.0.1:3000/${a}`;",
      "fetch('https://api.example.com:8443/v2'); // https://comment.example",
      "const c = 'http://www.w3.org/2000/svg wss://push.example.net/socket';",
      "const d = 'http://[::1]:80/';",
    ].join("\n");
    const { origins, uses } = scanModule("x.ts", code);
    expect(origins).toEqual(
      expect.arrayContaining([
        { origin: "https://api.example.com:8443", line: 1 },
        { origin: "http://127.0.0.1:3000", line: 2 },
        { origin: "wss://push.example.net", line: 4 },
        { origin: "http://[::1]", line: 5 },
      ]),
    );
    expect(origins).toHaveLength(4);
    expect(uses).toEqual(["fetch"]);
  });

  it("what it would need grants for is listed: variables, the store, sessions, schedules", () => {
    const code =
      "const k = process.env.API_KEY ?? process.env['OTHER']; globalThis.process.env.THIRD; api.kv.get('x'); api.session.patch({}); api.schedule.cron('x', '* * * * *');";
    const { env, uses } = scanModule("x.js", code);
    expect([env.toSorted(), uses.toSorted()]).toEqual([
      ["API_KEY", "OTHER", "THIRD"],
      ["kv", "schedule", "session.patch"],
    ]);
  });

  it("a tree that is deep, or text that does not parse, does not break it", () => {
    expect(scanModule("x.js", `x = ${"[".repeat(400)}eval('1')${"]".repeat(400)};`).findings).toHaveLength(1);
    expect(scanModule("x.js", "this is (not code").findings).toEqual([]);
  });
});
