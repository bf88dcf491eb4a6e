/** A plugin that turns the language against us harms only itself: its own calls may fail, its neighbours and the host are right. */
import { expect, it } from "vitest";
import { actor, ask, patched, persist, sending, toolCall } from "../support/actors.ts";
import { contract, next, open, plugin, sharedHost } from "../support/host.ts";

/** Each is run once in the vandal's cell; the calls that follow must be answered, rightly or by a named failure. */
const VANDALISM: Record<string, string> = {
  "a toJSON on Object.prototype": `Object.prototype.toJSON = function () { return "vandal"; };`,
  "a toJSON on String.prototype and Array.prototype": `String.prototype.toJSON = () => "vandal"; Array.prototype.toJSON = () => "vandal";`,
  "setters on Object.prototype": `for (const key of ["code", "name", "message", "stack", "call", "run", "hook", "options", "id", "handled", "content", "then"]) Object.defineProperty(Object.prototype, key, { set() { throw new Error("setter"); }, get() { return undefined; }, configurable: true });`,
  "setters on Array.prototype": `for (let i = 0; i < 20; i++) Object.defineProperty(Array.prototype, i, { set() { throw new Error("setter"); }, get() { throw new Error("getter"); }, configurable: true });`,
  "another Promise.prototype.then": `Promise.prototype.then = function () { throw new Error("then"); };`,
  "a species of Promise": `Object.defineProperty(Promise, Symbol.species, { value: class { constructor(run) { run(() => {}, () => {}); } } });`,
  "a constructor on Promise.prototype": `Object.defineProperty(Promise.prototype, "constructor", { get() { throw new Error("constructor"); } });`,
  "another Promise": `globalThis.Promise = function () { throw new Error("Promise"); };`,
  "another JSON": `JSON.stringify = () => '{"cancel":true}'; JSON.parse = () => ({ hacked: true }); globalThis.JSON = null;`,
  "another Map": `Map.prototype.get = () => { throw new Error("get"); }; Map.prototype.set = Map.prototype.get; Map.prototype.delete = Map.prototype.get; Map.prototype.forEach = Map.prototype.get; globalThis.Map = null;`,
  "another WeakMap": `WeakMap.prototype.get = () => "ERR_CALL_CPU"; WeakMap.prototype.set = () => { throw new Error("set"); };`,
  "another Function.prototype": `for (const key of ["call", "apply", "bind", "toString"]) Function.prototype[key] = () => { throw new Error(key); }; Object.defineProperty(Function.prototype, Symbol.hasInstance, { value: () => { throw new Error("instanceof"); }, writable: true, configurable: true });`,
  "another Reflect and Symbol": `Reflect.apply = () => { throw new Error("apply"); }; Reflect.ownKeys = Reflect.apply; globalThis.Reflect = null; globalThis.Symbol = null;`,
  "other String and Array methods": `for (const proto of [String.prototype, Array.prototype]) for (const key of Reflect.ownKeys(proto)) { if (key !== "constructor" && key !== "length" && typeof proto[key] === "function") try { proto[key] = () => { throw new Error("method"); }; } catch {} }`,
  "iterators that throw": `Array.prototype[Symbol.iterator] = () => { throw new Error("iterator"); }; String.prototype[Symbol.iterator] = Array.prototype[Symbol.iterator];`,
  "another Error": `Error.prepareStackTrace = () => { throw new Error("stack"); }; Error.captureStackTrace = null; Error.stackTraceLimit = Infinity; globalThis.Error = null; Object.defineProperty(Function.prototype, "name", { get() { throw 1; } });`,
  "other numbers": `globalThis.Number = () => NaN; Math.floor = () => NaN; Number.prototype.toString = () => "9"; Number.prototype.valueOf = () => 9; globalThis.String = () => "vandal"; Date.now = () => 0;`,
  "a frozen world": `for (const value of [Object.prototype, Array.prototype, Function.prototype, Promise.prototype, globalThis]) Object.freeze(value);`,
  "globals that are gone": `for (const key of Reflect.ownKeys(globalThis)) { try { delete globalThis[key]; } catch {} }`,
};

