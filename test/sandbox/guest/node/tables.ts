/** Expressions that Node and a cell both evaluate, per module, one per line. */
import type { Script } from "./oracle.ts";
import { ASYNC_TABLES } from "./async-tables.ts";
import { STREAM_TABLES } from "./stream-tables.ts";
import { script } from "./tables-script.ts";

export const TABLES = {
  ...STREAM_TABLES,
  ...ASYNC_TABLES,
  path: script(
    `const path = require("node:path");`,
    String.raw`
    path.join("a", "..", "b"), path.join("/a", "../..", "b")
    [path.join(), path.join(""), path.join(".", ""), path.join("a/", "/b/")]
    path.join("a", 5)
    ["", ".", "/", "//", "a", "a/", "/a/b/../c/./d", "../a", "./a/..", "a//b", "/..", "../../a/..", "a/b/c/../../.."].map(path.normalize)
    [path.resolve("/a", "b", "../c"), path.resolve("/a", "/b"), path.resolve("/", ".."), path.resolve("/a/b/", "")]
    path.resolve("/a", null)
    [["/a/b", "/a/c"], ["/a/b", "/a/b"], ["/a", "/a/b/c"], ["/a/b/c", "/a"], ["/", "/a"], ["/ab", "/a"]].map(([a, b]) => path.relative(a, b))
    ["", "/", "a", "/a", "a/b", "/a/b/", "//a", "//a/b", "///", "a//b", "a///"].map(path.dirname)
    ["", "/", "a", "/a", "a/b.c", "/a/b/", "//a", "a//", "."].map((p) => path.basename(p))
    [path.basename("a.html", ".html"), path.basename("aaa", "a"), path.basename("aaa", "aaa"), path.basename("/a/aaa", "aaa"), path.basename("a.b", ""), path.basename("a/b.c/", ".c")]
    path.basename("a", 5)
    ["", "a", ".a", "a.b", "a.b.c", "a.", "..", "...", "a/.b", "a.b/c", "a.b/", "..a", "a..", ".", "/.x/y.z//"].map(path.extname)
    ["", "/", "/a", "a", "/a/b.c", "./a/b", "//a", "a//b", "/a/", "..", "/.b", "a/b/"].map(path.parse)
    [path.format({ dir: "/a", base: "b" }), path.format({ root: "/", name: "a", ext: "b" }), path.format({ root: "/", dir: "/", base: "x" }), path.format({}), path.format({ name: "n" })]
    path.format("a")
    [path.isAbsolute("/a"), path.isAbsolute("a"), path.isAbsolute("")]
    path.isAbsolute(5)
    [path.sep, path.delimiter, path.posix === path, path.toNamespacedPath("x"), require("path/posix") === path]
  `,
  ),
  "path-win32": script(
    `const { win32 } = require("node:path"); const texts = ["", ".", "a", "a/b", "C:", "C:\\\\", "c:/a/b.c", "C:a\\\\b", "\\\\a", "/a/b/", "\\\\\\\\srv\\\\share\\\\x", "//srv/share", "a\\\\..\\\\b\\\\", "..\\\\..\\\\x", "C:\\\\a\\\\.\\\\..\\\\..", "a//b\\\\\\\\c", ".b", "x.y.z\\\\"];`,
    String.raw`
    [win32 === require("path/win32"), win32.win32 === win32, win32.posix === require("path").posix, win32.sep, win32.delimiter]
    texts.map((text) => win32.normalize(text))
    texts.map((text) => win32.isAbsolute(text))
    texts.map((text) => win32.parse(text))
    texts.map((text) => [win32.dirname(text), win32.basename(text), win32.extname(text)])
    ["a/b.c", "C:b.c", "b.c", ".c"].map((text) => win32.basename(text, ".c"))
    texts.map((text) => win32.join(text, "..", "n"))
    texts.filter((text) => !/^C:(?:a|$)/.test(text)).map((text) => win32.resolve("D:\\base", text))
    [win32.join(), win32.join("/", "/srv", "x"), win32.join("//srv", "share", "x"), win32.join("a", "/b"), win32.join("C:", "a")]
    [["C:\\a\\b", "C:\\a\\c"], ["C:\\A", "c:\\a\\x"], ["C:\\a", "D:\\b"], ["C:\\a\\b\\c", "C:\\a"]].map(([a, b]) => win32.relative(a, b))
    [win32.format({ dir: "C:\\a", base: "b" }), win32.format({ root: "C:\\", base: "x" }), win32.format({ name: "n", ext: "e" })]
    [win32.toNamespacedPath("C:\\a"), win32.toNamespacedPath("\\\\srv\\share\\x"), win32.toNamespacedPath(5)]
    win32.join(5)
  `,
  ),
  net: script(
    `const { BlockList, SocketAddress, ...net } = require("node:net"); const list = () => { const one = new BlockList(); one.addAddress("1.2.3.4"); one.addRange("10.0.0.1", "10.0.0.9"); one.addSubnet("fe80::1", 10, "ipv6"); one.addSubnet("10.1.2.3", 8); return one; };`,
    String.raw`
    [list().rules, list().size, BlockList.isBlockList(list()), BlockList.isBlockList({}), JSON.stringify(list()), BlockList.PRIVATE_RANGES]
    ["1.2.3.4", "1.2.3.5", "10.0.0.5", "11.0.0.1", "x", "::1"].map((address) => list().check(address))
    ["fe80::5", "fec0::1", "::ffff:1.2.3.4", "::ffff:11.2.3.4", "1::1"].map((address) => list().check(address, "ipv6"))
    (() => { const one = new BlockList(); BlockList.PRIVATE_RANGES.forEach((cidr) => one.addCIDR(cidr)); return [one.size, one.check("172.31.0.1"), one.check("172.32.0.1"), one.check("::1", "ipv6"), one.check("fdff::1", "ipv6")]; })()
    (() => { const one = list(); one.removeCIDR("10.1.2.3/8"); one.removeAddress("1.2.3.4"); one.removeRange("10.0.0.1", "10.0.0.9"); const { rules } = one; one.clear(); return [rules, one.size]; })()
    (() => { const one = new BlockList(); one.fromJSON(["Address: IPv4 1.2.3.4", "Subnet: IPv6 fe80::/10", "Range: IPv4 1.1.1.1-1.1.1.3"]); return one.rules; })()
    list().addSubnet("10.0.0.0", 33)
    list().addAddress(5)
    list().addAddress("::1")
    list().fromJSON(5)
    [new SocketAddress().toJSON(), new SocketAddress({ address: "1:0:0:0:0:0:0:1", family: "IPv6", port: 5, flowlabel: 3 }).toJSON(), new SocketAddress({ address: "::ffff:1.2.3.4", family: "ipv6" }).address]
    ["1:0:0:2:0:0:0:3", "::", "A::B", "0:1:2:3:4:5:6:7"].map((address) => new SocketAddress({ address, family: "ipv6" }).address)
    ["1.2.3.4:81", "[::1]:81", "1.2.3.4", "x", "1.2.3.4:99999"].map((text) => SocketAddress.parse(text)?.toJSON())
    new SocketAddress({ address: "x" })
    new SocketAddress({ family: "x" })
    new SocketAddress({ port: 70000 })
    new SocketAddress(5)
  `,
  ),
  querystring: script(
    `const qs = require("querystring");`,
    String.raw`
    ["a=1&b=2", "a=1&a=2&a=3", "a", "a=", "=a", "&&a=1&", "a=b=c", "a+b=c+d", "%41=%42", "%zz=%", "a%00b=%E2%82%AC", "%e4=1", "__proto__=1", "a=%F0%9F%98%80+x"].map((t) => qs.parse(t))
    [qs.parse("a:1;b:2", ";", ":"), qs.parse("a=1&b=2&c=3", null, null, { maxKeys: 2 }), qs.parse("a=1&b=2", "", "", { maxKeys: 0 }), qs.parse(5), qs.parse("")]
    qs.parse("a=%20b&c=d", null, null, { decodeURIComponent: (t) => "<" + t + ">" })
    qs.parse("a=%20b&c=d", null, null, { decodeURIComponent: () => { throw new Error("x"); } })
    [qs.stringify({ a: 1, b: [1, 2, ""], c: "x y", d: true, e: null, f: undefined, g: {}, h: NaN, i: 5n, j: [] }), qs.stringify({}), qs.stringify("a"), qs.stringify(null)]
    [qs.stringify({ a: "b c", "ü": "&=" }, ";", ":"), qs.stringify({ a: "b c" }, null, null, { encodeURIComponent: (t) => "<" + t + ">" })]
    qs.stringify({ a: "\ud800" })
    ["a b", "ä€😀", "!'()*-._~", "\0"].map(qs.escape)
    [qs.escape({ toString: () => "x y" }), qs.escape(5), qs.escape({}), qs.escape("a\ud801test"), qs.escape("\ud83d\ude00&")]
    qs.escape("\ud801")
    qs.escape(Symbol("s"))
    ["%41%zz", "a%20b", "%e4", "%"].map((t) => qs.unescape(t))
    qs.unescapeBuffer("a%20b%4%zz")
    [qs.encode === qs.stringify, qs.decode === qs.parse]
  `,
  ),
  buffer: script(
    `const { Buffer: B, ...buffer } = require("buffer"); const bytes = [0, 1, 127, 128, 200, 255, 65, 66];`,
    String.raw`
    [Buffer === B, Buffer.name, Buffer.from("a") instanceof Uint8Array, Buffer.isBuffer(Buffer.from("a")), Buffer.isBuffer(new Uint8Array(1)), Object.getPrototypeOf(Buffer) === Uint8Array]
    ["utf8", "hex", "base64", "base64url", "latin1", "binary", "ascii", "ucs2", "utf16le", "UTF-8", "Hex"].map((e) => [Buffer.from(bytes).toString(e), Buffer.from("héllo€😀", e)])
    Buffer.from("a", "nope")
    [Buffer.from("YQ==YWI=", "base64"), Buffer.from("YQ", "base64"), Buffer.from(" Y\nQ=", "base64"), Buffer.from("-_-_", "base64"), Buffer.from("0g12", "hex"), Buffer.from("abc", "hex"), Buffer.from("ABCD", "hex"), Buffer.from("", "base64")]
    [Buffer.from([1, 256, -1, "5", 3.7, null]), Buffer.from(new Uint16Array([1, 300])), Buffer.from(Buffer.from("x")), Buffer.from({ type: "Buffer", data: [1, 2] }), Buffer.from(new String("abc")), Buffer.from({ length: 2, 0: 7, 1: 8 }), Buffer.from({ length: -1 })]
    [Buffer.from(new ArrayBuffer(4)), Buffer.from(new ArrayBuffer(4), 1, 2), Buffer.from(new ArrayBuffer(4), 2)]
    Buffer.from(new ArrayBuffer(4), 5)
    Buffer.from(new ArrayBuffer(4), 1, 5)
    Buffer.from(5)
    Buffer.from(null)
    Buffer.from({})
    Buffer.from()
    Buffer.from(Symbol("a"))
    [Buffer.from({ [Symbol.toPrimitive]: () => "prim" })]
    [Buffer.alloc(3), Buffer.alloc(3, 1), Buffer.alloc(5, "ab"), Buffer.alloc(4, "YQ", "base64"), Buffer.alloc(2, "é"), Buffer.alloc(0), Buffer.allocUnsafe(2).length, Buffer.allocUnsafeSlow(2).length, new Buffer.allocUnsafeSlow(3).length, Buffer.of(1, 2, 300)]
    Buffer.alloc(-1)
    Buffer.alloc("5")
    Buffer.alloc(NaN)
    new Buffer.alloc(1)
    [Buffer.concat([Buffer.from("a"), new Uint8Array([98])]), Buffer.concat([Buffer.from("abc"), Buffer.from("d")], 2), Buffer.concat([], 5), Buffer.concat([Buffer.from("a")], 3)]
    Buffer.concat("a")
    Buffer.concat([5])
    [Buffer.compare(Buffer.from("a"), Buffer.from("b")), Buffer.compare(Buffer.from("ab"), Buffer.from("a")), Buffer.compare(Buffer.from("a"), Buffer.from("a"))]
    Buffer.compare("a", Buffer.from("a"))
    ["utf8", "hex", "base64", "base64url", "latin1", "ucs2", "nope", undefined].map((e) => Buffer.byteLength("héllo€😀==", e))
    [Buffer.byteLength(new ArrayBuffer(5)), Buffer.byteLength(new Uint16Array(2)), Buffer.byteLength("\ud800x")]
    Buffer.byteLength(5)
    ["utf8", "HEX", "", "nope", "ucs-2", "utf-16le", "binary", 5, undefined, null].map((e) => Buffer.isEncoding(e))
    [Buffer.from("abc").equals(Buffer.from("abc")), Buffer.from("abc").equals(new Uint8Array([97])), Buffer.from("abcd").compare(Buffer.from("xbc"), 1, 3, 1, 3), Buffer.from("a").compare(Buffer.from("b"))]
    Buffer.from("a").equals("a")
    Buffer.from("a").compare(Buffer.from("b"), 0, 5)
    [Buffer.from("abcdef").slice(1, 3), Buffer.from("abcdef").subarray(-2), Buffer.from("abc").subarray(2, 1), Buffer.from("abc").slice("1"), Buffer.from("abc").subarray(NaN, 1.9)]
    ((a) => { const b = a.slice(1); b[0] = 122; return a.toString(); })(Buffer.from("abc"))
    ((a) => [a.map((x) => x + 1), a.filter((x) => x > 97), a.map((x) => x).constructor.name])(Buffer.from("abc"))
    [Buffer.from("abc").toString("utf8", 1), Buffer.from("abc").toString("utf8", 1, 2), Buffer.from("abc").toString("utf8", -1, 10), Buffer.from("abc").toString("utf8", 2, 1), Buffer.from("abc").toString(undefined, 1), Buffer.from("abc").toString("hex", "1"), Buffer.from("abc").toString("utf8", NaN)]
    Buffer.from("abc").toString("nope")
    Buffer.from("abc").toString(5)
    [Buffer.from([0xe2, 0x82]).toString(), Buffer.from([0xe2, 0x82, 0x41]).toString(), Buffer.from([0xf0, 0x9f, 0x98]).toString(), Buffer.from([0xc0, 0x80, 0xff]).toString(), Buffer.from([0xed, 0xa0, 0x80]).toString(), Buffer.from([0xf4, 0x90, 0x80, 0x80]).toString(), Buffer.from([0xef, 0xbb, 0xbf, 0x41]).toString()]
    [Buffer.from("\ud800a\udc00"), Buffer.from("\ud83d\ude00")]
    JSON.stringify(Buffer.from("ab"))
    ["abc", "b", "", "bc", "x", 98, Buffer.from("c"), new Uint8Array([97]), 354].map((v) => [Buffer.from("abcabc").indexOf(v), Buffer.from("abcabc").lastIndexOf(v), Buffer.from("abcabc").includes(v)])
    [[1], [-2], [10], [-10], ["x"], [undefined], [null], [{}], [1.7]].map(([o]) => [Buffer.from("abcabc").indexOf("b", o), Buffer.from("abcabc").lastIndexOf("b", o)])
    [Buffer.from("abcabc").indexOf("YmM", 0, "base64"), Buffer.from("abc", "ucs2").indexOf("b", 0, "ucs2"), Buffer.from("abc").indexOf("", 5), Buffer.from("abc").lastIndexOf("", 5), Buffer.from("abc").indexOf("bc", "latin1")]
    Buffer.from("a").indexOf({})
    Buffer.from("a").indexOf("a", 0, "nope")
    [Buffer.alloc(4).fill("ab"), Buffer.alloc(4).fill(257), Buffer.alloc(4).fill("a", 1, 3), Buffer.alloc(4).fill("6162", "hex"), Buffer.alloc(4).fill(Buffer.from("xy")), Buffer.alloc(3).fill(""), Buffer.alloc(2).fill(true), Buffer.alloc(4).fill("é", 1)]
    Buffer.alloc(4).fill("zz", "hex")
    Buffer.alloc(4).fill("a", 5)
    Buffer.alloc(4).fill("a", 0, 5)
    Buffer.alloc(4).fill("a", "nope")
    ((b) => [b.write("ab"), b.write("cd", 1), b.write("efgh", 2, 1), b.write("ff00", 4, "hex"), b.write("€€", 5), b.write("zz", 6, 2, "latin1"), b])(Buffer.alloc(8))
    Buffer.alloc(2).write("a", 3)
    Buffer.alloc(2).write("a", 0, 5)
    Buffer.alloc(2).write(5)
    Buffer.alloc(2).write("a", "nope")
    ((t) => [Buffer.from("abcd").copy(t, 1), t.toString("latin1"), Buffer.from("xyz").copy(t, 3, 1), t.toString("latin1"), Buffer.from("a").copy(t, 9), Buffer.from("abc").copy(t, 0, 1, 2)])(Buffer.alloc(4, "-"))
    Buffer.from("a").copy(Buffer.alloc(1), -1)
    Buffer.from("a").copy(Buffer.alloc(1), 0, 5)
    Buffer.from("a").copy("x")
    [Buffer.from([1, 2, 3, 4]).swap16(), Buffer.from([1, 2, 3, 4]).swap32(), Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]).swap64()]
    Buffer.from([1, 2, 3]).swap16()
    Object.getOwnPropertyNames(Buffer.prototype).filter((n) => /^read/.test(n)).toSorted().map((n) => [n, Buffer.from([0x81, 2, 3, 4, 0x85, 6, 7, 0x88])[n](0, 3)])
    Object.getOwnPropertyNames(Buffer.prototype).filter((n) => /^write[A-Z]/.test(n)).toSorted().map((n) => { const b = Buffer.alloc(8); try { return [n, b[n](/Big/.test(n) ? 5n : 77.5, 0, 3), b]; } catch (e) { return [n, e.message]; } })
    Buffer.alloc(4).readUInt8(4)
    Buffer.alloc(4).readUInt16LE(3)
    Buffer.alloc(1).readUInt32LE(0)
    Buffer.alloc(4).readInt8(1.5)
    Buffer.alloc(4).readInt8("1")
    Buffer.alloc(4).readInt8(-1)
    Buffer.alloc(4).readUIntLE(0, 7)
    Buffer.alloc(4).readUIntBE(0)
    Buffer.alloc(8).readIntBE(undefined, 2)
    Buffer.alloc(8).readIntLE(3, 6)
    Buffer.alloc(4).writeUInt8(256)
    Buffer.alloc(4).writeInt8(-129)
    Buffer.alloc(4).writeUInt16BE(65536)
    Buffer.alloc(4).writeUInt32BE(2 ** 32)
    Buffer.alloc(4).writeInt32BE(2 ** 31)
    Buffer.alloc(8).writeUIntBE(2 ** 48, 0, 6)
    Buffer.alloc(8).writeIntLE(-(2 ** 40), 0, 5)
    Buffer.alloc(8).writeBigUInt64LE(-1n)
    Buffer.alloc(8).writeBigInt64LE(2n ** 63n)
    Buffer.alloc(8).writeBigInt64LE(5)
    Buffer.alloc(4).writeDoubleLE(1)
    Buffer.alloc(4).writeFloatBE(1, 1)
    ((b) => [b.writeDoubleLE(NaN), b.writeFloatLE("1.5", 0), b.writeInt8("x", 0), b.writeUInt8(undefined, 1), b])(Buffer.alloc(8))
    [buffer.kMaxLength > 2 ** 30, buffer.constants.MAX_STRING_LENGTH === buffer.kStringMaxLength, buffer.INSPECT_MAX_BYTES, buffer.isUtf8(Buffer.from("é")), buffer.isUtf8(Buffer.from([0xff])), buffer.isAscii(Buffer.from("é")), buffer.isAscii(Buffer.from("e"))]
    buffer.isUtf8("a")
    [buffer.atob("YQ=="), buffer.btoa("a")]
    [Buffer.copyBytesFrom(new Uint16Array([1, 2, 3]), 1, 1), Buffer.copyBytesFrom(new Uint8Array([1, 2]))]
    Buffer.copyBytesFrom("a")
    [Buffer.from("abc").hexSlice(1), Buffer.from("abc").utf8Slice(0, 2), Buffer.from("abc").latin1Slice(), Buffer.from("abc").base64Slice(), Buffer.from("abcd").ucs2Slice()]
    [...Buffer.from("ab").entries(), ...Buffer.from("ab").keys(), ...Buffer.from("ab")]
    [Buffer("ab"), Buffer(2), new Buffer("6162", "hex")]
    [Buffer.from("a").parent instanceof ArrayBuffer, Buffer.from("abc").toLocaleString("hex"), typeof Buffer.poolSize]
    ((b) => [b.reverse(), b.at(-1), b.fill(0, 1, 2), b.set([9], 2), b.indexOf(9)])(Buffer.from("abc"))
  `,
  ),
  string_decoder: script(
    `const { StringDecoder } = require("string_decoder"); const feed = (encoding, chunks) => { const d = new StringDecoder(encoding); return [...chunks.map((c) => d.write(Buffer.from(c))), d.end()]; };`,
    String.raw`
    feed("utf8", [[0xe2], [0x82], [0xac]])
    feed("utf8", [[0xe2, 0x82], [0x41]])
    feed("utf8", [[0xf0, 0x9f], [0x98, 0x80, 0xf0]])
    feed("utf8", [[0xc0], [0x80, 0xff], [0xed], [0xa0, 0x80]])
    feed("utf8", [[0xe0], [0x80]])
    feed("utf16le", [[0x3d], [0xd8, 0x00], [0xde, 0x41]])
    feed("utf16le", [[0x3d, 0xd8]])
    feed("base64", [[1], [2, 3, 4], [5]])
    feed("base64url", [[255], [254, 253, 4], [5]])
    feed("hex", [[1], [255]])
    feed("latin1", [[200, 255]])
    feed("ascii", [[65, 66]])
    [new StringDecoder("UTF-8").encoding, new StringDecoder().encoding, new StringDecoder("ucs2").encoding, new StringDecoder("binary").encoding]
    new StringDecoder("nope")
    new StringDecoder("utf8").write(5)
    [new StringDecoder().write("text"), new StringDecoder().end(Buffer.from("x")), new StringDecoder().end()]
  `,
  ),
  events: script(
    `const EventEmitter = require("events"); const events = EventEmitter; const heard = (fn) => { const e = new EventEmitter(); const log = []; fn(e, log); return log; };`,
    String.raw`
    [EventEmitter.EventEmitter === EventEmitter, EventEmitter.defaultMaxListeners, String(EventEmitter.errorMonitor), String(EventEmitter.captureRejectionSymbol), typeof EventEmitter.once]
    heard((e, log) => { e.on("a", (...x) => log.push(x)); e.once("a", (...x) => log.push("once", ...x)); log.push(e.emit("a", 1, 2), e.emit("a", 3), e.emit("b")); })
    heard((e, log) => { e.on("a", () => log.push(1)); e.prependListener("a", () => log.push(0)); e.prependOnceListener("a", () => log.push(-1)); e.emit("a"); e.emit("a"); })
    heard((e, log) => { const f = () => log.push("f"); e.on("a", f); e.on("a", f); e.off("a", f); e.emit("a"); e.removeAllListeners("a"); e.emit("a"); log.push(e.listenerCount("a"), e.eventNames()); })
    heard((e, log) => { e.on("newListener", (n, l) => log.push("new", n, typeof l)); e.on("removeListener", (n) => log.push("removed", n)); const f = () => {}; e.once("x", f); e.removeListener("x", f); e.on("y", f); e.removeAllListeners(); })
    heard((e, log) => { e.on("a", function () { log.push(this === e); }); e.emit("a"); })
    heard((e, log) => { e.on("a", () => { log.push(1); e.on("a", () => log.push(2)); }); e.emit("a"); e.emit("a"); })
    heard((e, log) => { const f = () => log.push("f"); e.on("a", () => { e.off("a", f); log.push("first"); }); e.on("a", f); e.emit("a"); e.emit("a"); })
    new EventEmitter().emit("error", new Error("boom"))
    new EventEmitter().emit("error", "text")
    new EventEmitter().emit("error")
    heard((e, log) => { e.on(EventEmitter.errorMonitor, (x) => log.push("seen", x.message)); e.on("error", (x) => log.push(x.message)); e.emit("error", new Error("x")); })
    new EventEmitter().on("a", 5)
    new EventEmitter().once("a")
    new EventEmitter().setMaxListeners(-1)
    [new EventEmitter().setMaxListeners(5).getMaxListeners(), new EventEmitter().getMaxListeners()]
    heard((e, log) => { const f = () => {}; e.once("a", f); log.push(e.listeners("a")[0] === f, e.rawListeners("a")[0] === f, e.rawListeners("a")[0].listener === f, e.listenerCount("a", f), EventEmitter.listenerCount(e, "a"), events.getEventListeners(e, "a").length); })
    ((e) => { const p = events.once(e, "a"); e.emit("a", 1, 2); return p; })(new EventEmitter())
    ((e) => { const p = events.once(e, "a"); e.emit("error", new Error("no")); return p; })(new EventEmitter())
    ((e) => { const c = new AbortController(); const p = events.once(e, "a", { signal: c.signal }); c.abort(); return p; })(new EventEmitter())
    (async (e) => { const out = []; queueMicrotask(() => { e.emit("a", 1); e.emit("a", 2); e.emit("end"); }); for await (const x of events.on(e, "a", { close: ["end"] })) out.push(x); return out; })(new EventEmitter())
    (async (e) => { const it = events.on(e, "a"); e.emit("a", 1); e.emit("error", new Error("bad")); const out = [await it.next()]; try { await it.next(); } catch (x) { out.push(x); } return [out, await it.next()]; })(new EventEmitter())
    ((e) => { const { promise, resolve } = Promise.withResolvers(); e.on("a", async () => { throw new Error("async"); }); e.on("error", (x) => resolve(x.message)); e.emit("a"); return promise; })(new EventEmitter({ captureRejections: true }))
    ((e) => { const { promise, resolve } = Promise.withResolvers(); e[Symbol.for("nodejs.rejection")] = (x, name, ...args) => resolve([x.message, name, args]); e.on("a", async () => { throw new Error("async"); }); e.emit("a", 7); return promise; })(new EventEmitter({ captureRejections: true }))
    ((F) => { F.prototype = Object.create(EventEmitter.prototype); const f = new F(); const log = []; f.on("x", (v) => log.push(v)); f.emit("x", 1); return log; })(function () { EventEmitter.call(this); })
    new (class A extends EventEmitter { go() { return this.on("a", () => {}).listenerCount("a"); } })().go()
    ((e) => { const s = Symbol("s"); e.on(s, () => {}); e.on("t", () => {}); return e.eventNames(); })(new EventEmitter())
    [Object.keys(new EventEmitter()), new EventEmitter() instanceof EventEmitter]
  `,
  ),
  util: script(
    `const util = require("util"); class Foo { constructor() { this.a = 1; } get b() { return 2; } }`,
    String.raw`
    [util.format("%s %d %i %f %j %o %O %%", "a", 1.5, 1.5, "2.5", { a: 1 }, [1], { b: 2 }), util.format("a", "b", 5), util.format(1, 2), util.format("%s"), util.format("%s", null, undefined), util.format("%c x", "css"), util.format("%d", 5n), util.format("%s", Symbol("x")), util.format("%j", 5n)]
    ((c) => { c.c = c; return util.format("%j", c); })({})
    [1, -0, "it's", 'a"b', "a'b\"c", 5n, Symbol("x"), null, undefined, true, NaN].map((v) => util.inspect(v))
    util.inspect({ a: 1, "b-c": [1, 2, { d: { e: { f: 1 } } }], g() {}, h: () => {}, i: class A {}, j: async () => {}, k: function* () {} })
    [util.inspect([1, , 3]), util.inspect(new Array(3)), util.inspect(Array.from({ length: 120 }, (_, i) => i)), util.inspect(Object.assign([1], { x: 2 }))]
    [util.inspect(new Map([["a", { b: 1 }]])), util.inspect(new Set([1, "x"])), util.inspect(new WeakMap()), util.inspect(new Date(0)), util.inspect(/x/g), util.inspect(new Date(NaN))]
    [util.inspect(new Foo()), util.inspect(Object.create(null)), util.inspect(Object.create(Foo.prototype)), util.inspect(Foo), util.inspect(new (class extends Foo {})())]
    [util.inspect({ get a() { return 1; }, set b(v) {}, get c() { return 1; }, set c(v) {} }), util.inspect({ get a() { return 1; } }, { getters: true })]
    ((c) => { c.c = c; return util.inspect(c); })({ x: 1 })
    [util.inspect(new Uint8Array([1, 2])), util.inspect(new Float64Array(2)), util.inspect(new ArrayBuffer(4)), util.inspect(new DataView(new ArrayBuffer(2))), util.inspect(Buffer.from("héllo")), util.inspect(Buffer.alloc(60))]
    util.inspect(Object.assign(Buffer.from("a"), { extra: 1 }))
    [util.inspect(Promise.resolve(4)).replace("4", "").length > 5, util.inspect(new Proxy({ a: 1 }, {})), util.inspect(new Number(5)), util.inspect(new String("ab")), util.inspect(Object(5n))]
    [util.inspect({ a: { b: { c: { d: 1 } } } }, { depth: 0 }), util.inspect({ a: { b: { c: { d: 1 } } } }, { depth: null }), util.inspect({ a: 1, b: "x" }, { colors: true }), util.inspect({ b: 1, a: 2 }, { sorted: true }), util.inspect({ a: 1 }, false, 1, true)]
    [util.inspect("a".repeat(200)).length, util.inspect(["a".repeat(100), "b"]), util.inspect({ a: "x".repeat(80), b: 2 }), util.inspect("a\nb"), util.inspect(["a\nb"]), util.inspect({ a: "1\n2\n3" }, { breakLength: 5 })]
    util.inspect({ [util.inspect.custom](depth, options, inspect) { return [depth, typeof options.stylize, inspect === util.inspect]; } })
    [String(util.inspect.custom), util.inspect.defaultOptions.depth, Object.keys(util.inspect.colors).length > 20]
    util.inspect(new Error("x", { cause: new TypeError("y") })).split("\n")[0]
    [util.inspect([1n, [2n]], { compact: false }), util.inspect({ a: 123456789.123 }, { numericSeparator: true }), util.inspect([..."abcdefghijklmnopqrstuvwxyz"])]
    [util.inspect((function () { return arguments; })(1, 2)), util.inspect(Math), util.inspect(JSON), util.inspect([undefined, null]), util.inspect({ [Symbol("s")]: 1 })]
    [util.inspect(new Map([[1, 2]]).entries()), util.inspect(new Set([1]).values())]
    util.inspect((function* () {})())
    util.promisify((a, cb) => cb(null, a + 1))(1)
    util.promisify((a, cb) => cb(new Error("no")))(1)
    ((f) => { f[util.promisify.custom] = () => "own"; return util.promisify(f)(); })(() => {})
    util.promisify(5)
    util.promisify(setTimeout)(1, "value")
    util.promisify(setImmediate)("now")
    new Promise((resolve) => util.callbackify(async (a) => a * 2)(4, (error, value) => resolve([error, value])))
    new Promise((resolve) => util.callbackify(async () => { throw new Error("x"); })((error) => resolve(error.message)))
    new Promise((resolve) => util.callbackify(() => Promise.reject(null))((error) => resolve([error.code, error.message, error.reason])))
    ((A, B) => { util.inherits(A, B); return [new A() instanceof B, A.super_ === B]; })(function () {}, function () {})
    util.inherits(5, function () {})
    [util.isDeepStrictEqual({ a: [1, new Map([[1, { b: 2 }]])] }, { a: [1, new Map([[1, { b: 2 }]])] }), util.isDeepStrictEqual([1], ["1"]), util.isDeepStrictEqual(new Set([1, { a: 1 }]), new Set([{ a: 1 }, 1])), util.isDeepStrictEqual(NaN, NaN), util.isDeepStrictEqual(0, -0), util.isDeepStrictEqual({ a: undefined }, {}), util.isDeepStrictEqual([1, , 3], [1, undefined, 3]), util.isDeepStrictEqual(new Date(1), new Date(1)), util.isDeepStrictEqual(/a/g, /a/i), util.isDeepStrictEqual(new Foo(), { a: 1 }), util.isDeepStrictEqual(Object(1), Object(1)), util.isDeepStrictEqual(new Error("a"), new Error("b")), util.isDeepStrictEqual(new Uint8Array([1]), Buffer.from([1]))]
    ((a, b) => { a.x = a; b.x = b; return util.isDeepStrictEqual(a, b); })({}, {})
    [util.stripVTControlCharacters("\u001b[31mred\u001b[0m"), util.toUSVString("a\ud800"), util.isArray([]), util.types.isDate(new Date())]
    [util.styleText("red", "x", { validateStream: false }), util.styleText(["bold", "underline"], "x", { validateStream: false })]
    util.styleText("nocolour", "x").length
    ["isDate", "isRegExp", "isMap", "isSet", "isPromise", "isNativeError", "isTypedArray", "isUint8Array", "isArrayBuffer", "isAnyArrayBuffer", "isArrayBufferView", "isDataView", "isGeneratorFunction", "isAsyncFunction", "isGeneratorObject", "isBoxedPrimitive", "isNumberObject", "isStringObject", "isSymbolObject", "isBigIntObject", "isArgumentsObject", "isMapIterator", "isSetIterator", "isWeakMap", "isWeakSet", "isModuleNamespaceObject", "isExternal", "isSharedArrayBuffer", "isFloat64Array", "isBigInt64Array"].map((name) => [name, [new Date(), /x/, new Map(), new Set(), Promise.resolve(), new TypeError("x"), new Uint8Array(1), Buffer.alloc(1), new ArrayBuffer(1), new DataView(new ArrayBuffer(1)), function* () {}, async () => {}, (function* () {})(), Object(1), Object("a"), Object(Symbol("x")), Object(1n), (function () { return arguments; })(), new Map().keys(), new Set().values(), new WeakMap(), new WeakSet(), new Float64Array(1), new BigInt64Array(1), {}, [], null, undefined, 5, "x", Object.create(Date.prototype), Object.create(Map.prototype), RegExp.prototype].map((v) => Number(util.types[name](v))).join("")])
    util.parseArgs({ args: ["-f", "--bar", "b", "pos", "--", "--x"], options: { foo: { type: "boolean", short: "f" }, bar: { type: "string" } }, allowPositionals: true })
    util.parseArgs({ args: ["--list", "a", "--list=b", "-vn3"], options: { list: { type: "string", multiple: true }, verbose: { type: "boolean", short: "v" }, number: { type: "string", short: "n" }, other: { type: "string", default: "d" } } })
    util.parseArgs({ args: ["--nope"], options: {} })
    util.parseArgs({ args: ["pos"], options: {} })
    util.parseArgs({ args: ["--bar"], options: { bar: { type: "string" } } })
    util.parseArgs({ args: ["--bar=x"], options: { bar: { type: "boolean" } } })
    util.parseArgs({ args: ["--no-color", "--any", "x"], options: { color: { type: "boolean" } }, strict: false, allowNegative: true })
    util.parseArgs({ args: ["--a", "-b", "c"], options: { a: { type: "boolean" }, b: { type: "string", short: "b" } }, tokens: true })
    util.parseEnv("A=1\nB = two words # c\nC='x # y'\nexport D=\"q\\nr\"\nE=\n# F=1\nG=a=b")
    [util.getSystemErrorName(-2), util.getSystemErrorName(-13), util.debuglog("x").enabled, util._extend({ a: 1 }, { b: 2 })]
    util.deprecate((a) => a + 1, "old")(4)
    [new util.TextEncoder().encode("é"), new util.TextDecoder().decode(new Uint8Array([195, 169]))]
    [require("util/types") === util.types, require("node:util") === util]
    ((c) => { const p = util.aborted(c.signal, {}); c.abort(); return p; })(new AbortController())
  `,
  ),
  assert: script(
    `const assert = require("assert"); const caught = (fn) => { try { fn(); return "fine"; } catch (e) { return [e.name, e.code, e.generatedMessage, e.operator]; } };`,
    String.raw`
    [assert.strict.equal === assert.strict.strictEqual, require("assert/strict") === assert.strict, typeof assert.AssertionError, assert.ok(1), assert(true)]
    caught(() => assert(0))
    caught(() => assert.ok(false, "why"))
    caught(() => assert.equal(1, 2))
    caught(() => assert.equal(1, "1"))
    caught(() => assert.strictEqual(1, "1"))
    caught(() => assert.notStrictEqual(1, 1))
    caught(() => assert.deepEqual({ a: 1 }, { a: "1" }))
    caught(() => assert.deepStrictEqual({ a: 1 }, { a: "1" }))
    caught(() => assert.deepStrictEqual([1, { b: new Set([1]) }], [1, { b: new Set([1]) }]))
    caught(() => assert.notDeepStrictEqual({ a: 1 }, { a: 1 }))
    caught(() => assert.notDeepEqual({ a: 1 }, { a: 2 }))
    caught(() => assert.notEqual(1, 1))
    caught(() => assert.match("abc", /x/))
    caught(() => assert.match("abc", /b/))
    caught(() => assert.doesNotMatch("abc", /b/))
    caught(() => assert.throws(() => { throw new TypeError("bad"); }, TypeError))
    caught(() => assert.throws(() => { throw new TypeError("bad"); }, /bad/))
    caught(() => assert.throws(() => { throw new TypeError("bad"); }, { name: "TypeError", message: "bad" }))
    caught(() => assert.throws(() => { throw new TypeError("bad"); }, { message: /a/ }))
    caught(() => assert.throws(() => { throw new TypeError("bad"); }, { message: "good" }))
    caught(() => assert.throws(() => {}))
    caught(() => assert.throws(() => {}, /x/, "words"))
    caught(() => assert.throws(() => { throw new Error("x"); }, () => false))
    caught(() => assert.throws(() => { throw new Error("x"); }, RangeError))
    caught(() => assert.doesNotThrow(() => { throw new Error("x"); }))
    caught(() => assert.doesNotThrow(() => 5))
    caught(() => assert.fail())
    caught(() => assert.fail("words"))
    caught(() => assert.ifError(null))
    caught(() => assert.ifError(new Error("x")))
    caught(() => assert.partialDeepStrictEqual({ a: 1, b: 2 }, { a: 1 }))
    caught(() => assert.partialDeepStrictEqual({ a: 1 }, { a: 2 }))
    assert.rejects(Promise.reject(new Error("x")), /x/)
    assert.rejects(async () => 5).catch((e) => [e.code, e.message])
    assert.doesNotReject(Promise.resolve(5))
    assert.doesNotReject(Promise.reject(new Error("y"))).catch((e) => [e.code, e.message.split("\n")[0]])
    ((e) => [e.name, e.code, e.message, e.actual, e.expected, e.operator, e.generatedMessage])(new assert.AssertionError({ actual: 1, expected: 2, operator: "strictEqual", message: "m" }))
    assert.strictEqual(1, 2, "own words")
    assert.strictEqual(1, 2, new RangeError("own error"))
    assert.equal(1, 2)
    assert.notStrictEqual(1, 1)
    assert.throws(() => {})
    assert.fail()
    assert.ifError("text")
    assert.match("abc", /x/)
    assert.throws("x")
    assert.strictEqual(1)
    assert.ok()
  `,
  ),
  url: script(
    `const url = require("url");`,
    String.raw`
    [url.URL === URL, url.URLSearchParams === URLSearchParams]
    ["http://user:pass@host.com:8080/p/a/t/h?query=string#hash", "/a?b=c", "//x/y", "mailto:a@b.c", "HTTP://EXAMPLE.com", "a b", "http://x.com/ a?b c#d e", "javascript:alert(1)", "file:///etc/passwd", "http://a.com?x", "x:y", "http://[::1]:80/a", ""].map((u) => ({ ...url.parse(u) }))
    ({ ...url.parse("/a?b=c&d=1", true).query })
    ({ ...url.parse("//host/path", false, true) })
    url.parse(5)
    [["http://a.com/b/c", "../d"], ["/one/two/three", "four"], ["http://a.com/", "/x"], ["http://a.com/b", "?q"], ["http://a.com/b?c", "#h"], ["http://a.com", "http://b.com/x"], ["a", "b"], ["http://a.com/b/c/d", "./e/../f"], ["http://a.com/b", "//c/d"]].map(([a, b]) => url.resolve(a, b))
    [url.format({ protocol: "http", host: "a.com", pathname: "/x", query: { b: 1 } }), url.format({ hostname: "a.com", port: 80, slashes: true }), url.format({ pathname: "a?b#c", search: "x" }), url.format("http://a.com/x y"), url.format({ protocol: "mailto", pathname: "x@y" }), url.format({ protocol: "http:", auth: "a:b", hostname: "c", hash: "d" })]
    [url.format(new URL("http://u:p@a.com/x?y#z"), { auth: false, fragment: false, search: false })]
    url.format(new URL("http://xn--ls8h.la/"), { unicode: true })
    ["file:///a/b", "file:///a%20b/c", "file:///%E2%82%AC"].map((u) => [url.fileURLToPath(u), url.fileURLToPath(new URL(u))])
    url.fileURLToPath("http://x")
    url.fileURLToPath("file:///a%2fb")
    url.fileURLToPath("file://host/a")
    url.fileURLToPath(5)
    ["/a/b", "/a b", "/a#b?c%d", "/ü\n\t", "/a/", "/a\\b"].map((p) => url.pathToFileURL(p).href)
    url.pathToFileURL(5)
    ((o) => ({ ...o }))(url.urlToHttpOptions(new URL("http://a%20b:c@x.com:81/p?q#h")))
    ["español.com", "中文.com", "xn--iñvalid.com", "a.com"].map(url.domainToASCII)
    ["xn--espaol-zwa.com", "xn--fiq228c.com", "a.com"].map(url.domainToUnicode)
  `,
  ),
  timers: script(
    `const timers = require("timers/promises");`,
    String.raw`
    timers.setTimeout(1, "v")
    timers.setTimeout()
    timers.setImmediate("w")
    ((c) => { const p = timers.setTimeout(10_000, 1, { signal: c.signal }); c.abort(); return p; })(new AbortController())
    timers.setTimeout(1, 1, { signal: AbortSignal.abort("why") }).catch((e) => [e.name, e.code, e.message, e.cause])
    timers.setTimeout(1, 1, { signal: 5 })
    (async () => { const out = []; for await (const x of timers.setInterval(1, "tick")) { out.push(x); if (out.length === 3) break; } return out; })()
    timers.scheduler.wait(1)
    [require("timers").setTimeout === setTimeout, require("timers").promises === timers, Object.keys(require("timers")).toSorted()]
  `,
  ),
  process: script(
    `const process = require("process"); const os = require("os");`,
    String.raw`
    [globalThis.process === process, Object.prototype.toString.call(process), typeof process.version, process.version.split(".")[0], process.platform, process.arch]
    ((t) => [Array.isArray(t), typeof t[0], typeof process.hrtime.bigint(), process.hrtime(t).length])(process.hrtime())
    process.hrtime(5)
    [global === globalThis, global.Buffer === Buffer, typeof global.process]
    new Promise((resolve) => process.nextTick((a, b) => resolve([a, b]), 1, 2))
    process.nextTick(5)
    (async () => { const out = []; process.nextTick(() => out.push("tick")); process.nextTick(() => { out.push("tick 2"); process.nextTick(() => out.push("tick in tick")); }); await new Promise((r) => setTimeout(r, 1)); return out; })()
    process.chdir(5)
    [process.release.name, process.stdout.write.length > 0, typeof process.stderr.write, process.exitCode, process.argv.length >= 1, typeof process.uptime(), process.getBuiltinModule("path") === require("path"), process.getBuiltinModule("nope")]
    [os.EOL, os.platform(), os.arch(), os.type(), os.endianness(), os.devNull, os.tmpdir(), os.constants.signals.SIGTERM, os.constants.errno.ENOENT, os.constants.priority, os.machine(), os.loadavg().length]
    process.emitWarning(5)
  `,
  ),
  crypto: script(
    `const crypto = require("crypto"); const names = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha512-224", "sha512-256", "sha3-224", "sha3-256", "sha3-384", "sha3-512", "ripemd160", "blake2b512", "blake2s256", "SHA256", "RSA-SHA256", "sha-1", "SHA-256", "rmd160"];`,
    String.raw`
    names.map((n) => [n, crypto.createHash(n).update("héllo").digest("hex"), crypto.createHmac(n, "key").update("x").digest("base64")])
    [crypto.createHash("shake128").update("a").digest("hex"), crypto.createHash("shake256", { outputLength: 7 }).digest("hex"), crypto.createHash("sha256", { outputLength: 32 }).digest("base64url")]
    crypto.createHash("sha256", { outputLength: 5 })
    crypto.createHash("nope")
    crypto.createHash(5)
    crypto.createHmac("nope", "k")
    crypto.createHmac("sha256")
    crypto.createHash("sha256").update(5)
    crypto.createHash("sha256").update(new ArrayBuffer(1))
    ["hex", "base64", "base64url", "latin1", "buffer", undefined, "utf8", "nope"].map((e) => crypto.createHash("md5").update("a").digest(e))
    [crypto.createHash("md5").update("6162", "hex").digest("hex"), crypto.createHash("md5").update(new Uint16Array([1, 2])).digest("hex"), crypto.createHash("md5").update("YQ", "base64").update("é", "latin1").digest("hex")]
    ((h) => { h.update("a"); const c = h.copy(); h.update("b"); return [h.digest("hex"), c.digest("hex")]; })(crypto.createHash("sha256"))
    ((h) => { h.digest(); return h.digest(); })(crypto.createHash("sha256"))
    ((h) => { h.digest(); return h.update("a"); })(crypto.createHash("sha256"))
    ((h) => { h.digest(); return h.copy(); })(crypto.createHash("sha256"))
    ((h) => { h.digest(); return h.digest("hex"); })(crypto.createHmac("sha256", "k"))
    ((h) => { h.digest(); return h.update("x"); })(crypto.createHmac("sha256", "k"))
    [crypto.hash("sha1", "a"), crypto.hash("sha1", "a", "base64"), crypto.hash("sha1", Buffer.from("a"), "buffer")]
    crypto.hash("nope", "a")
    crypto.hash("sha1", 5)
    [crypto.timingSafeEqual(Buffer.from("a"), Buffer.from("a")), crypto.timingSafeEqual(Buffer.from("a"), Buffer.from("b")), crypto.timingSafeEqual(new ArrayBuffer(1), new Uint8Array(1))]
    crypto.timingSafeEqual(Buffer.from("a"), Buffer.from("ab"))
    crypto.timingSafeEqual("a", "b")
    [crypto.randomBytes(5).length, crypto.randomBytes(0).length, crypto.randomBytes(5) instanceof Buffer, crypto.randomBytes(16).equals(crypto.randomBytes(16))]
    crypto.randomBytes(-1)
    crypto.randomBytes("5")
    new Promise((resolve) => crypto.randomBytes(4, (error, bytes) => resolve([error, bytes.length])))
    [crypto.randomFillSync(Buffer.alloc(64)).some((b) => b > 0), crypto.randomFillSync(new Uint32Array(16), 8).subarray(0, 8), crypto.randomFillSync(Buffer.alloc(9), 1, 0)]
    crypto.randomFillSync("x")
    crypto.randomFillSync(Buffer.alloc(3), 4)
    crypto.randomFillSync(Buffer.alloc(3), 1, 4)
    new Promise((resolve) => crypto.randomFill(Buffer.alloc(4), (error, bytes) => resolve([error, bytes.length])))
    [crypto.randomInt(1), crypto.randomInt(5, 6), Array.from({ length: 200 }, () => crypto.randomInt(-2, 3)).every((n) => n >= -2 && n < 3)]
    crypto.randomInt(0)
    crypto.randomInt(1.5)
    crypto.randomInt(0, 2 ** 48 + 1)
    crypto.randomInt(-1)
    new Promise((resolve) => crypto.randomInt(1, (error, n) => resolve([error, n])))
    [/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(crypto.randomUUID()), crypto.randomUUID() === crypto.randomUUID(), crypto.randomUUID({ disableEntropyCache: true }).length]
    crypto.randomUUID({ disableEntropyCache: 5 })
    [crypto.pbkdf2Sync("p", "s", 3, 20, "sha1"), crypto.pbkdf2Sync(Buffer.from("p"), "s", 2, 70, "sha512"), crypto.scryptSync("p", "s", 16, { N: 16, r: 2, p: 2 }), crypto.hkdfSync("sha256", "k", "salt", "info", 42)]
    crypto.pbkdf2Sync("p", "s", 0, 20, "sha1")
    crypto.pbkdf2Sync("p", "s", 1, 20, "nope")
    crypto.scryptSync("p", "s", 16, { N: 3 })
    crypto.scryptSync("p", "s", 16, { N: 2 ** 20 })
    crypto.hkdfSync("nope", "k", "s", "i", 32)
    crypto.hkdfSync("sha256", "k", "s", "i", 32 * 256)
    new Promise((resolve) => crypto.pbkdf2("p", "s", 1, 8, "sha256", (error, key) => resolve([error, key])))
    new Promise((resolve) => crypto.scrypt("p", "s", 8, { N: 4 }, (error, key) => resolve([error, key])))
    new Promise((resolve) => crypto.hkdf("sha256", "k", "s", "i", 8, (error, key) => resolve([error, key])))
    [crypto.webcrypto === globalThis.crypto, crypto.subtle === globalThis.crypto.subtle, crypto.getRandomValues(new Uint8Array(4)).length, crypto.webcrypto.randomUUID().length]
    crypto.getRandomValues(new Float64Array(1))
    globalThis.crypto.getRandomValues(new Uint8Array(65537))
    globalThis.crypto.getRandomValues([1])
    [globalThis.crypto.getRandomValues(new BigInt64Array(2)).length, globalThis.crypto.getRandomValues(new Uint8ClampedArray(2)).length, globalThis.crypto.getRandomValues(new Uint8Array(65536)).length]
    new Crypto()
    [String(crypto.webcrypto), String(crypto.subtle), crypto.webcrypto instanceof Crypto, crypto.subtle instanceof SubtleCrypto]
    (() => { const key = crypto.createSecretKey("k", "utf8"); return [key.type, key.symmetricKeySize, key.export(), key.export({ format: "jwk" }), key.equals(crypto.createSecretKey(Buffer.from("k"))), key instanceof crypto.KeyObject, crypto.createHmac("sha256", key).update("a").digest("hex")]; })()
    crypto.createSecretKey(5)
    [crypto.getFips(), crypto.constants.RSA_PKCS1_OAEP_PADDING]
  `,
  ),
} satisfies Record<string, Script>;

