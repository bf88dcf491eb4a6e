/** Expressions about streams and compression that Node and a cell both evaluate, per module, one per line. */
import { brotliCompressSync, constants } from "node:zlib";
import { script } from "./tables-script.ts";

/** Brotli of these texts and bytes, made by Node, since a cell only decompresses it. */
const BROTLI_TEXT = "the quick brown fox of the information society ".repeat(40) + "ü€😀";
const BROTLI = [
  brotliCompressSync(""),
  brotliCompressSync("a"),
  brotliCompressSync(BROTLI_TEXT),
  brotliCompressSync(BROTLI_TEXT, { params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 10 } }),
  brotliCompressSync(BROTLI_TEXT, { params: { [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT } }),
  // Does not get smaller: stored as it is.
  brotliCompressSync(Buffer.from(Array.from({ length: 9_000 }, (_, at) => (at * at * 7 + (at >> 3) * 31) & 255))),
  brotliCompressSync(Buffer.alloc(1_000_000)),
].map((bytes) => bytes.toString("base64"));

/** Records the order of what happens to a stream. */
const WATCH = `
const watch = (stream, names) => { const said = []; for (const name of names) stream.on(name, (value) => said.push(value === undefined ? name : [name, String(value)])); return said; };
const ended = (stream) => new Promise((resolve) => stream.once("close", () => setTimeout(resolve, 1)));
const slow = (ms) => new Promise((resolve) => setTimeout(resolve, ms));`;

