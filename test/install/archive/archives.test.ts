/** An archive from a stranger is unpacked exactly, or refused as a whole: nothing is written outside of the staging folder, and that is gone. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { constants, deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { unpack } from "../../../src/install/archive/archive.ts";
import type { ErrorCode } from "../../../src/protocol/errors.ts";
import { arena } from "../../support/arena.ts";
import type { Arena } from "../../support/arena.ts";
import { folder } from "../../support/files.ts";
import { gzip, gzipFrame, longName, pax, tar } from "../../support/tar.ts";
import { attempt, attemptAndClear, place, sha512, textsOf } from "../../support/unpacking.ts";
import { compressed, ends, headers, kinds, links, names, natives, paths, places } from "../hostile.ts";
import type { Hostile } from "../hostile.ts";

const run = promisify(execFile);
const refused = (code: ErrorCode): object => ({ code, complaints: [] });
const plain: Hostile[] = [...links, ...kinds, ...names, ...places, ...natives, ...headers, ...ends];
const files = (count: number): Buffer => tar(...Array.from({ length: count }, (_, i) => ({ name: `package/${i}.js` })));
const openFiles = (): number => readdirSync("/dev/fd").length;
/** Where archives are tried that leave nothing. */
const where = arena();
const deep = (depth: number): Buffer => tar(pax({ path: `package/${"d/".repeat(depth - 1)}a.js` }), { name: "x" });

describe("hostile archives: each is refused by its own rule, and nothing is left of it", () => {
  it.each(plain)("%s", async (_, code, archive) => {
    expect(await attempt(gzip(archive), {}, where)).toMatchObject(refused(code));
    expect(await attempt(archive, {}, where)).toMatchObject(refused(code));
  });

  it.each(paths("").map(([what], i) => [what, i] as const))("%s", async (_, i) => {
    const [, code, archive] = paths(join(where.root, "outside"))[i]!;
    expect(await attempt(gzip(archive), {}, where)).toMatchObject(refused(code));
    expect(await attempt(archive, {}, where)).toMatchObject(refused(code));
  });

  it.each(compressed)("%s", async (_, code, archive) => {
    expect(await attempt(archive, {}, where)).toMatchObject(refused(code));
  });

  it("there are more than a hundred of them, and no two are the same", () => {
    const all = [...plain, ...paths("/outside"), ...compressed].map(([, , archive]) => sha512(archive));
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeGreaterThan(100);
  });

  it("a . inside of a name is dropped, as npm does", async () => {
    const into = folder({});
    mkdirSync(join(into, "out"), { mode: 0o700 });
    writeFileSync(join(into, "a.tar"), tar({ name: "package/./lib/./a.js", content: "x" }));
    expect((await unpack(join(into, "a.tar"), join(into, "out"))).files).toMatchObject([{ path: "lib/a.js" }]);
  });

  it("a file that is there twice with the same bytes is one file, as npm used to pack the file that main names", async () => {
    const into = folder({});
    mkdirSync(join(into, "out"), { mode: 0o700 });
    const twice = ["package/./dist/index.js", "package/dist/index.js"].map((name) => ({ name, content: "x" }));
    writeFileSync(join(into, "a.tar"), tar(...twice));
    expect((await unpack(join(into, "a.tar"), join(into, "out"))).files).toMatchObject([{ path: "dist/index.js", bytes: 1 }]);
    expect(readFileSync(join(into, "out/dist/index.js"), "utf8")).toBe("x");
    const many = tar(...Array.from({ length: 4 }, () => twice[1]!));
    expect(await attempt(many, { limits: { entries: 2 } }, where)).toMatchObject(refused("ERR_ARCHIVE_LIMIT"));
  });

  it("the error names the entry, made printable and short", async () => {
    const strange = await attempt(tar({ name: "package/\u001B[2J\u202E.js", content: "x" }));
    expect(strange.entry).toBe("package/\\u{1b}[2J\\u{202e}.js");
    const long = await attempt(tar(pax({ path: `package/${"long".repeat(200)}` }), { name: "x" }));
    expect(long.entry!.length).toBeLessThan(100);
    expect(long.message).toContain("a part of it has more than 255 bytes");
  });

  it("a size that is no number is said to be one, and nothing is read by it", async () => {
    for (const size of [Buffer.alloc(12), Buffer.from("0x0000000018"), Buffer.alloc(12, 0xff)])
      expect((await attempt(tar({ name: "package/a.js", size }), {}, where)).message).toContain(
        "the header at byte 0 has a size that is no number",
      );
  });
});

