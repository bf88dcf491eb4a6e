/** Whatever a plugin throws, returns or fails to load with: `run` resolves, the plugin is named, its neighbours are right. */
import { expect, it } from "vitest";
import { actor, patched, sending } from "../support/actors.ts";
import { contract, open, plugin, sharedHost, statuses } from "../support/host.ts";

const THROWS: Record<string, [code: string, message: string]> = {
  "an Error": [`throw new Error("boom")`, "the handler threw: boom"],
  "a TypeError": [`null.x`, "the handler threw: TypeError: Cannot read properties of null (reading 'x')"],
  "a rejected promise": [`async throw new RangeError("boom")`, "the handler threw: RangeError: boom"],
  "a rejected promise after a timer": [`async await new Promise((r) => setTimeout(r, 1)); throw "late"`, "the handler threw: late"],
  "a string": [`throw "text"`, "the handler threw: text"],
  null: [`throw null`, "the handler threw: null"],
  undefined: [`throw undefined`, "the handler threw: undefined"],
  "undefined, by a promise": [`return Promise.reject()`, "the handler threw: undefined"],
  "a number": [`throw 5`, "the handler threw: 5"],
  "a BigInt": [`throw 5n`, "the handler threw: 5"],
  "a symbol": [`throw Symbol("s")`, "the handler threw: Symbol(s)"],
  "a function": [`throw () => {}`, "the handler threw: a function"],
  "a plain object": [`throw { a: 1 }`, 'the handler threw: {"a":1}'],
  "an object that is its own cycle": [`const o = {}; o.o = o; throw o`, "the handler threw: an object"],
  "an object without a prototype": [`throw Object.create(null)`, "the handler threw: {}"],
  "an error whose getters throw": [
    `const e = new Error("x"); for (const k of ["name", "message", "stack"]) Object.defineProperty(e, k, { get() { throw e; } }); throw e`,
    "the handler threw: {}",
  ],
  "an error whose message is an object": [
    `const e = new Error(); e.message = { toString() { throw 1; } }; e.stack = 5; throw e`,
    'the handler threw: {"message":{}}',
  ],
  "a Proxy whose traps throw": [
    `throw new Proxy({}, new Proxy({}, { get() { throw new Error("trap"); } }))`,
    "the handler threw: an object",
  ],
  "a message with newlines and colours": [`throw new Error("a\\n\\u001b[31mb\\u2028c")`, "the handler threw: a [31mb c"],
  "a stack overflow": [`const f = () => f() + 1; f()`, "the handler threw: RangeError: Maximum call stack size exceeded"],
};

const STOPS: Record<string, string> = {
  "a Proxy whose traps loop": `throw new Proxy({}, { get() { for (;;); } })`,
  "an error whose getters loop": `const e = new Error(); Object.defineProperty(e, "stack", { get() { for (;;); } }); throw e`,
  "an error whose toJSON loops": `throw { toJSON() { for (;;); } }`,
  "a looping Error.prepareStackTrace": `Error.prepareStackTrace = () => { for (;;); }; throw new Error("x")`,
  "a rejection whose getters loop": `return Promise.reject(new Proxy({}, { get() { for (;;); } }))`,
};

const GARBAGE: Record<string, [code: string, error: string]> = {
  "a number": [`return 5`, "ERR_CALL_RESULT"],
  "a string": [`return "text"`, "ERR_CALL_RESULT"],
  true: [`return true`, "ERR_CALL_RESULT"],
  "an array": [`return []`, "ERR_CALL_RESULT"],
  "a field of the wrong type": [`return { content: 5 }`, "ERR_CALL_RESULT"],
  "a field that is null": [`return { content: null }`, "ERR_CALL_RESULT"],
  "a wrong type by promise": [`async return { cancel: "yes" }`, "ERR_CALL_RESULT"],
  "a function": [`return () => {}`, "ERR_CALL_RESULT_JSON"],
  "a symbol": [`return Symbol("s")`, "ERR_CALL_RESULT_JSON"],
  "a BigInt": [`return 5n`, "ERR_CALL_RESULT_JSON"],
  "a BigInt inside": [`return { content: 5n }`, "ERR_CALL_RESULT_JSON"],
  "a cycle": [`const o = {}; o.metadata = o; return o`, "ERR_CALL_RESULT_JSON"],
  "a toJSON that throws": [`return { toJSON() { throw new Error("no"); } }`, "ERR_CALL_RESULT_JSON"],
  "a toJSON that throws null": [`return { toJSON() { throw null; } }`, "ERR_CALL_RESULT_JSON"],
  "a toJSON that gives nothing": [`return { toJSON() {} }`, "ERR_CALL_RESULT_JSON"],
  "more than the limit": [`return { content: "x".repeat(1024 * 1024) }`, "ERR_CALL_RESULT_SIZE"],
  "a very deep object": [`let o = {}; for (let i = 0; i < 20000; i++) o = { o }; return { metadata: o }`, "ERR_CALL_RESULT_JSON"],
};

