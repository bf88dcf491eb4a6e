/** What cells are made of: the bootstrap, and a library whose chunks are evaluated on first use. */
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { exportsUsed, shared } from "../../../scripts/guest-build/eager.ts";
import { joinGuest } from "../../../scripts/guest-build/join.ts";
import { LIBRARY_MARK } from "../../../src/protocol/guest-surface/surface.ts";

interface Started {
  readonly load: (name: string) => Record<string, unknown>;
  readonly run: (code: string) => unknown;
}

/** Main chunks return their argument. */
const MAIN = { fileName: "main", code: `exports.default=function(load,setLibrary){return{load:load,setLibrary:setLibrary}};` };

function started(chunks: readonly { fileName: string; code: string }[], atOnce: readonly string[] = ["main"], before = ""): Started {
  const [bootstrap, library] = joinGuest("main", atOnce, chunks).split(LIBRARY_MARK);
  const world = {};
  const { load, setLibrary } = runInNewContext(bootstrap!, world) as Started & { setLibrary: (text: string) => void };
  setLibrary(library!);
  runInNewContext(before, world);
  return { load, run: (code) => runInNewContext(code, world) };
}

it("a chunk of the library is evaluated when it is asked for, and once", () => {
  const { load, run } = started([MAIN, { fileName: "web/a", code: `globalThis.count=(globalThis.count||0)+1;exports.a=1;` }]);
  expect(run("globalThis.count")).toBeUndefined();
  expect(load("web/a").a).toBe(1);
  expect(load("web/a")).toBe(load("web/a"));
  expect(run("globalThis.count")).toBe(1);
});

it("chunks find each other, wherever they are", () => {
  const { load } = started([
    MAIN,
    { fileName: "web/a", code: `exports.a=require("./deep/b").b+require("../node/c").c;` },
    { fileName: "web/deep/b", code: `exports.b=require("../../top").t+"b";` },
    { fileName: "node/c", code: `exports.c="c";` },
    { fileName: "top", code: `exports.t="t";` },
  ]);
  expect(load("web/a").a).toBe("tbc");
});

it("chunks are strict, and what is not ASCII is written so", () => {
  const chunks = [MAIN, { fileName: "a", code: `exports.self=(function(){return this})();exports.text="é…";` }];
  expect(started(chunks).load("a")).toMatchObject({ self: undefined, text: "é…" });
  expect(joinGuest("main", ["main"], chunks)).toMatch(/^[\0-\x7f]*$/);
});

it("an error in the library names its chunk", () => {
  const { load } = started([MAIN, { fileName: "web/a", code: `exports.fail=function fail(){throw new Error("x")};` }]);
  expect(() => (load("web/a").fail as () => void)()).toThrow(
    expect.objectContaining({ stack: expect.stringContaining("creel:guest/web/a") }),
  );
});

const GETTER = (name: string, value: string) => `Object.defineProperty(exports,"${name}",{enumerable:!0,get:function(){return ${value}}})`;
const CORE = `const one=1,two=2,three=3;${GETTER("n", "one")},${GETTER("t", "two")},${GETTER("r", "three")};`;

it("exports that are used at once are there at once, the others when the library asks", () => {
  const used = exportsUsed(["const require_core=require('./core');exports.default=require_core.n;"]);
  expect([...used]).toEqual(["n"]);
  const chunks = [
    {
      fileName: "main",
      code: `const core=require("./core");exports.default=function(load,setLibrary){return{load:load,setLibrary:setLibrary,core:core}};`,
    },
    { fileName: "core", code: shared(CORE, used) },
    { fileName: "web/a", code: `const require_core=require("../core");exports.sum=require_core.n+require_core.t+require_core.r;` },
  ];
  // Changes to built-ins by a plugin in between do not matter.
  const before = `Object.defineProperty=Function.prototype.call=String.prototype.slice=JSON.parse=eval=undefined;Object.prototype.value=Object.prototype.set=1;`;
  const { load } = started(chunks, ["main", "core"], before);
  expect(Object.keys(load("core"))).toEqual(["n"]);
  expect(load("web/a").sum).toBe(6);
  expect(Object.keys(load("core"))).toEqual(["n", "t", "r"]);
});

it("a chunk all of whose exports are used at once stays as it is", () => {
  expect(shared(CORE, new Set(["n", "t", "r"]))).toBe(CORE);
});
