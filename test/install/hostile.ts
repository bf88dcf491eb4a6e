/** Archives that were made to do harm, or that tools read differently: what each is, its bytes, and the error it is refused with. */
import { createHash } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import type { ErrorCode } from "../../src/protocol/errors.ts";
import { BLOCK, END, entry, gzip, gzipFrame, longName, pax, record, tar } from "../support/tar.ts";

export type Hostile = readonly [what: string, code: ErrorCode, archive: Buffer];

const good = { name: "package/index.js", content: "export default () => {};" };
const file = (name: string | Buffer, content = "x"): Buffer => entry({ name, content });
const link = (type: string, target: string): Buffer => entry({ name: "package/link", type, target });
const base256 = (...bytes: number[]): Buffer => Buffer.from([...bytes, ...Array<number>(12 - bytes.length).fill(0xff)]);
const binary = (start: string, at?: number): Buffer => {
  const bytes = Buffer.alloc(600);
  bytes.write(start, "latin1");
  if (at !== undefined) bytes.write("PE\0\0", at, "latin1");
  if (at !== undefined) bytes.writeUInt32LE(at, 0x3c);
  return bytes;
};

/** `outside` is a folder that exists, next to the staging folder. */
export const paths = (outside: string): Hostile[] => [
  ["a path with ..", "ERR_ARCHIVE_PATH", tar(good, file("package/../../outside/x.js"))],
  ["a path that is nothing but ..", "ERR_ARCHIVE_PATH", tar(good, entry({ name: "..", type: "5" }))],
  ["a path that begins with ..", "ERR_ARCHIVE_PATH", tar(file("../outside/sentinel.txt"))],
  ["a path that ends with ..", "ERR_ARCHIVE_PATH", tar(good, entry({ name: "package/lib/..", type: "5" }))],
  ["a path that leaves and comes back", "ERR_ARCHIVE_PATH", tar(good, file("package/../package/x.js"))],
  ["an absolute path", "ERR_ARCHIVE_PATH", tar(file(`${outside}/x.js`))],
  ["an absolute path with many slashes", "ERR_ARCHIVE_PATH", tar(file(`///${outside}/x.js`))],
  ["a path with a drive", "ERR_ARCHIVE_PATH", tar(file("C:/package/x.js"))],
  ["a path with a drive, relative to it", "ERR_ARCHIVE_PATH", tar(file("c:package/x.js"))],
  ["a path of a network share", "ERR_ARCHIVE_PATH", tar(file("\\\\server\\share\\x.js"))],
  ["a path with .. between backslashes", "ERR_ARCHIVE_PATH", tar(good, file("package/..\\..\\outside\\x.js"))],
  ["a path with .. in its prefix", "ERR_ARCHIVE_PATH", tar(good, { name: "x.js", prefix: "package/../../outside", content: "x" })],
  ["an absolute prefix", "ERR_ARCHIVE_PATH", tar({ name: "x.js", prefix: outside.slice(0, 155), content: "x" })],
  ["a POSIX header with .. in its path", "ERR_ARCHIVE_PATH", tar(pax({ path: "package/../../outside/x.js" }), good)],
  ["a POSIX header with an absolute path", "ERR_ARCHIVE_PATH", tar(pax({ path: `${outside}/x.js` }), good)],
  ["a GNU long name with ..", "ERR_ARCHIVE_PATH", tar(longName("package/../../outside/x.js"), { ...good, magic: "gnu" })],
  ["a GNU long name that is absolute", "ERR_ARCHIVE_PATH", tar(longName(`${outside}/x.js`), { ...good, magic: "gnu" })],
];

export const links: Hostile[] = [
  ["a symbolic link that leaves", "ERR_ARCHIVE_LINK", tar(good, link("2", "../../outside"))],
  ["a symbolic link that stays", "ERR_ARCHIVE_LINK", tar(good, link("2", "index.js"))],
  ["a symbolic link, and a file written through it", "ERR_ARCHIVE_LINK", tar(link("2", "../outside"), file("package/link/x.js"))],
  [
    "a symbolic link in the place of the package's folder",
    "ERR_ARCHIVE_LINK",
    tar(entry({ name: "package", type: "2", target: "../outside" }), good),
  ],
  ["a hard link to a file of the system's", "ERR_ARCHIVE_LINK", tar(good, link("1", "/etc/passwd"))],
  ["a hard link to a file of its own", "ERR_ARCHIVE_LINK", tar(good, link("1", "package/index.js"))],
  ["a link with a long target", "ERR_ARCHIVE_LINK", tar(longName("../outside", "K"), link("2", "x"))],
  ["a POSIX header that names the target of a link", "ERR_ARCHIVE_FORMAT", tar(pax({ linkpath: "../outside" }), good)],
];

