/** Headers, Request and Response behave as in Node. */
import { describe } from "vitest";
import { comparison } from "../compare.ts";

const NAMES = (of: string, without = "") =>
  `[...new Set((function names(o) { return o && o !== Object.prototype ? [...Object.getOwnPropertyNames(o), ...names(Object.getPrototypeOf(o))] : []; })(${of}))].filter((n) => !"${without}".split(" ").includes(n)).sort()`;

describe("fetch's classes", () => {
  const { same } = comparison();

  same("they have the members that Node's have", [
    NAMES("Headers.prototype"),
    NAMES("Request.prototype", "isReloadNavigation isHistoryNavigation"),
    NAMES("Response.prototype"),
    `Object.getOwnPropertyNames(Response).sort().filter((n) => !["prototype", "name", "length"].includes(n))`,
    `[Headers.name, Request.name, Response.name, Headers.length, Request.length, Response.length, fetch.name, fetch.length]`,
    `[new Headers(), new Request("http://a/"), new Response()].map((o) => Object.prototype.toString.call(o))`,
    `Headers.prototype[Symbol.iterator] === Headers.prototype.entries`,
    `Object.keys(Headers.prototype).sort()`,
    `structuredClone(new Headers())`,
    `structuredClone(new Request("http://a/"))`,
    `structuredClone(new Response())`,
    `Headers()`,
    `Request("http://a/")`,
    `Response()`,
  ]);

  same("headers are taken from records, pairs, iterables and other headers", [
    `[...new Headers([["B", " 2 "], ["a", "1"], ["A", "3"]])]`,
    `[...new Headers({ b: 2, a: "1", A: null })]`,
    `[...new Headers(new Map([["x", "1"], ["y", "2"]]))]`,
    `[...new Headers(new Headers({ a: "1" }))]`,
    `[...new Headers(new Set([["a", "1"]]))]`,
    `[...new Headers([new Set(["a", "1"])])]`,
    `[...new Headers(undefined)]`,
    `[...new Headers({})]`,
    `[...new Headers([])]`,
    `[...new Headers(Object.create({ inherited: "1" }, { own: { value: "2", enumerable: true } }))]`,
    `new Headers(null)`,
    `new Headers(5)`,
    `new Headers("a: 1")`,
    `new Headers([["a"]])`,
    `new Headers([["a", "1", "2"]])`,
    `new Headers(["ab"])`,
    `new Headers([5])`,
  ]);

  same("names and values are checked, and white space of HTTP is left out", [
    `new Headers({ "a b": "1" })`,
    `new Headers({ "": "1" })`,
    `new Headers({ "a:": "1" })`,
    `new Headers({ ä: "1" })`,
    `new Headers({ a: "1\\n2" })`,
    `new Headers({ a: "1\\r2" })`,
    `new Headers({ a: "1\\0" })`,
    `new Headers({ a: "€" })`,
    `new Headers({ a: "\\u00e4\\u0001" }).get("a")`,
    `new Headers({ a: "\\t\\r\\n x y \\n" }).get("a")`,
    `new Headers({ a: "\\u00a0x\\u00a0" }).get("a")`,
    `new Headers({ a: "" }).get("a")`,
    `new Headers().get("a b")`,
    `new Headers().has("a b")`,
    `new Headers().delete("a b")`,
    `new Headers().append("a")`,
    `new Headers().set("a")`,
    `new Headers().get()`,
    `new Headers({ [Symbol("s")]: "1" })`,
    `new Headers().append({ toString: () => "X" }, { toString: () => "y" })`,
    `const h = new Headers(); h.append("__proto__", "1"); h.append("constructor", "2"); return [[...h], h.get("toString"), h.has("hasOwnProperty")];`,
  ]);

  same("headers are joined, sorted, and cookies kept apart", [
    `const h = new Headers(); h.append("set-cookie", "a=1"); h.append("Set-Cookie", "b=2, c"); h.append("x", "1"); h.append("X", "2"); return [[...h], h.get("set-cookie"), h.getSetCookie(), h.get("x")];`,
    `const h = new Headers(); h.append("cookie", "a"); h.append("cookie", "b"); return h.get("cookie");`,
    `new Headers().getSetCookie()`,
    `const h = new Headers({ c: 1, a: 2, b: 3 }); const seen = []; for (const [name] of h) { seen.push(name); if (name === "a") { h.append("aa", 1); h.delete("b"); } } return seen;`,
    `const h = new Headers({ b: 1, a: 2 }); return [[...h.keys()], [...h.values()], [...h.entries()]];`,
    `const h = new Headers({ a: 1 }); const seen = []; h.forEach(function (value, name, of) { seen.push(value, name, of === h, this.x); }, { x: 5 }); return seen;`,
    `new Headers().forEach()`,
    `const h = new Headers({ a: 1 }); h.set("A", 2); h.delete("none"); return [...h];`,
    `const h = new Headers({ "set-cookie": "a" }); h.set("set-cookie", "b"); h.append("set-cookie", "c"); h.delete("set-cookie"); return [...h];`,
    `JSON.stringify(new Headers({ a: 1 }))`,
    `const h = new Headers({ a: 1 }); return Object.fromEntries(h);`,
  ]);

  same("a response has what it was made with", [
    `const r = new Response(); return [r.status, r.statusText, r.ok, r.type, r.url, r.redirected, r.body, r.bodyUsed, [...r.headers]];`,
    `const r = new Response("text", { status: 404, statusText: "gone", headers: { x: "y" } }); return [r.status, r.statusText, r.ok, [...r.headers], await r.text()];`,
    `[..."x".repeat(1)].map(() => new Response("a", { headers: { "content-type": "b" } }).headers.get("content-type"))`,
    `new Response(null, { status: 199 })`,
    `new Response(null, { status: 600 })`,
    `new Response(null, { status: "201" }).status`,
    `new Response("", { status: 204 })`,
    `new Response(null, { status: 204 }).body`,
    `new Response(null, { statusText: "a\\nb" })`,
    `new Response(null, { statusText: "ä" }).statusText`,
    `new Response(null, null).status`,
    `const r = Response.error(); return [r.status, r.type, r.ok, r.body];`,
    `Response.error().headers.append("a", "1")`,
    `const r = Response.json({ a: [1] }); return [r.status, r.headers.get("content-type"), await r.json()];`,
    `Response.json({}, { headers: { "content-type": "x/y" }, status: 201 }).headers.get("content-type")`,
    `Response.json(undefined)`,
    `Response.json(5n)`,
    `const r = Response.redirect("http://a/b?ä"); return [r.status, r.headers.get("location"), r.type];`,
    `Response.redirect("http://a/", 307).status`,
    `Response.redirect("http://a/", 200)`,
    `Response.redirect("/relative")`,
    `Response.redirect("http://a/").headers.set("location", "x")`,
  ]);

  same("a body of any kind is read in any way, once", [
    `[await new Response("ä").text(), [...await new Response("ä").bytes()], (await new Response("ä").arrayBuffer()).byteLength, await new Response('"ä"').json()]`,
    `await new Response("\\ufeffx").text()`,
    `await new Response("\\ud800").text()`,
    `await new Response(new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff])).text()`,
    `await new Response(new Uint8Array([1, 2, 3, 4]).subarray(1, 3)).bytes()`,
    `await new Response(new DataView(new ArrayBuffer(2))).bytes()`,
    `await new Response(new ArrayBuffer(2)).bytes()`,
    `const r = new Response(new URLSearchParams({ a: "1 2", b: "ä" })); return [r.headers.get("content-type"), await r.text()];`,
    `const r = new Response(new Blob(["x"], { type: "a/b" })); return [r.headers.get("content-type"), await r.text()];`,
    `const r = new Response(new Blob(["x"])); return [r.headers.get("content-type"), await r.text()];`,
    `await new Response({ toString: () => "object" }).text()`,
    `await new Response(5).text()`,
    `await new Response("{").json()`,
    `await new Response().text()`,
    `await new Response().json()`,
    `const r = new Response("x"); await r.text(); return r.bodyUsed;`,
    `const r = new Response("x"); await r.text(); await r.text();`,
    `const r = new Response(); await r.text(); return [r.bodyUsed, await r.text()];`,
    `const r = new Response("x"); r.body.getReader(); await r.text();`,
    `const r = new Response("x"); const reader = r.body.getReader(); const first = await reader.read(); const last = await reader.read(); return [first.value, first.done, last.done, r.bodyUsed];`,
    `const r = new Response("x"); r.body; return [r.bodyUsed, r.body === r.body, r.body.locked, await r.text(), r.bodyUsed];`,
    `const r = new Response("abc"); await r.body.cancel(); return r.bodyUsed;`,
    `const r = new Response("abc"); const reader = r.body.getReader({ mode: "byob" }); const { value } = await reader.read(new Uint8Array(2)); return [...value];`,
    `const b = await new Response("x", { headers: { "content-type": "A/B; c=d" } }).blob(); return [b.type, b.size, await b.text()];`,
    `(await new Response("x").blob()).type`,
    `new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array([97])); c.enqueue(new Uint8Array([98])); c.close(); } })).text()`,
    `const s = new ReadableStream(); return [new Response(s).body === s, new Response(s).headers.get("content-type")];`,
    `await new Response(new ReadableStream({ start(c) { c.enqueue("text"); c.close(); } })).text()`,
    `await new Response(new ReadableStream({ pull(c) { c.error(new RangeError("broken")); } })).text()`,
    `const s = new ReadableStream(); s.getReader(); new Response(s);`,
    `const s = new ReadableStream({ start(c) { c.close(); } }); for await (const _ of s); new Response(s);`,
    `const parts = []; for await (const part of new Response("abc").body) parts.push([...part]); return parts;`,
  ]);

  same("forms are sent and read", [
    `const f = new FormData(); f.append("a", "1"); f.append("ä\\"\\r\\n", "x\\ny"); f.append("f", new File(["file"], 'n"ame', { type: "t/x" })); const r = new Response(f); const type = r.headers.get("content-type"); const boundary = type.split("boundary=")[1]; return [type.split(";")[0], (await r.text()).replaceAll(boundary, "BOUNDARY")];`,
    `const f = new FormData(); f.append("a", "1"); f.append("a", "ä"); f.append("f", new File([new Uint8Array([255, 13, 10])], "name", { type: "t/x" })); const g = await new Response(f).formData(); const file = g.get("f"); return [g.getAll("a"), file.name, file.type, [...new Uint8Array(await file.arrayBuffer())]];`,
    `const f = await new Response("a=1&b=%C3%A4+x", { headers: { "content-type": "application/x-www-form-urlencoded" } }).formData(); return [...f];`,
    `[...await new Response("\ufeffa=1&\ufeffb=\ufeff2", { headers: { "content-type": "application/x-www-form-urlencoded" } }).formData()]`,
    `await new Response("x").formData()`,
    `await new Response("x", { headers: { "content-type": "multipart/form-data" } }).formData()`,
    `await new Response("x", { headers: { "content-type": "multipart/form-data; boundary=b" } }).formData()`,
    `[...await new Response("--b\\r\\nContent-Disposition: form-data; name=\\"a\\"\\r\\n\\r\\n1\\r\\n--b--\\r\\n", { headers: { "content-type": 'multipart/form-data; boundary="b"' } }).formData()]`,
  ]);

  same("a clone is read apart from its original", [
    `const r = new Response("x", { status: 201, headers: { a: "1" } }); const c = r.clone(); c.headers.set("a", "2"); return [r.headers.get("a"), c.status, await c.text(), r.bodyUsed, await r.text()];`,
    `const r = new Response("x"); await r.text(); r.clone();`,
    `const r = new Response("x"); r.body.getReader(); r.clone();`,
    `const r = new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array([97])); c.close(); } })); const c = r.clone(); return [await r.text(), await c.text()];`,
    `const r = new Response(); return r.clone().body;`,
    `const r = new Request("http://a/", { method: "POST", body: "x", headers: { a: "1" } }); const c = r.clone(); return [c.method, c.headers.get("a"), await c.text(), await r.text()];`,
  ]);

  same("a request has what it was made with", [
    `const r = new Request("http://a.example/../b?c#d"); return [r.method, r.url, r.redirect, r.mode, r.credentials, r.cache, r.referrer, r.referrerPolicy, r.integrity, r.keepalive, r.destination, r.duplex, r.body, r.bodyUsed, [...r.headers], r.signal.aborted];`,
    `new Request("/relative")`,
    `new Request("http://u:p@a/")`,
    `new Request()`,
    `new Request(new URL("http://a/b")).url`,
    `["get", "Post", "delete", "PATCH", "x-own"].map((method) => new Request("http://a/", { method }).method)`,
    `new Request("http://a/", { method: "CONNECT" })`,
    `new Request("http://a/", { method: "a b" })`,
    `new Request("http://a/", { method: "" })`,
    `new Request("http://a/", { body: "x" })`,
    `new Request("http://a/", { method: "HEAD", body: "" })`,
    `const r = new Request("http://a/", { method: "POST", body: "x", headers: { b: "1" } }); return [[...r.headers], await r.text()];`,
    `new Request("http://a/", { method: "POST", body: new ReadableStream() })`,
    `new Request("http://a/", { method: "POST", body: new ReadableStream(), duplex: "half" }).body instanceof ReadableStream`,
    `new Request("http://a/", { redirect: "nowhere" })`,
    `new Request("http://a/", { signal: {} })`,
    `new Request("http://a/", { signal: null }).signal.aborted`,
    `const r = new Request("http://a/", { mode: "no-cors", credentials: "include", cache: "no-store", redirect: "manual", keepalive: true, integrity: "x" }); return [r.mode, r.credentials, r.cache, r.redirect, r.keepalive, r.integrity];`,
    `const a = new Request("http://a/", { method: "POST", body: "x", headers: { a: "1" } }); const b = new Request(a, { headers: { b: "2" } }); return [b.method, [...b.headers], await b.text(), a.bodyUsed];`,
    `const a = new Request("http://a/", { method: "POST", body: "x" }); await a.text(); new Request(a);`,
    `const a = new Request("http://a/", { method: "POST", body: "x" }); const b = new Request(a, { body: "y" }); return [await b.text(), a.bodyUsed];`,
    `const c = new AbortController(); const r = new Request("http://a/", { signal: c.signal }); c.abort("why"); return [r.signal === c.signal, r.signal.aborted, r.signal.reason];`,
    `const c = new AbortController(); const r = new Request(new Request("http://a/", { signal: c.signal })); c.abort("why"); return r.signal.reason;`,
    `new Request("http://a/").signal === new Request("http://a/").signal`,
    `const r = new Request("http://a/"); return r.signal === r.signal;`,
  ]);

  same("what cannot be fetched is refused before anything is sent", [
    `await fetch()`,
    `await fetch("http://127.0.0.1:1/", { signal: AbortSignal.abort("why") })`,
    `await fetch(new Request("http://127.0.0.1:1/", { signal: AbortSignal.abort(new RangeError("own")) }))`,
    `await fetch("http://127.0.0.1:1/", { signal: AbortSignal.abort() })`,
    `await fetch("http://127.0.0.1:1/", { signal: 5 })`,
    `await fetch("http://127.0.0.1:1/", { body: "x" })`,
    `await fetch("http://127.0.0.1:1/", { headers: { "a b": "1" } })`,
    `typeof fetch("http://127.0.0.1:1/", { signal: 5 }).catch(() => {}).then`,
  ]);
});
