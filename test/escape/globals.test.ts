/** What is reachable inside a cell: the language, a few globals of ours, and no way to anything outside. */
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { GUEST_GLOBALS } from "../../src/protocol/guest-surface/surface.ts";
import { contract, open, plugin } from "../support/host.ts";

/** Each of these runs code of ours with arguments of a plugin's: a new one wants a look at what it lets through. */
const OURS = [
  "clearImmediate",
  "clearInterval",
  "clearTimeout",
  "queueMicrotask",
  "setImmediate",
  "setInterval",
  "setTimeout",
  // In V8 a context of its own has one, and Node's vm, which tells the language apart here, too.
  ...Object.keys(GUEST_GLOBALS).filter((name) => name !== "console"),
].toSorted();

/** Runs code in a plugin of its own while it loads; what it gives back comes out as JSON. */
async function inside(isolation: "thread" | "process", code: string): Promise<unknown> {
  await using host = await open(isolation, {
    plugins: [
      plugin("p", `const value = (() => { ${code} })(); api.on("message_sending", () => ({ cancelReason: JSON.stringify(value) }));`, {
        hooks: { cpuMs: 2_000 },
      }),
    ],
  });
  expect(host.inspect("p").error).toBeUndefined();
  return JSON.parse((await host.run("message_sending", { to: "x", content: "" }, { channelId: "chat" })).result!.cancelReason!);
}

/**
 * Walks everything that can be reached from the globals, the api, a handler's arguments and `this`, through own properties,
 * accessors' functions, prototypes and constructors, and lists what does not belong to the isolate's own realm.
 */
const WALK = `
  // What is made when it is first touched is made now.
  for (const name of Object.getOwnPropertyNames(globalThis)) void globalThis[name];
  const seen = new Set();
  const strangers = [];
  const names = [];
  const queue = [["globalThis", globalThis], ["api", api], ["this", this], ["timer", setTimeout(() => {}, 1e6)], ["promise", (async () => {})()], ["callee", (function () { return arguments; })()], ["error", new Error("x")]];
  const { getPrototypeOf, getOwnPropertyDescriptor } = Object;
  while (queue.length > 0) {
    const [path, value] = queue.pop();
    if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) continue;
    seen.add(value);
    names.push(path);
    if (!(value instanceof Object) && getPrototypeOf(value) !== null && path !== "globalThis.Object.prototype") {
      // Not of this realm, unless its chain ends in an object without a prototype of this realm.
      let top = value;
      while (getPrototypeOf(top) !== null) top = getPrototypeOf(top);
      if (!seen.has(top) && top !== Object.prototype) strangers.push(path);
    }
    if (typeof value === "function") {
      let made;
      try { made = value.constructor("return globalThis")(); } catch { made = globalThis; }
      if (made !== globalThis && made !== undefined && typeof made === "object" && !(made instanceof Object)) strangers.push(path + ".constructor");
    }
    queue.push([path + ".__proto__", getPrototypeOf(value)]);
    for (const key of Reflect.ownKeys(value)) {
      const property = getOwnPropertyDescriptor(value, key);
      for (const part of ["value", "get", "set"]) if (property[part] !== undefined) queue.push([path + "." + String(key), property[part]]);
    }
  }
`;