export const kinds: Hostile[] = [
  [
    "a file with the target of a link, and another archive in it",
    "ERR_ARCHIVE_FORMAT",
    tar({ name: "package/a.bin", target: "x", content: tar(file("package/hidden.js")) }, good),
  ],
  ["a character device", "ERR_ARCHIVE_TYPE", tar(good, { name: "package/null", type: "3" })],
  ["a block device", "ERR_ARCHIVE_TYPE", tar(good, { name: "package/disk", type: "4" })],
  ["a named pipe", "ERR_ARCHIVE_TYPE", tar(good, { name: "package/pipe", type: "6" })],
  ["a contiguous file", "ERR_ARCHIVE_TYPE", tar(good, { name: "package/old", type: "7", content: "x" })],
  ["a sparse file of GNU's old kind", "ERR_ARCHIVE_TYPE", tar(good, { name: "package/sparse", type: "S", content: "x", magic: "gnu" })],
  ["a sparse file of GNU's new kind", "ERR_ARCHIVE_FORMAT", tar(pax({ "GNU.sparse.major": "1", "GNU.sparse.name": "package/y" }), good)],
  ["a part of a file of another volume", "ERR_ARCHIVE_TYPE", tar(good, { name: "package/part", type: "M", magic: "gnu" })],
  ["an entry of no known kind", "ERR_ARCHIVE_TYPE", tar(good, { name: "package/what", type: "Z" })],
];

export const names: Hostile[] = [
  ["a NUL in a name", "ERR_ARCHIVE_FORMAT", tar(good, file("package/a.js\0.txt"))],
  ["a NUL in a prefix", "ERR_ARCHIVE_FORMAT", tar(good, { name: "a.js", prefix: "package\0/b", content: "x" })],
  ["a NUL in a POSIX path", "ERR_ARCHIVE_NAME", tar(pax({ path: "package/a.js\0.txt" }), good)],
  ["a NUL in a GNU long name", "ERR_ARCHIVE_NAME", tar(longName("package/a.js\0.txt"), { ...good, magic: "gnu" })],
  ["a line break in a name", "ERR_ARCHIVE_NAME", tar(good, file("package/a\nb.js"))],
  ["an escape sequence in a name", "ERR_ARCHIVE_NAME", tar(good, file("package/\u001B[2Ja.js"))],
  ["a name that turns its text around", "ERR_ARCHIVE_NAME", tar(good, file("package/a\u202Esj.txt"))],
  ["a name with a space of no width", "ERR_ARCHIVE_NAME", tar(good, file("package/inde\u200Bx.js"))],
  ["a name with a selector of variants", "ERR_ARCHIVE_NAME", tar(good, file("package/inde\uFE0Fx.js"))],
  ["a name with a letter that is empty", "ERR_ARCHIVE_NAME", tar(good, file("package/index\u3164.js"))],
  ["a backslash in a name", "ERR_ARCHIVE_NAME", tar(good, file("package/lib\\a.js"))],
  ["a stream of another file", "ERR_ARCHIVE_NAME", tar(good, file("package/index.js:hidden"))],
  ["a device of Windows", "ERR_ARCHIVE_NAME", tar(good, file("package/NUL"))],
  ["a device of Windows with an extension", "ERR_ARCHIVE_NAME", tar(good, file("package/com1.tar.gz"))],
  ["a device of Windows as a folder", "ERR_ARCHIVE_NAME", tar(good, file("package/aux/a.js"))],
  ["a name that ends with a dot", "ERR_ARCHIVE_NAME", tar(good, file("package/a.js."))],
  ["a name that ends with a space", "ERR_ARCHIVE_NAME", tar(good, file("package/a.js "))],
  ["a folder of three dots", "ERR_ARCHIVE_NAME", tar(good, file("package/.../a.js"))],
  ["a name that begins with .", "ERR_ARCHIVE_NAME", tar(good, file("./package/a.js"))],
  ["the same file with and without . in its path, with other content", "ERR_ARCHIVE_COLLISION", tar(good, file("package/./index.js"))],
  ["a way out behind .", "ERR_ARCHIVE_PATH", tar(good, file("package/./../a.js"))],
  ["a name with an empty part", "ERR_ARCHIVE_NAME", tar(good, file("package//a.js"))],
  ["an empty name", "ERR_ARCHIVE_FORMAT", tar(good, file(""))],
  ["a name that is not UTF-8", "ERR_ARCHIVE_NAME", tar(good, file(Buffer.from("package/\xE9.js", "latin1")))],
  ["a name of 256 bytes", "ERR_ARCHIVE_NAME", tar(pax({ path: `package/${"a".repeat(256)}` }), good)],
  ["a path of 2,000 bytes", "ERR_ARCHIVE_NAME", tar(pax({ path: `package/${"abc/".repeat(500)}a` }), good)],
];