it("whatever is refused, no file is left open", async () => {
  await attempt(gzip(ends[4]![2]), {}, where);
  const before = openFiles();
  for (const [, , archive] of [...compressed, ...links, ...natives]) {
    await attempt(archive, {}, where);
    await attempt(gzip(archive), {}, where);
  }
  expect(openFiles()).toBe(before);
});

describe("limits: an archive that is too much is refused as soon as that is known", () => {
  const small = { name: "package/a.js", content: "x".repeat(1_000) };
  const tooMuch = refused("ERR_ARCHIVE_LIMIT");

  it("the archive's own size", async () => {
    expect(await attempt(tar(small), { limits: { archiveBytes: 2_000 } })).toMatchObject(tooMuch);
  });

  it("the size of what it unpacks to, by what the headers say and by what comes", async () => {
    const limits = { unpackedBytes: 3_500 };
    const claims = await attempt(tar(small, { name: "package/b.js", size: 3_000 }), { limits });
    const comes = await attempt(gzip(Buffer.concat([tar(small), Buffer.alloc(4_000)])), { limits });
    expect([claims, comes]).toMatchObject([tooMuch, tooMuch]);
    expect([claims.message, comes.message]).toEqual(Array(2).fill("the archive has more than 3500 bytes when it is unpacked"));
    expect(await attempt(tar(small), { limits })).toMatchObject({ unpacked: { bytes: 1_000 }, complaints: [] });
  });

  it("the number of files and folders, those that no entry names included", async () => {
    expect(await attempt(gzip(files(11)), { limits: { entries: 10 } })).toMatchObject(tooMuch);
    expect((await attempt(gzip(files(10)), { limits: { entries: 10 } })).unpacked?.files).toHaveLength(10);
    const nested = tar({ name: "package/a/b/c/d.js" }, { name: "package/e/f/g/h.js" });
    expect(await attempt(nested, { limits: { entries: 7 } })).toMatchObject(tooMuch);
    expect((await attempt(nested, { limits: { entries: 8 } })).unpacked?.files).toHaveLength(2);
  });

  it("how deep folders lie inside each other", async () => {
    expect(await attempt(deep(33))).toMatchObject(tooMuch);
    expect((await attempt(deep(32))).unpacked?.files).toHaveLength(1);
  });

  it("how many times larger it becomes, once it is large at all", async () => {
    const zeros = gzip(tar({ name: "package/a.bin", content: Buffer.alloc(5 * 1024 * 1024) }));
    const { message, complaints } = await attempt(zeros);
    expect([message, complaints]).toEqual(["the archive has more than 200 times its size when it is unpacked", []]);
    expect((await attempt(zeros, { limits: { ratioFromBytes: 8 * 1024 * 1024 } })).unpacked?.bytes).toBe(5 * 1024 * 1024);
    expect((await attempt(zeros, { limits: { ratio: 1_100 } })).unpacked?.bytes).toBe(5 * 1024 * 1024);
  });

  it("time", async () => {
    expect(await attempt(gzip(files(100)), { limits: { ms: 0 } })).toMatchObject(refused("ERR_ARCHIVE_TIME"));
  });

  it("the caller's signal ends it with the caller's reason, and nothing is left", async () => {
    const { at, source } = place(gzip(files(100)));
    const reason = new Error("changed my mind");
    await expect(unpack(source, at.staging, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(existsSync(at.staging)).toBe(false);
  });

  it("a bomb is refused while it unpacks: 4 MB that become 4 GB take less than 50 MB of memory", async () => {
    const { at, source } = place(bomb());
    expect(statSync(source).size).toBeGreaterThan(4_000_000);
    const script = `
      import { mkdirSync } from "node:fs";
      import { unpack } from ${JSON.stringify(join(import.meta.dirname, "../../../src/install/archive/archive.ts"))};
      const [staging, source] = ${JSON.stringify([at.staging, source])};
      const outcomes = [];
      for (const limits of [{}, { ratio: 1e9 }]) {
        mkdirSync(staging, { recursive: true, mode: 0o700 });
        const before = process.memoryUsage.rss();
        const { message } = await unpack(source, staging, { limits }).catch((error) => error);
        outcomes.push({ message, grownMb: process.resourceUsage().maxRSS / 1024 - before / 1024 / 1024 });
      }
      console.log(JSON.stringify(outcomes));
    `;
    const { stdout } = await run(process.execPath, ["-C", "source", "--input-type=module", "-e", script]);
    const outcomes = JSON.parse(stdout) as { message: string; grownMb: number }[];
    expect(outcomes.map(({ message }) => message)).toEqual([
      "the archive has more than 200 times its size when it is unpacked",
      "the archive has more than 268435456 bytes when it is unpacked",
    ]);
    expect(Math.max(...outcomes.map(({ grownMb }) => grownMb))).toBeLessThan(50);
    expect(existsSync(at.staging)).toBe(false);
  });
});

/** A file of a byte, the end, and zeros: nothing but the stream itself says how many. Blocks that end at a byte's end can be repeated. */
function bomb(): Buffer {
  const start = tar({ name: "package/a.js", content: "x" });
  const [begin, megabyte] = [start, Buffer.alloc(1024 * 1024)].map((bytes) =>
    deflateRawSync(bytes, { finishFlush: constants.Z_FULL_FLUSH }),
  );
  const deflated = Buffer.concat([begin!, ...Array<Buffer>(4_096).fill(megabyte!), deflateRawSync(Buffer.alloc(0))]);
  return gzipFrame(deflated, 0, start.length);
}

describe("the staging folder", () => {
  const archive = gzip(tar({ name: "package/a.js", content: "x" }));

  it.each<[string, (at: Arena) => string]>([
    ["is missing", (at) => join(at.root, "missing")],
    ["is a file", (at) => join(at.root, "sentinel.txt")],
    ["is a link to a folder", (at) => join(at.root, "link")],
    ["is not empty", (at) => join(at.root, "outside")],
    [
      "can be written to by others",
      (at) => {
        chmodSync(at.staging, 0o777);
        return at.staging;
      },
    ],
  ])("one that %s is refused, and not touched", async (_, choose) => {
    const { at, source } = place(archive);
    const into = choose(at);
    const before = at.around();
    await expect(unpack(source, into)).rejects.toMatchObject({ code: "ERR_ARCHIVE_STAGING" });
    expect(at.around()).toEqual(before);
    expect(readdirSync(at.staging)).toEqual([]);
  });

  it("an archive that is no file is refused, without waiting for anything", async () => {
    const at = arena();
    await run("mkfifo", [join(at.root, "pipe")]);
    for (const name of ["pipe", "outside", "missing"]) {
      mkdirSync(at.staging, { recursive: true, mode: 0o700 });
      await expect(unpack(join(at.root, name), at.staging)).rejects.toMatchObject({ code: "ERR_ARCHIVE_READ" });
      expect(existsSync(at.staging)).toBe(false);
    }
  });

  it.each(["a.js", "lib"])("a link that another process puts there meanwhile, as %s, is not written through", async (name) => {
    const at = arena();
    let isPut = false;
    const signal = {
      // Asked after the folder was looked at, and before a byte of the archive is read.
      throwIfAborted: () => {
        if (!isPut) symlinkSync(join(at.root, name === "lib" ? "outside" : "sentinel.txt"), join(at.staging, name));
        isPut = true;
      },
    } as AbortSignal;
    const made = tar({ name: "package/a.js", content: "evil" }, { name: "package/lib/x.js", content: "evil" });
    expect(await attempt(made, { signal }, at)).toMatchObject(refused("ERR_ARCHIVE_COLLISION"));
    expect(isPut).toBe(true);
  });
});

it("an archive that is changed while it is read is refused, whatever it becomes", async () => {
  const [first, second] = ["one", "two"].map((content) => tar({ name: "package/a.js", content }));
  const { at, source } = place(first!);
  let reads = 0;
  // Asked before each time that something is read: a chunk, and the end, each time it is counted as well.
  const signal = { throwIfAborted: () => (++reads === 4 ? writeFileSync(source, second!) : undefined) } as AbortSignal;
  await expect(unpack(source, at.staging, { signal })).rejects.toMatchObject({ code: "ERR_ARCHIVE_READ" });
  expect(existsSync(at.staging)).toBe(false);
});

describe("good archives are unpacked byte for byte", () => {
  it("what npm pack makes of a folder, bundled dependencies included", async () => {
    const long = `lib/${"a-rather-long-folder-name/".repeat(6)}file-with-a-name-that-ustar-has-no-room-for-${"x".repeat(60)}.js`;
    const contents: Record<string, string> = {
      "package.json": JSON.stringify({
        name: "@creel/good",
        version: "1.0.0",
        bundleDependencies: ["dep"],
        dependencies: { dep: "1.0.0" },
      }),
      "openclaw.plugin.json": JSON.stringify({ id: "good" }),
      "index.js": "export default () => {};\n",
      "empty.js": "",
      "README.md": "# Good\n",
      "lib/größe-日本.js": "export const größe = 1;\n",
      [long]: "export {};\n",
      "lib/512.txt": "x".repeat(512),
      "lib/big.txt": "0123456789".repeat(50_000),
      "node_modules/dep/package.json": JSON.stringify({ name: "dep", version: "1.0.0" }),
      "node_modules/dep/index.js": "module.exports = 1;\n",
    };
    const root = folder(contents);
    chmodSync(join(root, "index.js"), 0o777);
    await run("npm", ["pack", "--offline", "--ignore-scripts", "--silent"], {
      cwd: root,
      env: { ...process.env, npm_config_cache: folder({}) },
    });
    const archive = readFileSync(join(root, "creel-good-1.0.0.tgz"));
    const { at, unpacked, complaints } = await attempt(archive);
    expect(complaints).toEqual([]);
    expect(textsOf(at)).toEqual(contents);
    expect(unpacked!.bytes).toBe(Object.values(contents).reduce((total, text) => total + Buffer.byteLength(text), 0));
    expect(unpacked!.integrity).toBe(`sha512-${sha512(archive)}`);
  });

  it.each(["gnu", "ustar", "posix"])("what tar makes of it in the format %s", async (format) => {
    const long = `${"folder/".repeat(10)}${"n".repeat(format === "ustar" ? 90 : 120)}.js`;
    const contents = { "a.js": "a", "ä/ö.js": "ö", [long]: "long" };
    const root = folder(Object.fromEntries(Object.entries(contents).map(([name, text]) => [`some-folder/${name}`, text])));
    await run("tar", [`--format=${format}`, "-czf", "made.tgz", "some-folder"], { cwd: root });
    const { at, complaints } = await attempt(readFileSync(join(root, "made.tgz")));
    expect([textsOf(at), complaints]).toEqual([contents, []]);
  });

  it("headers of POSIX, GNU and git, as far as they say nothing else about a file", async () => {
    const made = tar(
      pax({ comment: "0123456789012345678901234567890123456789" }, "g"),
      { name: "any-name/", type: "5" },
      pax({ path: "any-name/pax.js", mtime: "1.5", size: "3", "SCHILY.xattr.user.x": "a=b\nc" }),
      { name: "ignored", content: "pax" },
      longName(`any-name/${"gnu".repeat(50)}.js`),
      { name: "ignored", content: "gnu", magic: "gnu" },
      { name: "prefix.js", prefix: "any-name/in", content: "prefix" },
      { name: "any-name/old.js", type: "\0", content: "old" },
      { name: "any-name/large-size.js", content: "256", size: Buffer.from([0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3]) },
      { name: "any-name/in/", type: "5" },
      { name: "any-name/empty/", type: "5" },
    );
    const frameWithName = Buffer.from([0x1f, 0x8b, 8, 0x08, 1, 2, 3, 4, 0, 3, 0x61, 0x2e, 0x74, 0]);
    const { at, complaints } = await attempt(gzip(made, frameWithName));
    expect(complaints).toEqual([]);
    expect(textsOf(at)).toEqual({
      "pax.js": "pax",
      [`${"gnu".repeat(50)}.js`]: "gnu",
      "in/prefix.js": "prefix",
      "old.js": "old",
      "large-size.js": "256",
    });
    expect(statSync(join(at.staging, "empty")).isDirectory()).toBe(true);
  });

  it("wherever a chunk that is read from the file ends: in gzip's end, in its beginning, or in between", async () => {
    const made = tar({ name: "package/a.bin", content: createHash("shake256", { outputLength: 70_000 }).digest() });
    const frame = Buffer.from([0x1f, 0x8b, 8, 0x04, 0, 0, 0, 0, 0, 3, 0, 0]);
    const bare = gzip(made, frame).length;
    // The header's extra field, which nobody reads, makes the file as long as it is wanted.
    for (let bytes = 2 * 65_536 - 3; bytes <= 2 * 65_536 + 12; bytes++) {
      frame.writeUInt16LE(bytes - bare, 10);
      const archive = gzip(made, Buffer.concat([frame, Buffer.alloc(bytes - bare)]));
      expect([archive.length, (await attemptAndClear(archive, where)).unpacked?.bytes]).toEqual([bytes, 70_000]);
      const cut = await attemptAndClear(archive.subarray(0, -1), where);
      const longer = await attemptAndClear(Buffer.concat([archive, Buffer.alloc(1)]), where);
      expect([cut.code, longer.code]).toEqual(["ERR_ARCHIVE_TRUNCATED", "ERR_ARCHIVE_TRAILING"]);
    }
  });

  it("names and prefixes that fill their fields, or nearly", async () => {
    const lengths = [1, 99, 100].flatMap((name) => [9, 129, 130, 131, 132, 154, 155].map((prefix) => [prefix, name] as const));
    const made = lengths.map(([prefix, name]) => ({ prefix: `package/${"p".repeat(prefix - 8)}`, name: "n".repeat(name), content: "x" }));
    const { unpacked, complaints } = await attempt(tar(...made));
    const expected = made.map(({ prefix, name }) => `${prefix.slice(8)}/${name}`).toSorted();
    expect([unpacked?.files.map(({ path }) => path), complaints]).toEqual([expected, []]);
  });

  it("files that begin like a binary and are none", async () => {
    const javaClass = Buffer.concat([Buffer.from([0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 65]), Buffer.alloc(100)]);
    const contents = [javaClass, `MZ is not all that a program begins with. ${" ".repeat(100)}`, "\x7FELF", "\0asm\x01\0\0\0"];
    const made = await attempt(tar(...contents.map((content, i) => ({ name: `package/${i}`, content }))));
    expect([made.unpacked?.files.length, made.complaints]).toEqual([contents.length, []]);
  });

  it("modes of the archive are not taken over: files are for reading, by their owner alone", async () => {
    const { at } = await attempt(tar({ name: "package/bin/a.sh", content: "#!/bin/sh", mode: 0o6777 }));
    expect([statSync(join(at.staging, "bin/a.sh")).mode & 0o7777, statSync(join(at.staging, "bin")).mode & 0o7777]).toEqual([0o600, 0o700]);
  });

  it("zeros with which a tool fills up the last block of a tape are no harm", async () => {
    const { unpacked, complaints } = await attempt(gzip(Buffer.concat([tar({ name: "package/a.js" }), Buffer.alloc(8_192)])));
    expect([unpacked?.files.length, complaints]).toEqual([1, []]);
  });
});
