/** Expressions about asynchronous contexts, channels and lines that Node and a cell both evaluate, per module, one per line. */
import { script } from "./tables-script.ts";

export const ASYNC_TABLES = {
  async_hooks: script(
    `const { AsyncLocalStorage, AsyncResource, ...hooks } = require("node:async_hooks"); const als = new AsyncLocalStorage(); const other = new AsyncLocalStorage(); const { EventEmitter } = require("events");
const later = (ms = 1) => new Promise((resolve) => setTimeout(resolve, ms));`,
    String.raw`
    [als.getStore(), als.run(1, () => als.getStore()), als.run(1, () => als.run(2, () => als.getStore())), als.getStore(), als.run(1, (a, b) => [a, b], "x", "y")]
    als.run(1, async () => { await null; const a = als.getStore(); await later(); return [a, als.getStore()]; })
    Promise.all([1, 2, 3].map((n) => als.run(n, async () => { await later(4 - n); await Promise.resolve(); return [n, als.getStore()]; })))
    als.run(1, () => Promise.resolve().then(() => als.getStore()).finally(() => later()).then((v) => [v, als.getStore()]))
    als.run(1, () => Promise.reject(new Error("x")).catch(() => als.getStore()))
    als.run(1, () => new Promise((resolve) => setTimeout(() => resolve(als.getStore()), 1)))
    als.run(1, () => new Promise((resolve) => setImmediate(() => resolve(als.getStore()))))
    als.run(1, () => new Promise((resolve) => queueMicrotask(() => resolve(als.getStore()))))
    als.run(1, () => new Promise((resolve) => process.nextTick(() => resolve(als.getStore()))))
    als.run(1, () => new Promise((resolve) => require("timers").setTimeout(() => resolve(als.getStore()), 1)))
    als.run(1, async () => { const got = []; for await (const n of (async function* () { await later(); yield als.getStore(); await null; yield als.getStore(); })()) got.push(n, als.getStore()); return got; })
    als.run(1, async () => { try { await Promise.reject(new Error("x")); } catch { return als.getStore(); } finally { await null; } })
    als.run(1, async () => { class A { #x = 1; async m() { await null; return [this.#x, als.getStore(), arguments.length]; } } return new A().m(1, 2); })
    als.run({ id: 1 }, async () => { const arrow = async (...args) => { await null; als.getStore().id += args.length; }; await arrow(1, 2); return als.getStore(); })
    als.run(1, () => als.exit(() => als.getStore()))
    als.run(1, () => other.run(2, async () => { await null; return [als.getStore(), other.getStore()]; }))
    (async () => { als.enterWith(7); const a = als.getStore(); await null; const b = als.getStore(); await later(); return [a, b, als.getStore()]; })()
    (() => { const s = new AsyncLocalStorage(); return s.run(1, () => { const fn = AsyncLocalStorage.bind(() => s.getStore()); const snap = AsyncLocalStorage.snapshot(); return s.run(2, () => [fn(), snap(() => s.getStore()), s.getStore()]); }); })()
    (() => { const s = new AsyncLocalStorage(); return s.run(1, () => { const r = new AsyncResource("X"); return s.run(2, () => [r.runInAsyncScope(() => s.getStore()), r.runInAsyncScope(function (a) { return [this.me, a]; }, { me: 5 }, 6), r.bind((a, b) => s.getStore())(), r.bind((a, b) => 0).length, typeof r.asyncId()]); }); })()
    als.run(1, () => { const e = new EventEmitter(); e.on("x", () => e.got = als.getStore()); return als.run(2, () => { e.emit("x"); return e.got; }); })
    (() => { try { als.run(1, () => { throw new Error("out"); }); } catch (error) { return [error.message, als.getStore()]; } })()
    (() => { const s = new AsyncLocalStorage({ defaultValue: 9, name: "n" }); return [s.getStore(), s.name, s.run(undefined, () => s.getStore())]; })()
    (() => { const a = new AsyncLocalStorage(); const b = new AsyncLocalStorage(); a.run(1, () => { b.enterWith(2); b.run(3, () => a.enterWith(4)); }); return [a.getStore(), b.getStore()]; })()
    (() => { const s = new AsyncLocalStorage(); s.enterWith(0); const scope = s.withScope(1); const inner = s.withScope(2); const got = [s.getStore()]; inner.dispose(); got.push(s.getStore()); scope[Symbol.dispose](); scope.dispose(); return [...got, s.getStore()]; })()
    als.run(1, async () => { als.disable(); return als.getStore(); })
    new AsyncResource(5)
    [typeof hooks.createHook({}).enable().disable, typeof hooks.executionAsyncId()]
  `,
  ),
  diagnostics_channel: script(
    `const dc = require("diagnostics_channel"); const said = () => { const list = []; return Object.assign((message, name) => list.push([message, String(name)]), { list }); };`,
    String.raw`
    (() => { const a = said(); const c = dc.channel("a"); const before = c.hasSubscribers; c.subscribe(a); c.publish({ n: 1 }); dc.channel("a").publish(2); const there = [dc.hasSubscribers("a"), c.unsubscribe(a), c.unsubscribe(a), c.hasSubscribers]; c.publish(3); return [before, a.list, there, dc.channel("a") === c, c.name]; })()
    (() => { const a = said(); dc.subscribe("b", a); dc.channel("b").publish(1); return [dc.unsubscribe("b", a), a.list]; })()
    dc.channel(5)
    dc.channel("x").subscribe(5)
    (() => { const t = dc.tracingChannel("t"); const seen = []; t.subscribe({ start: (m) => seen.push(["start", m.x]), end: (m) => seen.push(["end", m.result]), error: (m) => seen.push(["error", m.error.message]), asyncStart: () => seen.push("as"), asyncEnd: () => seen.push("ae") }); const r = t.traceSync((a) => a + 1, { x: 1 }, undefined, 5); let threw; try { t.traceSync(() => { throw new Error("no"); }, { x: 2 }); } catch (e) { threw = e.message; } return [r, threw, seen, t.start.name]; })()
    (async () => { const t = dc.tracingChannel("p"); const seen = []; t.subscribe({ start: () => seen.push("start"), end: () => seen.push("end"), asyncStart: (m) => seen.push(["as", m.result]), asyncEnd: () => seen.push("ae"), error: () => seen.push("error") }); const r = await t.tracePromise(async () => 5, {}); await t.tracePromise(async () => { throw new Error("x"); }, {}).catch(() => seen.push("caught")); return [r, seen]; })()
    (async () => { const t = dc.tracingChannel("c"); const seen = []; t.subscribe({ start: () => seen.push("start"), end: () => seen.push("end"), asyncStart: (m) => seen.push(["as", m.result]), asyncEnd: () => seen.push("ae") }); return new Promise((resolve) => t.traceCallback((a, done) => setTimeout(done, 1, null, a), -1, {}, null, 4, (e, v) => { seen.push(v); setTimeout(() => resolve(seen), 1); })); })()
    (() => { const { AsyncLocalStorage } = require("async_hooks"); const s = new AsyncLocalStorage(); const c = dc.channel("s"); c.bindStore(s, (m) => m * 2); return [c.runStores(4, function (a) { return [s.getStore(), this.t, a]; }, { t: 1 }, 2), s.getStore(), c.unbindStore(s)]; })()
  `,
  ),
  readline: script(
    `const readline = require("node:readline"); const { Readable, PassThrough, Writable } = require("stream"); const { once } = require("events"); const lines = async (...chunks) => { const got = []; for await (const line of readline.createInterface({ input: Readable.from(chunks) })) got.push(line); return got; };`,
    String.raw`
    lines("a\nb\r\nc\rd")
    lines("a", "b\n", "\n", "c\r", "\nd\n")
    lines(Buffer.from([0xe2, 0x82]), Buffer.from([0xac, 10]), "x")
    lines("")
    (async () => { const input = new PassThrough(); const rl = readline.createInterface({ input, crlfDelay: Infinity }); const got = []; rl.on("line", (l) => got.push(l)); rl.on("close", () => got.push("close")); input.write("one\ntw"); input.end("o"); await once(rl, "close"); return [got, rl.terminal, rl.closed ?? true]; })()
    (async () => { const input = new PassThrough(); let said = ""; const output = new Writable({ write(c, e, d) { said += c; d(); } }); const rl = readline.createInterface({ input, output, terminal: false }); const answer = new Promise((r) => rl.question("name? ", r)); input.write("me\n"); const got = await answer; rl.setPrompt("$ "); rl.prompt(); rl.close(); return [got, said, rl.getPrompt()]; })()
    (async () => { const input = new PassThrough(); const rl = require("readline/promises").createInterface({ input, terminal: false }); const answer = rl.question("? "); input.write("yes\n"); const got = await answer; rl.close(); return got; })()
    (() => { const rl = readline.createInterface({ input: new PassThrough() }); rl.close(); rl.question("x", () => {}); })()
    (() => { const got = []; const s = { write: (t) => (got.push(t), true) }; readline.clearLine(s, 0); readline.clearLine(s, -1); readline.cursorTo(s, 3); readline.cursorTo(s, 1, 2); readline.moveCursor(s, -2, 1); readline.clearScreenDown(s); return got; })()
    [require("tty").isatty(99), typeof require("tty").WriteStream, require("sys") === require("util")]
    ["ENOENT", "O_RDONLY", "S_IFMT", "SIGTERM", "F_OK"].map((name) => require("constants")[name])
  `,
  ),
};