export const places: Hostile[] = [
  ["two folders", "ERR_ARCHIVE_ROOT", tar(good, file("other/index.js"))],
  ["two folders that differ in case", "ERR_ARCHIVE_ROOT", tar(good, file("Package/a.js"))],
  ["a file outside of its folder", "ERR_ARCHIVE_ROOT", tar(good, file("a.js"))],
  ["a file in the place of its folder", "ERR_ARCHIVE_ROOT", tar(file("package"), good)],
  ["a manifest twice", "ERR_ARCHIVE_COLLISION", tar(file("package/package.json", "{}"), good, file("package/package.json", '{"a":1}'))],
  ["a folder twice", "ERR_ARCHIVE_COLLISION", tar({ name: "package/a/", type: "5" }, { name: "package/a", type: "5" }, good)],
  ["names that differ in case", "ERR_ARCHIVE_COLLISION", tar(good, file("package/Index.js"))],
  ["folders that differ in case", "ERR_ARCHIVE_COLLISION", tar(file("package/lib/a.js"), file("package/Lib/b.js"))],
  ["names that differ in how an accent is written", "ERR_ARCHIVE_COLLISION", tar(file("package/\u00E9.js"), file("package/e\u0301.js"))],
  ["names that differ in a letter that folds to two", "ERR_ARCHIVE_COLLISION", tar(file("package/stra\u00DFe"), file("package/STRASSE"))],
  ["names that differ in the Kelvin sign", "ERR_ARCHIVE_COLLISION", tar(file("package/\u212A.js"), file("package/k.js"))],
  ["a file, and a file in it", "ERR_ARCHIVE_COLLISION", tar(file("package/a"), file("package/a/b"))],
  ["a folder, and a file in its place", "ERR_ARCHIVE_COLLISION", tar(file("package/a/b"), file("package/a"))],
  ["a file, and a folder in its place", "ERR_ARCHIVE_COLLISION", tar(file("package/a"), { name: "package/a/", type: "5" })],
];

export const natives: Hostile[] = [
  ["a native addon", "ERR_ARCHIVE_NATIVE", tar(good, file("package/build/Release/addon.node"))],
  ["a native addon in capitals", "ERR_ARCHIVE_NATIVE", tar(good, file("package/ADDON.NODE"))],
  ["the build file of a native addon", "ERR_ARCHIVE_NATIVE", tar(good, file("package/binding.gyp", "{}"))],
  ["prebuilt binaries", "ERR_ARCHIVE_NATIVE", tar(good, file("package/node_modules/a/prebuilds/linux-x64/a.bin"))],
  ["a native addon of a bundled dependency", "ERR_ARCHIVE_NATIVE", tar(good, file("package/node_modules/a/a.node"))],
  ["a binary for Linux under another name", "ERR_ARCHIVE_NATIVE", tar(good, { name: "package/logo.png", content: binary("\x7FELF") })],
  [
    "a binary for macOS under another name",
    "ERR_ARCHIVE_NATIVE",
    tar(good, { name: "package/logo.png", content: binary("\xCF\xFA\xED\xFE") }),
  ],
  [
    "a universal binary for macOS under another name",
    "ERR_ARCHIVE_NATIVE",
    tar(good, { name: "package/logo.png", content: binary("\xCA\xFE\xBA\xBE\0\0\0\x02") }),
  ],
  ["a binary for Windows under another name", "ERR_ARCHIVE_NATIVE", tar(good, { name: "package/logo.png", content: binary("MZ", 0x80) })],
];