const vandal = (code: string) => `
    api.on("message_sending", (event) => {
      if (event.act !== "vandalise") return undefined;
      ${code}
    }, { priority: 5 });
    api.on("message_sending", async (event) => { if (event.act === "async") { await null; return { content: "vandal" }; } }, { priority: 4 });
    api.on("message_sending", (event) => { if (event.act === "throw") { console.log("about to throw"); throw { name: "N", message: "M" }; } if (event.act === "timer") return new Promise((resolve) => setTimeout(() => resolve({ content: "vandal" }), 1)); }, { priority: 3 });
    api.on("session:patch", () => ({ x: [1, 2, 3] }));
    api.registerTool({ name: "hangs-" + api.id, execute: (id, params, signal) => new Promise(() => signal?.addEventListener("abort", () => {})) });
    api.on("tool_result_persist", (event) => { event.message.touched = true; });`;

contract("vandalism", (isolation) => {
  const names = Object.keys(VANDALISM);
  const shared = sharedHost(isolation, {
    plugins: [
      actor("above", { priority: 10 }),
      ...names.map((_, index) => plugin(`v${index}`, vandal(VANDALISM[names[index]!]!), { hooks: { timeoutMs: 150, cpuMs: 2_000 } })),
      actor("below", { priority: -10 }),
    ],
  });

  it.each(names.map((name, index) => [name, index] as const))("%s", async (_, index) => {
    const { host } = shared;
    const id = `v${index}`;
    const restarts: unknown[] = [];
    const off = host.on("restart", (fact) => restarts.push(fact));
    const born = await ask(host, "below", "state.born");
    for (const act of ["vandalise", "async", "throw", "timer", "log"]) {
      const outcome = await host.run(
        "message_sending",
        {
          ...sending({ above: `return { content: event.content + "+above" }`, below: `return { content: event.content + "+below" }` }, "o"),
          act: "none",
          ...(act && { act }),
        },
        { channelId: "chat" },
      );
      const mine = outcome.calls.filter(({ plugin: who }) => who === id);
      expect(mine.length).toBe(3);
      expect(outcome.calls.filter(({ plugin: who }) => who === "above" || who === "below").map(({ status }) => status)).toEqual([
        "ok",
        "ok",
      ]);
      expect(outcome.result?.content).toMatch(/\+below$/);
      expect(outcome.decision).toBe("pass");
    }
    // To be given up is a thing the lane does inside the cell.
    const enough = new AbortController();
    const hangs = host.call({ tool: `hangs-${id}` }, {}, { signal: enough.signal });
    await host.run("session:patch", patched({}));
    enough.abort(new Error("enough"));
    // Where the world is broken it may have failed before.
    const ended = await hangs.then(
      () => "enough",
      (error: Error) => error.message,
    );
    expect(ended).toBe("enough");
    const kept = host.runSync("tool_result_persist", persist({ below: `return { message: { ...event.message, below: true } }` }));
    expect(kept.result?.message?.below).toBe(true);
    off();
    expect(await ask(host, "below", "state.born")).toBe(born);
    expect(restarts).toEqual([]);
  });

  it("every vandal is still listed and can be reloaded into a fresh cell", async () => {
    const report = await shared.host.reload("v0");
    expect(report.status).toBe("ready");
  });
});