export const STREAM_TABLES = {
  stream: script(
    `const stream = require("node:stream"); const { Readable, Writable, Duplex, Transform, PassThrough, pipeline, finished } = stream; const { promisify } = require("util"); const { once } = require("events");${WATCH}`,
    String.raw`
    [typeof stream, stream === stream.Stream, new Readable() instanceof stream, new Duplex() instanceof Writable, new PassThrough() instanceof Transform, stream.promises === require("stream/promises"), stream.getDefaultHighWaterMark(false), stream.getDefaultHighWaterMark(true)]
    [new Readable() instanceof require("events"), Readable() instanceof Readable, Object.getPrototypeOf(Duplex) === Readable]
    Readable.from(["a", "b", Buffer.from("c")]).toArray()
    Readable.from("text").toArray()
    (async () => { const got = []; for await (const chunk of Readable.from([1, 2, 3]).map((n) => n * 2).filter((n) => n > 2)) got.push(chunk); return got; })()
    Readable.from([1, 2, 3, 4]).reduce((sum, n) => sum + n, 10)
    [await Readable.from([1, 2, 3, 4]).take(2).toArray(), await Readable.from([1, 2, 3, 4]).drop(3).toArray(), await Readable.from([1, 2]).flatMap((n) => [n, n]).toArray(), await Readable.from([1, 2]).some((n) => n > 1), await Readable.from([1, 2]).every((n) => n > 1), await Readable.from([1, 2]).find((n) => n > 1)]
    (async () => { const r = new Readable({ read() {} }); const said = watch(r, ["data", "end", "close", "pause", "resume"]); r.push("a"); r.push("b"); r.push(null); await ended(r); return said; })()
    (async () => { const r = new Readable({ read() {} }); const said = watch(r, ["readable", "end", "close"]); r.on("readable", () => { let c; while ((c = r.read()) !== null) said.push(String(c)); }); r.push("abc"); r.push("def"); r.push(null); await ended(r); return said; })()
    (async () => { const r = new Readable({ read() {} }); r.setEncoding("utf8"); r.push(Buffer.from([0xe2, 0x82])); r.push(Buffer.from([0xac, 0x41])); r.push(null); return r.toArray(); })()
    (async () => { const r = new Readable({ read() {} }); r.push("abcdef"); r.push(null); const said = [String(r.read(2)), String(r.read(1)), r.readableLength, String(r.read()), r.read()]; r.unshift("never"); return said; })()
    (async () => { const got = []; const w = new Writable({ highWaterMark: 3, write(chunk, encoding, done) { got.push([String(chunk), encoding]); setTimeout(done, 1); } }); const said = watch(w, ["drain", "finish", "close"]); const full = [w.write("ab"), w.write("cd"), w.writableNeedDrain, w.writableLength]; await once(w, "drain"); w.end("é", "latin1"); await ended(w); return [got, said, full, w.writableFinished]; })()
    (async () => { const got = []; const w = new Writable({ writev(chunks, done) { got.push(chunks.map(({ chunk }) => String(chunk))); done(); } }); w.cork(); w.write("a"); w.write("b"); w.uncork(); w.end("c"); await ended(w); return got; })()
    (async () => { const got = []; const w = new Writable({ decodeStrings: false, write(chunk, encoding, done) { got.push([chunk, encoding]); done(); }, final(done) { got.push("final"); done(); } }); w.setDefaultEncoding("hex"); w.end("ff"); await ended(w); return got; })()
    (async () => { const w = new Writable({ write(c, e, done) { done(new Error("no")); } }); const said = watch(w, ["error", "finish", "close"]); w.write("a", (error) => said.push("callback " + error.message)); w.write("b", (error) => said.push("second " + error.message)); await ended(w); return [said, w.errored.message, w.destroyed]; })()
    (async () => { const w = new Writable({ write(c, e, done) { done(); } }); const said = watch(w, ["error"]); w.end(); w.write("late", (error) => said.push(error.code)); await slow(5); return said; })()
    new Writable({ write() {} }).write(null)
    new Writable({ write() {} }).write({})
    new Writable({ write() {} }).write("a", "nope")
    (async () => { const r = new Readable(); const said = watch(r, ["error", "close"]); r.read(); await ended(r); return said; })()
    (async () => { const r = new Readable({ read() {} }); const said = watch(r, ["error", "close", "end"]); r.destroy(new Error("gone")); await ended(r); return [said, r.destroyed, r.readableAborted, r.closed]; })()
    (async () => { const order = []; const r = new Readable({ construct(done) { order.push("construct"); setTimeout(done, 1); }, read() { order.push("read"); this.push(null); }, destroy(error, done) { order.push("destroy"); done(error); } }); r.resume(); await ended(r); return order; })()
    (async () => { const t = new Transform({ transform(chunk, e, done) { done(null, String(chunk).toUpperCase()); }, flush(done) { this.push("!"); done(); } }); t.end("abc"); return String(Buffer.concat(await t.toArray())); })()
    (async () => { const t = new Transform({ objectMode: true, transform(n, e, done) { if (n > 2) done(new Error("too many")); else done(null, n * 10); } }); const got = []; const error = await promisify(pipeline)(Readable.from([1, 2, 3, 4]), t, new Writable({ objectMode: true, write(c, e, d) { got.push(c); d(); } })).catch((e) => e); return [got, error]; })()
    stream.promises.pipeline(Readable.from(["a", "b"]), async function* (source) { for await (const c of source) yield String(c) + c; }, async (source) => { let all = ""; for await (const c of source) all += c; return all; })
    (async () => { const ac = new AbortController(); const error = stream.promises.pipeline(Readable.from((async function* () { await slow(50); yield 1; })()), new PassThrough({ objectMode: true }), { signal: ac.signal }).catch((e) => [e.name, e.code]); ac.abort(); return error; })()
    (async () => { const p = new PassThrough(); const done = promisify(finished)(p); p.destroy(); return done.catch((e) => e); })()
    (async () => { const a = new PassThrough(); const b = new PassThrough(); const said = watch(b, ["pipe", "unpipe"]).length; a.pipe(b); a.write("1"); a.unpipe(b); a.write("2"); b.end(); return [said, String(Buffer.concat(await b.toArray())), a.readableFlowing]; })()
    (async () => { const d = Duplex.from(async function* (source) { for await (const c of source) yield String(c).repeat(2); }); d.end("xy"); return (await d.toArray()).map(String); })()
    (async () => { const [a, b] = stream.duplexPair(); a.end("ping"); b.end("pong"); return [String(Buffer.concat(await b.toArray())), String(Buffer.concat(await a.toArray()))]; })()
    (async () => { const s = stream.compose(async function* (source) { for await (const c of source) yield String(c) + "1"; }, async function* (source) { for await (const c of source) yield String(c) + "2"; }); s.end("x"); return (await s.toArray()).map(String); })()
    [stream.isReadable(new PassThrough()), stream.isErrored(new PassThrough()), stream.isDisturbed(new PassThrough()), stream.isReadable({})]
    (async () => { const web = Readable.toWeb(Readable.from([Buffer.from("ab"), Buffer.from("c")], { objectMode: false })); const got = []; for await (const c of web) got.push([c.constructor.name, ...c]); return got; })()
    (async () => { const r = Readable.fromWeb(new ReadableStream({ start(c) { c.enqueue("a"); c.enqueue("b"); c.close(); } }), { encoding: "utf8" }); return (await r.toArray()).join(""); })()
    (async () => { const got = []; const w = Writable.fromWeb(new WritableStream({ write(c) { got.push(c.constructor.name, ...c); }, close() { got.push("close"); } })); w.end("hi"); await once(w, "finish"); return got; })()
    (async () => { const got = []; const w = Writable.toWeb(new Writable({ write(c, e, d) { got.push(String(c)); d(); }, final(d) { got.push("final"); d(); } })).getWriter(); await w.write("x"); await w.close(); return got; })()
    (async () => { const { readable, writable } = Duplex.toWeb(new PassThrough()); const w = writable.getWriter(); w.write("ab"); w.close(); const got = []; for await (const c of readable) got.push(...c); return got; })()
    (async () => { const r = new Readable({ read() {} }); const ac = new AbortController(); stream.addAbortSignal(ac.signal, r); const error = once(r, "error"); ac.abort(); const [e] = await error; return [e.name, e.code]; })()
    (async () => { const order = []; process.nextTick(() => order.push("tick")); const p = new PassThrough(); p.on("data", () => order.push("data")); p.write("x"); order.push("sync"); await slow(2); return order; })()
    Object.keys(stream).filter((name) => !name.startsWith("_")).sort()
  `,
  ),
  consumers: script(
    `const consumers = require("stream/consumers"); const { Readable } = require("stream"); const web = require("node:stream/web"); const from = () => Readable.from([Buffer.from([0xe2, 0x82]), Buffer.from([0xac]), "x"]);`,
    String.raw`
    [await consumers.text(from()), await consumers.buffer(from()), await consumers.arrayBuffer(from())]
    consumers.json(Readable.from(['{"a":', "1}"]))
    consumers.json(Readable.from(["{"])).catch((e) => e.name)
    (async () => { const blob = await consumers.blob(from()); return [blob.size, await blob.text()]; })()
    consumers.text(new ReadableStream({ start(c) { c.enqueue(new Uint8Array([65])); c.close(); } }))
    [web.ReadableStream === ReadableStream, web.TextDecoderStream === TextDecoderStream, web.CompressionStream === CompressionStream]
    require("stream/promises").finished(Readable.from([]).resume()).then(() => "finished")
  `,
  ),
  zlib: script(
    `const zlib = require("node:zlib"); const { promisify } = require("util"); const { Readable } = require("stream"); const { pipeline } = require("stream/promises"); const { once } = require("events");
const text = "the quick brown fox ".repeat(200) + "ü€😀"; const bytes = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * i * 7 + (i >> 3)) & 255));
const DATA = [Buffer.alloc(0), Buffer.from("a"), Buffer.from(text), bytes, Buffer.alloc(100000)];
const all = async (stream) => Buffer.concat(await stream.toArray()); const hash = (b) => require("crypto").createHash("sha256").update(b).digest("hex") + " " + b.length;
const gz = (data) => zlib.gzipSync(data);
const br = ${JSON.stringify(BROTLI)}.map((one) => Buffer.from(one, "base64")); const words = br[2];`,
    String.raw`
    DATA.map((d) => ["deflate", "gzip", "deflateRaw"].map((name) => zlib[name.replace("deflate", "inflate").replace("gzip", "gunzip") + "Sync"](zlib[name + "Sync"](d)).equals(d)))
    [zlib.inflateSync(Buffer.from("eJxLTEpOSU1LzwAACgoCnQ==", "base64")).toString(), zlib.gunzipSync(Buffer.from("H4sIAAAAAAAAA8tIzcnJVyjPL8pJAQCFEUoNCwAAAA==", "base64")).toString()]
    [zlib.unzipSync(gz(text)).toString() === text, zlib.unzipSync(zlib.deflateSync(text)).toString() === text]
    zlib.gunzipSync(Buffer.concat([gz("one"), gz("two")])).toString()
    zlib.gunzipSync(Buffer.concat([gz("one"), Buffer.alloc(10)])).toString()
    zlib.gunzipSync(Buffer.concat([gz("one"), Buffer.from("junk")]))
    zlib.inflateSync(Buffer.concat([zlib.deflateSync("one"), Buffer.from("junk")])).toString()
    zlib.inflateSync(Buffer.from("not compressed"))
    zlib.gunzipSync(Buffer.from("not compressed"))
    zlib.inflateRawSync(Buffer.from([255, 255, 255]))
    zlib.gunzipSync(gz(text).subarray(0, 30))
    zlib.inflateSync(zlib.deflateSync(text).subarray(0, 30), { finishFlush: zlib.constants.Z_SYNC_FLUSH }).length
    (() => { const b = gz(text); b[b.length - 6] ^= 1; return zlib.gunzipSync(b); })()
    zlib.inflateSync(zlib.deflateSync(text), { maxOutputLength: 10 })
    zlib.inflateSync(zlib.deflateSync("abc"), { maxOutputLength: 3 }).toString()
    zlib.inflateSync(zlib.deflateSync("some words", { dictionary: Buffer.from("words some") }), { dictionary: Buffer.from("words some") }).toString()
    zlib.inflateSync(zlib.deflateSync("some words", { dictionary: Buffer.from("words some") }))
    zlib.inflateSync(zlib.deflateSync("some words", { dictionary: Buffer.from("words some") }), { dictionary: Buffer.from("other") })
    [0, 1, 6, 9].map((level) => zlib.inflateSync(zlib.deflateSync(text, { level })).toString() === text)
    [9, 12, 15].map((windowBits) => [1, 9].map((memLevel) => zlib.inflateRawSync(zlib.deflateRawSync(bytes, { windowBits, memLevel, strategy: 2 })).equals(bytes)))
    zlib.deflateSync("a", { level: 10 })
    zlib.deflateSync("a", { windowBits: 16 })
    zlib.deflateSync("a", { chunkSize: 1 })
    zlib.deflateSync(5)
    zlib.createGzip({ level: "x" })
    [zlib.crc32("hello"), zlib.crc32(Buffer.from("lo"), zlib.crc32("hel")), zlib.crc32("")]
    [promisify(zlib.gzip)(text).then((b) => zlib.gunzipSync(b).toString() === text), promisify(zlib.inflate)(Buffer.from("bad")).catch((e) => [e.code, e.errno, e.message])].reduce(async (a, p) => [...(await a), await p], [])
    zlib.gzip("a")
    (async () => { const order = []; const done = new Promise((r) => zlib.deflate("a", () => { order.push("done"); r(); })); order.push("sync"); await done; return order; })()
    hash(await all(Readable.from(DATA).pipe(zlib.createGzip()).pipe(zlib.createGunzip())))
    hash(await all(Readable.from([zlib.deflateRawSync(text)]).pipe(zlib.createInflateRaw({ chunkSize: 64 }))))
    (async () => { const z = zlib.createUnzip(); const got = all(z); for (const byte of gz(text)) z.write(Buffer.from([byte])); z.end(); return String(await got) === text; })()
    (async () => { const z = zlib.createGunzip(); const said = []; z.on("error", (e) => said.push(e.code, e.errno)); z.on("close", () => said.push("close")); z.end("nonsense"); await once(z, "close").catch(() => {}); return said; })()
    (async () => { const z = zlib.createGunzip(); const error = once(z, "close").then(() => "closed", (e) => e); z.resume(); z.end(gz(text).subarray(0, 20)); return error; })()
    (async () => { const z = zlib.createDeflate(); const first = once(z, "data"); z.write("abc"); z.flush(); const [piece] = await first; const back = zlib.inflateSync(piece, { finishFlush: zlib.constants.Z_SYNC_FLUSH }); z.end(); z.resume(); return [String(back), z.bytesWritten]; })()
    pipeline(Readable.from([text]), zlib.createGzip(), zlib.createGunzip(), async (s) => { let n = 0; for await (const c of s) n += c.length; return n; })
    [zlib.createGzip() instanceof zlib.Gzip, new zlib.Inflate() instanceof require("stream").Transform, zlib.Gunzip.name, typeof zlib.createBrotliDecompress]
    [Object.entries(zlib.constants).filter(([name]) => /^(?:Z_|DEFLATE|INFLATE|G|UN|BROTLI_(?:OP|PARAM_[MQ]))/.test(name)), zlib.codes]
    (async () => { const got = []; for await (const c of new Blob([text]).stream().pipeThrough(new CompressionStream("gzip")).pipeThrough(new DecompressionStream("gzip"))) got.push(c); return hash(Buffer.concat(got)); })()
    (async () => { try { for await (const c of new Blob(["junk"]).stream().pipeThrough(new DecompressionStream("deflate"))) String(c); } catch (e) { return e.name; } })()
    new CompressionStream("lzma").readable
    zlib.deflateSync("a".repeat(50)).toString("hex")
    br.map((b) => hash(zlib.brotliDecompressSync(b)))
    await Promise.all(br.map((b) => promisify(zlib.brotliDecompress)(b).then(hash)))
    (async () => { const said = []; for (const b of br) { const z = zlib.createBrotliDecompress({ chunkSize: 64 }); for (const byte of b.subarray(0, 50)) z.write(Buffer.from([byte])); z.end(b.subarray(50)); said.push(hash(await all(z)), z.bytesWritten === b.length); } return said; })()
    pipeline(Readable.from([words]), new zlib.BrotliDecompress(), async (s) => { let n = 0; for await (const c of s) n += c.length; return n; })
    [1, 5, 20, words.length - 2, words.length - 1].map((n) => { try { return zlib.brotliDecompressSync(words.subarray(0, n)).length; } catch (e) { return [e.code, e.errno, e.message]; } })
    [Buffer.alloc(0), Buffer.from("not compressed"), Buffer.from([255, 255, 255, 255])].map((b) => { try { return zlib.brotliDecompressSync(b).length; } catch (e) { return e.message; } })
    zlib.brotliDecompressSync(Buffer.concat([words, Buffer.from("junk")])).length
    zlib.brotliDecompressSync(words, { maxOutputLength: 10 })
    zlib.brotliDecompressSync(words, { maxOutputLength: 1e6 }).length
    zlib.brotliDecompressSync(words, { finishFlush: 9 })
    zlib.brotliDecompressSync(5)
    zlib.brotliDecompress(words)
    (async () => { const z = zlib.createBrotliDecompress(); const got = once(z, "close").then(() => "closed", (e) => e.message); z.resume(); z.end(words.subarray(0, 20)); return got; })()
    (async () => { const z = zlib.createBrotliDecompress(); const got = all(z); z.end(); return (await got).length; })()
    [zlib.createBrotliDecompress() instanceof zlib.BrotliDecompress, zlib.BrotliDecompress.name, new zlib.BrotliDecompress() instanceof require("stream").Transform]
    [zlib.deflateRawSync("hello hello hello").toString("hex"), zlib.gzipSync("").toString("hex")]
  `,
  ),
};