contract("globals inside a cell", (isolation) => {
  it("there is no shared memory, no WebAssembly, and no way to load modules", async () => {
    const names = [
      "WebAssembly",
      "SharedArrayBuffer",
      "Atomics",
      "WeakRef",
      "FinalizationRegistry",
      "require",
      "module",
      "Deno",
      "Bun",
      "ivm",
      "_ivm",
      "creel",
      "importScripts",
      "navigator",
      "Worker",
      "__dirname",
    ];
    expect(
      await inside(
        isolation,
        `return ${JSON.stringify(names)}.filter((name) => { try { return (0, eval)("typeof " + name) !== "undefined"; } catch { return true; } });`,
      ),
    ).toEqual([]);
  });

  it("the globals beyond the language are these and no others", async () => {
    const language = new Set(runInNewContext("Object.getOwnPropertyNames(globalThis)") as string[]);
    const names = (await inside(isolation, `return Object.getOwnPropertyNames(globalThis);`)) as string[];
    expect(names.filter((name) => !language.has(name)).toSorted()).toEqual(OURS);
  });

  it("shared memory cannot be had by another way either", async () => {
    expect(
      await inside(
        isolation,
        `const found = []; const want = /SharedArrayBuffer|WebAssembly|Atomics/; const seen = new Set(); const queue = [globalThis]; while (queue.length) { const v = queue.pop(); if ((typeof v !== "object" && typeof v !== "function") || v === null || seen.has(v)) continue; seen.add(v); if (want.test(String(v?.name)) || want.test(Object.prototype.toString.call(v))) found.push(String(v.name)); for (const k of Reflect.ownKeys(v)) { const d = Object.getOwnPropertyDescriptor(v, k); queue.push(d.value, d.get, d.set); } queue.push(Object.getPrototypeOf(v)); } return found;`,
      ),
    ).toEqual([]);
  });

  it("everything that can be reached belongs to the isolate itself", async () => {
    const found = (await inside(isolation, `${WALK} return { strangers, count: seen.size };`)) as { strangers: string[]; count: number };
    expect(found.strangers).toEqual([]);
    expect(found.count).toBeGreaterThan(500);
  });

  it("none of the functions that can be reached is one of isolated-vm's or a way to enter the lane", async () => {
    const names = (await inside(isolation, `${WALK} return names;`)) as string[];
    expect(names.filter((name) => /ivm|isolate|applySync|lastWords|abandon|dispatch(?!Event)|derefInto|Reference\b/i.test(name))).toEqual(
      [],
    );
  });

  it("the constructors of functions make functions of the isolate, whose global is the isolate's", async () => {
    const kinds = [
      "(() => {})",
      "(async () => {})",
      "(function* () {})",
      "api.on",
      "console.log",
      "setTimeout",
      "queueMicrotask",
      "api.logger.info",
    ];
    expect(
      await inside(
        isolation,
        `return [${kinds.join()}].map((fn) => { const made = fn.constructor("return typeof module + typeof require + typeof globalThis.setTimeout"); const value = made(); return typeof value === "string" ? value : "deferred"; });`,
      ),
    ).toEqual(["undefinedundefinedfunction", "deferred", "deferred", ...Array(5).fill("undefinedundefinedfunction")]);
  });

  it("a stack trace shows no path and no frame object of the host", async () => {
    const text = await inside(
      isolation,
      `let frames = []; Error.prepareStackTrace = (_, sites) => { frames = sites.map((site) => [site.getFileName(), typeof site.getThis(), typeof site.getFunction(), String(site)]); return ""; }; void new Error("x").stack; return frames;`,
    );
    expect(JSON.stringify(text)).not.toMatch(/node:|file:|\/work|\/home|node_modules/);
  });

  it("dynamic import finds nothing", async () => {
    await using host = await open(isolation, {
      plugins: [
        plugin(
          "p",
          `api.on("message_sending", async () => { try { await new Function("return import('node:fs')")(); return { cancelReason: "imported" }; } catch (error) { return { cancelReason: "refused" }; } });`,
        ),
      ],
    });
    expect((await host.run("message_sending", { to: "x", content: "" }, { channelId: "chat" })).result?.cancelReason).toBe("refused");
  });

  it("one plugin cannot see another's globals", async () => {
    await using host = await open(isolation, {
      plugins: [
        plugin("writer", `globalThis.secret = 42; Object.prototype.secret2 = 43;`),
        plugin("reader", `api.on("message_sending", () => ({ cancelReason: typeof secret + typeof ({}).secret2 }));`),
      ],
    });
    expect((await host.run("message_sending", { to: "x", content: "" }, { channelId: "chat" })).result?.cancelReason).toBe(
      "undefinedundefined",
    );
  });
});