export const headers: Hostile[] = [
  ["a time that is no number", "ERR_ARCHIVE_FORMAT", tar(good, { name: "package/a.js", forge: (header) => header.fill(0xfe, 476, 488) })],
  ["an owner that is no number", "ERR_ARCHIVE_FORMAT", tar(good, { name: "package/a.js", forge: (header) => header.fill(0xfe, 108, 116) })],
  ["a line break in the place of a link's target", "ERR_ARCHIVE_FORMAT", tar(good, { name: "package/a.js", target: "\0\r" })],
  ["a POSIX header without a name", "ERR_ARCHIVE_FORMAT", tar({ name: "", type: "x", content: record("path", "package/a.js") }, good)],
  ["bytes after the end of a long prefix", "ERR_ARCHIVE_FORMAT", tar({ name: "a.js", prefix: `package/${"a".repeat(130)}\0/b` })],
  ["a wrong checksum", "ERR_ARCHIVE_FORMAT", tar(good, { ...good, name: "package/a.js", checksum: 1234 })],
  ["a header without a checksum", "ERR_ARCHIVE_FORMAT", Buffer.concat([Buffer.alloc(BLOCK, "a"), END])],
  ["a header of the oldest kind", "ERR_ARCHIVE_FORMAT", tar({ ...good, magic: "none" })],
  ["a negative size", "ERR_ARCHIVE_FORMAT", tar({ ...good, size: base256(0xff) })],
  [
    "a size that is negative to one and small to another",
    "ERR_ARCHIVE_FORMAT",
    tar({ ...good, size: Buffer.from([0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 24]) }),
  ],
  ["a huge size", "ERR_ARCHIVE_LIMIT", tar({ ...good, size: 0o77777777777 })],
  ["a size past all numbers", "ERR_ARCHIVE_FORMAT", tar({ ...good, size: base256(0x80) })],
  ["a size that is no number", "ERR_ARCHIVE_FORMAT", tar({ ...good, size: Buffer.from("0x000000010\0") })],
  ["no size", "ERR_ARCHIVE_FORMAT", tar({ ...good, size: Buffer.alloc(12) })],
  ["a folder with a size", "ERR_ARCHIVE_FORMAT", tar({ name: "package/a/", type: "5", content: entry(good) })],
  ["a file that is called like a folder", "ERR_ARCHIVE_FORMAT", tar(good, file("package/a/"))],
  ["a GNU header with something in the prefix's place", "ERR_ARCHIVE_FORMAT", tar({ ...good, prefix: "package/../..", magic: "gnu" })],
  [
    "two sizes of one file",
    "ERR_ARCHIVE_FORMAT",
    tar(pax({ size: "0" }), { name: "package/a.bin", content: tar(file("package/hidden.js")) }, good),
  ],
  ["a negative size in a POSIX header", "ERR_ARCHIVE_FORMAT", tar(pax({ size: "-1" }), good)],
  ["a size with an exponent in a POSIX header", "ERR_ARCHIVE_FORMAT", tar(pax({ size: "24e0" }), good)],
  ["a POSIX record that is longer than its header", "ERR_ARCHIVE_FORMAT", tar(pax("99 path=package/a.js\n"), good)],
  ["a POSIX record that is shorter than it says", "ERR_ARCHIVE_FORMAT", tar(pax("5 path=package/a.js\n"), good)],
  ["a POSIX record of no length", "ERR_ARCHIVE_FORMAT", tar(pax("0 path=package/a.js\n"), good)],
  ["a POSIX record of a negative length", "ERR_ARCHIVE_FORMAT", tar(pax("-5 path=package/a.js\n"), good)],
  ["a POSIX record without a value", "ERR_ARCHIVE_FORMAT", tar(pax("8 path\n\n\n"), good)],
  [
    "a POSIX header with the path twice",
    "ERR_ARCHIVE_FORMAT",
    tar(pax(record("path", "package/a.js") + record("path", "package/b.js")), good),
  ],
  ["a POSIX header with an empty path", "ERR_ARCHIVE_FORMAT", tar(pax({ path: "" }), good)],
  ["a POSIX header with another character set", "ERR_ARCHIVE_FORMAT", tar(pax({ hdrcharset: "BINARY", path: "package/a.js" }), good)],
  ["a POSIX header of 100 KB", "ERR_ARCHIVE_FORMAT", tar(pax({ comment: "x".repeat(100_000) }), good)],
  ["an empty POSIX header", "ERR_ARCHIVE_FORMAT", tar(pax(""), good)],
  ["a path for all entries", "ERR_ARCHIVE_FORMAT", tar(pax({ path: "package/a.js" }, "g"), good)],
  ["a size for all entries", "ERR_ARCHIVE_FORMAT", tar(pax({ size: "0" }, "g"), good)],
  ["two POSIX headers in a row", "ERR_ARCHIVE_FORMAT", tar(pax({ path: "package/a.js" }), pax({ mtime: "1" }), good)],
  ["a POSIX header before a GNU long name", "ERR_ARCHIVE_FORMAT", tar(pax({ size: "24" }), longName("package/a.js"), good)],
  ["two GNU long names in a row", "ERR_ARCHIVE_FORMAT", tar(longName("package/a.js"), longName("package/b.js"), good)],
  ["an empty GNU long name", "ERR_ARCHIVE_FORMAT", tar(longName(""), good)],
  ["a POSIX header at the end", "ERR_ARCHIVE_FORMAT", tar(good, pax({ path: "package/a.js" }))],
];