contract("failures of a handler", (isolation) => {
  const shared = sharedHost(isolation, {
    plugins: [actor("a", { priority: 10 }), actor("bad", { priority: 5, hooks: { cpuMs: 100 } }), actor("c")],
  });
  const play = (code: string) =>
    shared.host.run("message_sending", sending({ a: `return { content: "a" }`, bad: code, c: `return { content: event.content + "c" }` }), {
      channelId: "chat",
    });

  it.each(Object.entries(THROWS))("throwing %s fails the call, described", async (_, [code, message]) => {
    const outcome = await play(code);
    expect(statuses(outcome)).toEqual(["a:ok", "bad:failed", "c:ok"]);
    expect(outcome.calls[1]?.error).toMatchObject({ code: "ERR_CALL_FAILED", message });
    expect(outcome).toMatchObject({ decision: "pass", result: { content: "ac" } });
  });

  it.each(Object.entries(STOPS))("throwing %s is stopped by the CPU budget", async (_, code) => {
    const outcome = await play(code);
    expect(statuses(outcome)).toEqual(["a:ok", "bad:cpu", "c:ok"]);
    expect(outcome.result).toEqual({ content: "ac" });
  });

  it.each(Object.entries(GARBAGE))("returning %s fails the call, and the result of the others stands", async (_, [code, error]) => {
    const outcome = await play(code);
    expect(statuses(outcome)).toEqual(["a:ok", "bad:failed", "c:ok"]);
    expect(outcome.calls[1]?.error?.code).toBe(error);
    expect(outcome.result).toEqual({ content: "ac" });
  });

  it("a wrong field is named in the error", async () => {
    expect((await play(`return { metadata: 5 }`)).calls[1]?.error?.message).toMatch(/^the handler's result is not valid at "metadata": /);
  });

  it("a deep but valid result passes", async () => {
    const outcome = await play(`let o = {}; for (let i = 0; i < 500; i++) o = { o }; return { metadata: o }`);
    expect(statuses(outcome)).toEqual(["a:ok", "bad:ok", "c:ok"]);
  });

  it("a rejection that nobody handles does not change the call's answer, and is logged", async () => {
    const lines: string[] = [];
    const off = shared.host.on("log", ({ text }) => lines.push(text));
    const outcome = await play(`Promise.reject(new Error("forgotten")); return { content: "b" }`);
    expect(outcome).toMatchObject({ decision: "pass", result: { content: "bc" } });
    expect(statuses(outcome)).toEqual(["a:ok", "bad:ok", "c:ok"]);
    await play(`return undefined`);
    off();
    expect(lines.join()).toContain("forgotten");
  });

  it("an error in a timer is logged and fails nobody", async () => {
    const lines: string[] = [];
    const off = shared.host.on("log", ({ text }) => lines.push(text));
    const outcome = await play(
      `return new Promise((r) => { setTimeout(() => { throw new Error("in a timer"); }, 1); setTimeout(r, 10); })`,
    );
    off();
    expect(statuses(outcome)).toEqual(["a:ok", "bad:ok", "c:ok"]);
    expect(lines.join()).toContain("in a timer");
  });

  it("answers that add up to more than one frame may carry do not end the sandbox", async () => {
    await using host = await open(isolation, {
      plugins: [
        plugin(
          "loud",
          `for (let i = 0; i < 30; i++) { api.on("session:patch", () => "x".repeat(1e6)); api.on("message_sending", () => ({ cancelReason: "x".repeat(1e6) })); }`,
        ),
      ],
    });
    const restarts: unknown[] = [];
    host.on("restart", (fact) => restarts.push(fact));
    expect(new Set(statuses(await host.run("session:patch", patched({}))))).toEqual(new Set(["loud:ok"]));
    const { calls } = await host.run("message_sending", sending({}), { channelId: "chat" });
    expect(calls).toHaveLength(30);
    // What one plugin may return in one run is bounded, too.
    expect(new Set(calls.map(({ status, error }) => error?.code ?? status))).toEqual(new Set(["ok", "ERR_CALL_RESULTS_SIZE"]));
    expect(restarts).toEqual([]);
  });
});

const LOADS: Record<string, [source: string, code: string, message: RegExp]> = {
  "a syntax error": [`export default (api) => {`, "ERR_PLUGIN_BUNDLE", /plugin\.ts/],
  "a throw at top level": [`throw new Error("top"); export default () => {};`, "ERR_PLUGIN_LOAD", /^the plugin failed while loading: top$/],
  "a throw in register": [`export default () => { throw new TypeError("reg"); };`, "ERR_PLUGIN_LOAD", /TypeError: reg$/],
  "a rejecting register": [`export default async () => { await null; throw new Error("late"); };`, "ERR_PLUGIN_LOAD", /late$/],
  "throwing null": [`export default () => { throw null; };`, "ERR_PLUGIN_LOAD", /null$/],
  "no default export": [`export const x = 1;`, "ERR_PLUGIN_EXPORT", /neither a function nor an object with register/],
  "a number as default export": [`export default 5;`, "ERR_PLUGIN_EXPORT", /default export is/],
  "null as default export": [`export default null;`, "ERR_PLUGIN_EXPORT", /default export is/],
  "a register that is no function": [`export default { id: "x", register: 5 };`, "ERR_PLUGIN_EXPORT", /register is a number/],
  "a Node built-in": [
    `import repl from "node:repl"; export default () => { repl.start(); };`,
    "ERR_PLUGIN_MODULE",
    /"repl" is not available/,
  ],
  "a module that is not there": [`import x from "no-such-module-xyz"; export default () => x;`, "ERR_PLUGIN_MODULE", /no-such-module-xyz/],
  "an endless loop at top level": [`for (;;); export default () => {};`, "ERR_CALL_CPU", /CPU time/],
  "an endless loop in register": [`export default () => { for (;;); };`, "ERR_CALL_CPU", /CPU time/],
  "a heap that explodes": [
    `const a = []; for (;;) a.push("x".repeat(1e5) + a.length); export default () => {};`,
    "ERR_CALL_MEMORY",
    /heap/,
  ],
  "a handler that is no function": [
    `export default (api) => { api.on("message_sending", 5); };`,
    "ERR_PLUGIN_LOAD",
    /needs a handler function/,
  ],
  "a priority that is no number": [
    `export default (api) => { api.on("message_sending", () => {}, { priority: "high" }); };`,
    "ERR_PLUGIN_REGISTRATION",
    /options\.priority/,
  ],
  "too many handlers": [
    `export default (api) => { for (let i = 0; i < 600; i++) api.on("message_sending", () => {}); };`,
    "ERR_PLUGIN_REGISTRATION",
    /handlers/,
  ],
  "a name that is no text": [`export default (api) => { api.on(Symbol.iterator, () => {}); };`, "ERR_PLUGIN_LOAD", /name of a hook/],
};

contract("failures to load", (isolation) => {
  const names = Object.keys(LOADS);
  const shared = sharedHost(isolation, {
    allowFailed: true,
    config: { limits: { heapMb: 16 } },
    plugins: [...names.map((_, index) => ({ id: `p${index}`, source: LOADS[names[index]!]![0] })), actor("good")],
  });

  it.each(names.map((name, index) => [name, index] as const))("%s is named in host.plugins()", (name, index) => {
    const [, code, message] = LOADS[name]!;
    const report = shared.host.plugins()[index];
    expect(report).toMatchObject({ id: `p${index}`, status: "failed", hooks: [] });
    expect(report?.error?.code).toBe(code);
    expect(report?.error?.message).toMatch(message);
  });

  it("the plugins that did load work", async () => {
    const outcome = await shared.host.run("message_sending", sending({ good: `return { content: "fine" }` }), { channelId: "chat" });
    expect(statuses(outcome).filter((line) => !line.endsWith(":failed"))).toEqual(["good:ok"]);
    expect(outcome.result?.content).toBe("fine");
  });

  it("a plugin that stops loading on a rebuild is failed, its calls say so, and its gate stays shut", async () => {
    await using host = await open(isolation, {
      plugins: [
        {
          id: "fickle",
          source: `export default (api) => { if (Date.now() > api.pluginConfig.until) throw new Error("too late"); api.on("before_tool_call", () => { for (;;); }); };`,
          config: { until: Date.now() + 3_000 },
        },
      ],
    });
    const failed = new Promise<void>((resolve) =>
      host.on("plugin", ({ plugin: id, status }) => id === "fickle" && status === "failed" && resolve()),
    );
    while (host.inspect("fickle").status !== "failed") {
      await host.run("before_tool_call", { toolName: "t", params: {} });
      await host.release("fickle");
    }
    await failed;
    expect(host.inspect("fickle").error?.message).toContain("too late");
    const outcome = await host.run("before_tool_call", { toolName: "t", params: {} });
    expect([outcome.decision, outcome.by, statuses(outcome)]).toEqual(["block", "fickle", ["fickle:failed"]]);
  });

  it("a register that never settles fails by its own clock", async () => {
    await using host = await open(isolation, {
      allowFailed: true,
      plugins: [{ id: "never", source: `export default () => new Promise(() => {});` }, actor("good")],
    });
    expect(host.inspect("never")).toMatchObject({ status: "failed", error: { code: "ERR_CALL_TIMEOUT" } });
    expect(host.inspect("good").status).toBe("ready");
  });
});
