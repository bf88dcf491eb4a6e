/** Streams behave as in Node, as far as a program can tell. The standard's own tests: scripts/wpt.ts. */
import { describe } from "vitest";
import { comparison } from "./compare.ts";

const collect = (stream: string) => `const out = []; for await (const piece of ${stream}) out.push(piece); return out;`;
/** By its class; Node's codes are not the standard's. */
const refused = (code: string) => `try { ${code}; return "taken"; } catch (error) { return error.name; }`;

describe("streams", () => {
  const { same } = comparison();

  same("a readable stream gives what its source gives, once", [
    collect(`ReadableStream.from([1, 2, 3])`),
    collect(`ReadableStream.from((async function* () { yield "a"; yield "b"; })())`),
    collect(`new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); c.close(); } })`),
    `let at = 0; ${collect(`new ReadableStream({ pull(c) { if (at++ < 3) c.enqueue(at); else c.close(); } })`)}`,
    collect(`new ReadableStream({ start(c) { c.error(new RangeError("mine")); } })`),
    `const r = ReadableStream.from([1]).getReader(); return [await r.read(), await r.read(), await r.closed];`,
    refused(`const s = ReadableStream.from([1]); s.getReader(); s.getReader();`),
    `const s = ReadableStream.from([1]); const r = s.getReader(); const before = s.locked; r.releaseLock(); return [before, s.locked];`,
    `const seen = []; const s = new ReadableStream({ cancel(why) { seen.push(why); } }); await s.cancel("why"); return seen;`,
    `const seen = []; for await (const x of new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); }, cancel() { seen.push("cancelled"); } })) { seen.push(x); break; } return seen;`,
    `const [a, b] = ReadableStream.from([1, 2]).tee(); const all = async (s) => { const out = []; for await (const x of s) out.push(x); return out; }; return [await all(a), await all(b)];`,
    `const sizes = []; new ReadableStream({ start(c) { sizes.push(c.desiredSize); c.enqueue("ab"); sizes.push(c.desiredSize); } }, { highWaterMark: 5, size: (s) => s.length }); return sizes;`,
    `[new CountQueuingStrategy({ highWaterMark: 3 }).size(), new ByteLengthQueuingStrategy({ highWaterMark: 3 }).size(new Uint8Array(7)), new CountQueuingStrategy({ highWaterMark: 3 }).highWaterMark]`,
    refused(`new ReadableStream({ type: "nope" })`),
    refused(`ReadableStream.from(5)`),
    refused(`new ReadableStreamDefaultController()`),
    `Object.prototype.toString.call(new ReadableStream())`,
    `[new ReadableStream() instanceof ReadableStream, ReadableStream.name, ReadableStream.prototype.values === ReadableStream.prototype[Symbol.asyncIterator]]`,
  ]);

  same("a stream of bytes fills the reader's own buffers", [
    `const s = new ReadableStream({ type: "bytes", start(c) { c.enqueue(new Uint8Array([1, 2, 3])); c.close(); } }); const r = s.getReader({ mode: "byob" }); const a = await r.read(new Uint8Array(2)); const b = await r.read(new Uint8Array(2)); const c = await r.read(new Uint8Array(2)); return [a, b, c.done, c.value.length];`,
    `const s = new ReadableStream({ type: "bytes", pull(c) { const { view } = c.byobRequest; view[0] = 9; c.byobRequest.respond(1); } }); const { value } = await s.getReader({ mode: "byob" }).read(new Uint8Array(4)); return value;`,
    `const s = new ReadableStream({ type: "bytes", autoAllocateChunkSize: 4, pull(c) { c.byobRequest.view.set([7, 8]); c.byobRequest.respond(2); c.close(); } }); const { value } = await s.getReader().read(); return value;`,
    `const chunk = new Uint8Array([1]); new ReadableStream({ type: "bytes", start(c) { c.enqueue(chunk); } }); return chunk.byteLength;`,
    refused(`new ReadableStream().getReader({ mode: "byob" })`),
  ]);

  same("writable and transform streams pass things on, in order and with backpressure", [
    `const seen = []; const w = new WritableStream({ write(x) { seen.push(x); }, close() { seen.push("closed"); } }).getWriter(); await w.write(1); await w.write(2); await w.close(); return seen;`,
    `const w = new WritableStream({ write() { throw new RangeError("mine"); } }).getWriter(); const out = []; await w.write(1).catch((e) => out.push(e.name)); await w.closed.catch((e) => out.push(e.message)); return out;`,
    `const seen = []; const w = new WritableStream({ abort(why) { seen.push(why); } }); await w.abort("why"); return seen;`,
    `const w = new WritableStream({ write() { return new Promise(() => {}); } }, { highWaterMark: 2 }).getWriter(); const sizes = [w.desiredSize]; w.write(1); sizes.push(w.desiredSize); w.write(2); sizes.push(w.desiredSize); return sizes;`,
    collect(
      `ReadableStream.from([1, 2]).pipeThrough(new TransformStream({ transform(x, c) { c.enqueue(x * 10); }, flush(c) { c.enqueue("end"); } }))`,
    ),
    `const seen = []; await ReadableStream.from([1, 2]).pipeTo(new WritableStream({ write(x) { seen.push(x); } })); return seen;`,
    `const c = new AbortController(); c.abort(); await ReadableStream.from([1]).pipeTo(new WritableStream(), { signal: c.signal });`,
    `let signal; const w = new WritableStream({ start(c) { signal = c.signal; } }); const before = signal.aborted; await w.abort("x"); return [before, signal.aborted, signal.reason, signal instanceof AbortSignal];`,
    refused(`new WritableStream({ type: "x" })`),
    refused(`new TransformStream({ readableType: "x" })`),
    `const t = new TransformStream(); return [t.readable instanceof ReadableStream, t.writable instanceof WritableStream];`,
  ]);
});