export type Module = keyof typeof TABLES;

const PIECES = "the same text in other pieces: what can never become a character is given at once";
const PREVIEW = "only V8's own debugger sees what an iterator would give";
const UNICODE = "the tables back to Unicode are not in the sandbox";

/** Where a cell answers otherwise, and why. Everything else is the same. */
export const KNOWN: Partial<Record<Module, Readonly<Record<string, string>>>> = {
  stream: { "new Writable({ write() {} }).write({})": "a chunk must be a text, a `Buffer` or a `Uint8Array`" },
  string_decoder: {
    'feed("utf8", [[0xc0], [0x80, 0xff], [0xed], [0xa0, 0x80]])': PIECES,
    'feed("utf8", [[0xe0], [0x80]])': PIECES,
    'feed("utf16le", [[0x3d], [0xd8, 0x00], [0xde, 0x41]])': "a pair is given whole, where Node gives its halves",
  },
  util: { "[util.inspect(new Map([[1, 2]]).entries()), util.inspect(new Set([1]).values())]": PREVIEW },
  url: {
    'url.format(new URL("http://xn--ls8h.la/"), { unicode: true })': UNICODE,
    '["xn--espaol-zwa.com", "xn--fiq228c.com", "a.com"].map(url.domainToUnicode)': UNICODE,
  },
};