contract("tricks with the bootstrap", (isolation) => {
  it("a plugin that makes its timers' class lie cannot wedge its lane", async () => {
    await using host = await open(isolation, {
      plugins: [
        plugin(
          "liar",
          `api.on("before_tool_call", () => { const timer = setTimeout(() => {}, 1e6); Object.defineProperty(timer.constructor, Symbol.hasInstance, { value() { for (;;); } }); return new Promise(() => {}); });`,
          { hooks: { timeoutMs: 100 } },
        ),
        actor("neighbour"),
      ],
    });
    const restarts: unknown[] = [];
    host.on("restart", (fact) => restarts.push(fact));
    const born = await ask(host, "neighbour", "state.born");
    const outcome = await host.run("before_tool_call", toolCall({}));
    expect(outcome.calls[0]).toMatchObject({ plugin: "liar", status: "timeout" });
    expect(await ask(host, "neighbour", "state.born")).toBe(born);
    expect(restarts).toEqual([]);
  });

  it("mail is built and read without running any code of the plugin", async () => {
    const spy = `const ran = (globalThis.ran = []); const note = (what) => { ran[ran.length] = what; };
      for (const proto of [Object.prototype, Array.prototype, String.prototype, Number.prototype]) Object.defineProperty(proto, "toJSON", { configurable: true, get() { note("toJSON"); return undefined; } });
      for (const proto of [String.prototype, Number.prototype]) for (const key of ["toString", "valueOf", "slice", "concat"]) { const original = proto[key]; if (original) proto[key] = function (...args) { note(key); return original.apply(this, args); }; }`;
    await using host = await open(isolation, {
      plugins: [
        plugin(
          "spy",
          `api.on("before_tool_call", () => { ${spy} globalThis.ran.length = 0; }); api.on("session:patch", () => { globalThis.ran.length = 0; setTimeout(() => {}, 1); console.log("line"); return undefined; }); api.on("message_sending", () => ({ cancelReason: globalThis.ran.join() }));`,
          { hooks: { cpuMs: 2_000 } },
        ),
      ],
    });
    await host.run("before_tool_call", toolCall({}));
    const line = next(host, "log");
    await host.run("session:patch", patched({}));
    expect((await line).text).toBe("line");
    // The turn that asks is the plugin's own: what it serialises itself is its own business.
    const ran = (await host.run("message_sending", sending({}), { channelId: "chat" })).result?.cancelReason ?? "";
    expect(ran.split(",").filter((what) => what !== "toJSON" && what !== "")).toEqual([]);
  });

  it("a handler is called on its own: its `this` is no object of the bootstrap", async () => {
    const name = "(function () { return this === undefined || this === globalThis ? 'own' : Object.prototype.toString.call(this); })";
    await using host = await open(isolation, {
      plugins: [
        plugin(
          "self",
          `api.on("before_tool_call", function () { return { block: true, blockReason: ${name}.call(this) }; }); api.on("message_sending", async function () { return { cancel: true, cancelReason: ${name}.call(this) }; }); api.on("tool_result_persist", function () { return { message: { role: ${name}.call(this), content: "" } }; });`,
        ),
      ],
    });
    expect((await host.run("before_tool_call", toolCall({}))).reason).toBe("own");
    expect((await host.run("message_sending", sending({}), { channelId: "chat" })).reason).toBe("own");
    expect(host.runSync("tool_result_persist", persist({})).result).toMatchObject({ message: { role: "own" } });
  });

  it("a plugin cannot make an error that carries one of the host's codes", async () => {
    await using host = await open(isolation, { plugins: [actor("a")] });
    const outcome = await host.run(
      "message_sending",
      sending({ a: `const error = new Error("x"); error.code = "ERR_CALL_CPU"; throw error` }),
      { channelId: "chat" },
    );
    expect(outcome.calls[0]).toMatchObject({ status: "failed", error: { code: "ERR_CALL_FAILED" } });
  });

  it("a plugin cannot answer for another call of its own, nor twice", async () => {
    await using host = await open(isolation, { plugins: [actor("a")] });
    const outcomes = await Promise.all([
      host.run(
        "message_sending",
        sending({
          a: `return { then(resolve, reject) { resolve({ content: "one" }); resolve({ content: "two" }); reject(new Error("three")); } }`,
        }),
        { channelId: "chat" },
      ),
      host.run("message_sending", sending({ a: `return { content: "other" }` }), { channelId: "chat" }),
    ]);
    expect(outcomes.map(({ result }) => result?.content)).toEqual(["one", "other"]);
  });
});