const whole = tar(good, file("package/a.js", "a".repeat(2_000)));
const packed = gzip(whole);
const noise = createHash("shake256", { outputLength: 2_000 }).digest();
const later = tar(file("package/hidden.js"));

export const ends: Hostile[] = [
  ["no bytes at all", "ERR_ARCHIVE_TRUNCATED", Buffer.alloc(0)],
  ["no entries", "ERR_ARCHIVE_EMPTY", tar()],
  ["nothing but folders", "ERR_ARCHIVE_EMPTY", tar({ name: "package/", type: "5" }, { name: "package/a/", type: "5" })],
  ["an end inside a header", "ERR_ARCHIVE_TRUNCATED", whole.subarray(0, 700)],
  ["an end inside a file", "ERR_ARCHIVE_TRUNCATED", whole.subarray(0, 2_000)],
  ["an end inside a file's last block", "ERR_ARCHIVE_TRUNCATED", whole.subarray(0, 3_581)],
  ["an end inside a POSIX header", "ERR_ARCHIVE_TRUNCATED", tar(pax({ path: "package/a.js" }), good).subarray(0, 520)],
  ["no blocks at the end", "ERR_ARCHIVE_TRUNCATED", whole.subarray(0, -2 * BLOCK)],
  ["one block at the end", "ERR_ARCHIVE_TRUNCATED", whole.subarray(0, -BLOCK)],
  ["one block of zeros in the middle", "ERR_ARCHIVE_TRAILING", Buffer.concat([entry(good), Buffer.alloc(BLOCK), later])],
  ["another archive after its end", "ERR_ARCHIVE_TRAILING", Buffer.concat([whole, later])],
  ["a byte after its end", "ERR_ARCHIVE_TRAILING", Buffer.concat([whole, Buffer.from("x")])],
];

/** The same, of gzip; these are not compressed again. */
export const compressed: Hostile[] = [
  ["an end inside gzip's header", "ERR_ARCHIVE_TRUNCATED", packed.subarray(0, 6)],
  ["an end inside the compressed data", "ERR_ARCHIVE_TRUNCATED", packed.subarray(0, 60)],
  ["no checksum of gzip's", "ERR_ARCHIVE_TRUNCATED", packed.subarray(0, -8)],
  ["a wrong checksum of gzip's", "ERR_ARCHIVE_FORMAT", gzipFrame(deflateRawSync(whole), 1, whole.length)],
  ["a wrong length of gzip's", "ERR_ARCHIVE_FORMAT", Buffer.concat([packed.subarray(0, -4), Buffer.alloc(4)])],
  ["another gzip file after it", "ERR_ARCHIVE_TRAILING", Buffer.concat([packed, gzip(later)])],
  [
    "an archive of which each half is in a gzip file",
    "ERR_ARCHIVE_TRAILING",
    Buffer.concat([gzip(whole.subarray(0, 1_024)), gzip(whole.subarray(1_024))]),
  ],
  ["a byte after gzip's end", "ERR_ARCHIVE_TRAILING", Buffer.concat([packed, Buffer.from("x")])],
  ["zeros after gzip's end", "ERR_ARCHIVE_TRAILING", Buffer.concat([packed, Buffer.alloc(100_000)])],
  ["a gzip header of another method", "ERR_ARCHIVE_FORMAT", gzip(whole, Buffer.from([0x1f, 0x8b, 7, 0, 0, 0, 0, 0, 0, 0]))],
  ["a gzip header with unknown flags", "ERR_ARCHIVE_FORMAT", gzip(whole, Buffer.from([0x1f, 0x8b, 8, 0x80, 0, 0, 0, 0, 0, 0]))],
  [
    "a gzip header whose name does not end",
    "ERR_ARCHIVE_FORMAT",
    Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 0]), Buffer.alloc(5_000, "a")]),
  ],
  ["damage in what is compressed", "ERR_ARCHIVE_FORMAT", gzipFrame(Buffer.alloc(100, 0xff), 0, 0)],
  ["gzip inside gzip", "ERR_ARCHIVE_FORMAT", gzip(gzip(noise))],
  ["a zip file", "ERR_ARCHIVE_FORMAT", Buffer.concat([Buffer.from("PK\x03\x04"), Buffer.alloc(600, "z")])],
];
