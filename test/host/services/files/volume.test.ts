/**
 * The host's copy of a plugin's files is authoritative: it checks every change that a cell reports, however it is
 * written.
 */
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { localStores } from "../../../../src/host/stores.ts";
import { LIMITS } from "../../../../src/protocol/limits.ts";
import type { SentVolume, VolumeChange } from "../../../../src/protocol/messages/files.ts";
import type { Plugin } from "../../../../src/host/plugins/plugin.ts";
import { GatewayTime } from "../../../../src/host/services/gateway-time.ts";
import { Volumes } from "../../../../src/host/services/files/volumes.ts";
import { folder } from "../../../support/files.ts";
import { recorder } from "../../../support/host.ts";

const opened: Volumes[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((volumes) => volumes.close()));
});

const owner = (id: string, fs: true | { maxBytes: number } | undefined = true) =>
  ({ id, grants: fs && { fs }, home: { cell: 7 }, gatewayTime: new GatewayTime() }) as unknown as Plugin;
const MINE = owner("mine");

function volumesIn(stateDir?: string) {
  const refused: [plugin: string, cell: number][] = [];
  const { logger, lines } = recorder();
  const volumes = new Volumes({ stores: localStores(stateDir), logger, refused: ({ id }, cell) => void refused.push([id, cell]) });
  opened.push(volumes);
  const write = async (changes: readonly unknown[], plugin = MINE, cell = 7) => {
    volumes.arrives(plugin, cell);
    return volumes.write(plugin, cell, changes);
  };
  const contents = async (plugin = MINE) =>
    (JSON.parse(await volumes.contents(plugin)) as SentVolume).files.map(([path, , kind, content]) =>
      kind === "t" ? [path, "u", Buffer.from(content, "base64").toString()] : kind === "d" ? [path, kind] : [path, kind, content],
    );
  return { volumes, write, contents, refused, lines };
}
const put = (path: string, offset: number, data: string, encoding: "u" | "b" = "u"): VolumeChange => [
  "put",
  path,
  offset,
  1000,
  encoding,
  data,
];
const code = (promise: Promise<unknown>) =>
  promise.then(
    () => "fine",
    (error: { code: string }) => error.code,
  );

describe("what a cell says it did to its files", () => {
  it("is written down in order, and read back as it was", async () => {
    const { write, contents } = volumesIn();
    await write([["mkdir", "a"], put("a/log", 0, "one\n"), put("a/log", 4, "zwölf\n"), put("bytes", 0, "AP8=", "b")]);
    await write([put("a/log", 11, "drei\n"), ["mkdir", "b"], ["mv", "a", "b/c"], put("b/c/log", 13, "EI")]);
    expect(await contents()).toEqual([
      ["b", "d"],
      ["b/c", "d"],
      ["b/c/log", "u", "one\nzwölf\ndrEI"],
      ["bytes", "b", "AP8="],
    ]);
    await write([["rm", "b"]]);
    expect(await contents()).toEqual([["bytes", "b", "AP8="]]);
  });

  it("is written down whole or not at all", async () => {
    const { write, contents, refused } = volumesIn();
    await write([put("a", 0, "before")]);
    expect(await code(write([put("a", 0, "after"), ["mkdir", "b"], ["rm", "none"]]))).toBe("ERR_VOLUME_REFUSED");
    expect(await contents()).toEqual([["a", "u", "before"]]);
    expect(refused).toEqual([["mine", 7]]);
  });

  it.each<[what: string, change: readonly unknown[]]>([
    ["a folder that is there", ["mkdir", "d"]],
    ["a folder in none", ["mkdir", "none/e"]],
    ["a folder in a file", ["mkdir", "f/e"]],
    ["a file that is a folder", put("d", 0, "x")],
    ["a file in none", put("none/e", 0, "x")],
    ["a file with a gap", put("f", 9, "x")],
    ["a new file with a gap", put("g", 1, "x")],
    ["the removal of nothing", ["rm", "none"]],
    ["a move of nothing", ["mv", "none", "e"]],
    ["a move over something", ["mv", "f", "d"]],
    ["a move into itself", ["mv", "d", "d/e"]],
    ["a path upwards", put("../x", 0, "x")],
    ["a path upwards in between", put("d/../../x", 0, "x")],
    ["an absolute path", put("/etc/x", 0, "x")],
    ["no path", put("", 0, "x")],
    ["a dot", put("d/./x", 0, "x")],
    ["two slashes", put("d//x", 0, "x")],
    ["a slash at the end", ["mkdir", "e/"]],
    ["a zero in a name", put("a\0b", 0, "x")],
    ["half a character", put("\ud800", 0, "x")],
    ["a name that is too long", put("x".repeat(256), 0, "x")],
    ["a name whose bytes are too many", put("ü".repeat(128), 0, "x")],
    ["a path that is too long", put(`d/${"x/".repeat(300)}x`, 0, "x")],
    ["a path that is too deep", ["mv", "f", `${"x/".repeat(40)}f`]],
    ["something else", ["chmod", "f", 7]],
    ["a number as a path", ["rm", 5]],
    ["an offset that is none", ["put", "f", -1, 0, "u", "x"]],
    ["another encoding", ["put", "f", 0, 0, "utf16", "x"]],
    ["a time that is none", ["put", "f", 0, "now", "u", "x"]],
    ["an object", [{ path: "f" }]],
  ])("is refused if it is %s, and then nothing has happened", async (_, change) => {
    const { write, contents, refused } = volumesIn();
    await write([["mkdir", "d"], put("f", 0, "x")]);
    const before = await contents();
    expect(await code(write([change]))).toMatch(/^ERR_(?:VOLUME_REFUSED|SERVICE_ARGUMENT)$/);
    expect(await contents()).toEqual(before);
    expect(refused).toHaveLength(1);
  });

  it("is refused if there are too many changes, or none", async () => {
    const { write } = volumesIn();
    expect(await code(write([]))).toBe("ERR_SERVICE_ARGUMENT");
    expect(await code(write(Array.from({ length: LIMITS.files.changes + 1 }, (_, n) => ["mkdir", `${n}`])))).toBe("ERR_SERVICE_ARGUMENT");
  });

  it("may have any name that is one", async () => {
    const { write, contents } = volumesIn();
    const names = [
      "__proto__",
      "constructor",
      "-rf",
      "'; DROP TABLE file; --",
      "%2e%2e",
      "C:\\x",
      "e\u0301",
      "\u00e9",
      "\u{1f600}",
      "\u0001",
      " ",
      "a'\"b",
    ];
    await write(names.map((name) => put(name, 0, name)));
    const found = (await contents()).map(([path, , text]) => [path, text]);
    expect(new Set(found.map(([path]) => path))).toEqual(new Set(names));
    expect(found.filter(([path, text]) => path !== text)).toEqual([]);
  });

  it("a name that begins with another's is not below it", async () => {
    const { write, contents } = volumesIn();
    await write([["mkdir", "a"], put("a/x", 0, ""), put("a.b", 0, ""), put("a0", 0, ""), put("a-", 0, "")]);
    await write([["rm", "a"]]);
    expect((await contents()).map(([path]) => path)).toEqual(["a-", "a.b", "a0"]);
  });
});

describe("the quota", () => {
  it("holds for a cell that does not keep to it, in one go and in many", async () => {
    const { write, contents, refused } = volumesIn();
    const plugin = owner("small", { maxBytes: 10 });
    await write([put("a", 0, "12345")], plugin);
    expect(await code(write([put("b", 0, "123456")], plugin))).toBe("ERR_VOLUME_REFUSED");
    expect(await code(write([put("a", 5, "6"), put("a", 6, "78901")], plugin))).toBe("ERR_VOLUME_REFUSED");
    await write([put("a", 5, "67890")], plugin);
    expect(await code(write([put("a", 10, "1")], plugin))).toBe("ERR_VOLUME_REFUSED");
    // Bytes, not characters.
    await write([put("a", 0, "")], plugin);
    expect(await code(write([put("a", 0, "üüüüüü")], plugin))).toBe("ERR_VOLUME_REFUSED");
    await write([["rm", "a"], put("b", 0, "1234567890")], plugin);
    expect(await contents(plugin)).toEqual([["b", "u", "1234567890"]]);
    expect(refused).toHaveLength(4);
  });

  it("counts files, and what their names take", async () => {
    const { write } = volumesIn();
    const all = Array.from({ length: LIMITS.files.files }, (_, n) => put(`${n}`, 0, ""));
    for (let at = 0; at < all.length; at += LIMITS.files.changes) await write(all.slice(at, at + LIMITS.files.changes));
    expect(await code(write([put("one more", 0, "")]))).toBe("ERR_VOLUME_REFUSED");
    await write([["rm", "0"], put("one more", 0, "")]);
    const named = volumesIn();
    const long = "n".repeat(250);
    await named.write([
      ["mkdir", long],
      ["mkdir", `${long}/${long}`],
    ]);
    const count = Math.ceil(LIMITS.files.pathsChars / 510);
    const deep = Array.from({ length: count }, (_, n) => put(`${long}/${long}/${String(n).padStart(8, "0")}`, 0, ""));
    const fates = [];
    for (let at = 0; at < deep.length; at += LIMITS.files.changes)
      fates.push(await code(named.write(deep.slice(at, at + LIMITS.files.changes))));
    expect(fates.at(-1)).toBe("ERR_VOLUME_REFUSED");
  });

  it("holds in the cell that a plugin lives in; one that it has left writes nothing", async () => {
    const { write, contents, refused, lines } = volumesIn();
    expect(await code(write([put("a", 0, "late")], MINE, 6))).toBe("ERR_STORE_FAILED");
    const next = { ...MINE, home: { cell: 8 } } as Plugin;
    expect(await code(write([put("b", 0, "x")], next, 8))).toBe("fine");
    const replaced = { ...MINE, isRetired: true } as Plugin;
    expect(await code(write([put("c", 0, "late")], replaced))).toBe("ERR_STORE_FAILED");
    expect([await contents(), refused, lines.map(({ level }) => level)]).toEqual([[["b", "u", "x"]], [], ["warn", "warn"]]);
  });

  it("of what is written in a while ends a flood", async () => {
    const { write } = volumesIn();
    const change = put("a", 0, "x".repeat(200_000));
    let written = 0;
    while ((await code(write([change]))) === "fine") written += 200_000;
    expect(written).toBeGreaterThan(LIMITS.files.writeBytes);
    expect(written).toBeLessThan(2 * LIMITS.files.writeBytes);
  });

  it("a folder that is moved or removed counts as the files in it, and the gateway's event loop turns meanwhile", async () => {
    const { write, contents } = volumesIn();
    const files = 1_000;
    const made: VolumeChange[] = [["mkdir", "d0"], ...Array.from({ length: files }, (_, n) => put(`d0/${n}`, 0, ""))];
    for (let at = 0; at < made.length; at += LIMITS.files.changes) await write(made.slice(at, at + LIMITS.files.changes));
    let turns = 0;
    const counter = setInterval(() => (turns += 1), 0);
    const moves = Array.from({ length: 200 }, (_, n): VolumeChange => ["mv", `d${n % 2}`, `d${(n + 1) % 2}`]);
    expect(await code(write(moves))).toBe("ERR_VOLUME_REFUSED");
    clearInterval(counter);
    expect(turns).toBeGreaterThan(10);
    // All of a batch or none.
    expect((await contents())[0]).toEqual(["d0", "d"]);
    const { write: other, contents: left } = volumesIn();
    await other([["mkdir", "a"], ["mkdir", "a/b"], put("a/b/c", 0, "x"), put("a0", 0, "kept")]);
    await other([["rm", "a"]]);
    expect(await left()).toEqual([["a0", "u", "kept"]]);
  });

  it("without the grant there is nothing", async () => {
    const { volumes, write } = volumesIn();
    const plugin = owner("none", undefined);
    expect(await code(write([put("a", 0, "x")], { ...plugin, grants: {} }))).toBe("ERR_GRANT_MISSING");
    expect(await code(volumes.contents({ ...plugin, grants: {} }))).toBe("ERR_GRANT_MISSING");
  });
});

describe("a volume on disk", () => {
  it("survives a restart, separate for each plugin, and only its owner may read it", async () => {
    const state = folder({});
    const first = volumesIn(state);
    await first.write([put("a", 0, "mine")]);
    await first.write([put("a", 0, "theirs")], owner("Mine"));
    await first.volumes.close();
    const second = volumesIn(state);
    expect(await second.contents()).toEqual([["a", "u", "mine"]]);
    expect(await second.contents(owner("Mine"))).toEqual([["a", "u", "theirs"]]);
    expect(await second.contents(owner("@scope/../mine"))).toEqual([]);
    const files = readdirSync(join(state, "volumes"));
    expect(files.filter((name) => name.endsWith(".sqlite"))).toHaveLength(3);
    for (const name of files) expect(statSync(join(state, "volumes", name)).mode & 0o077).toBe(0);
  });

  it("has no file of a name that a plugin chose", async () => {
    const state = folder({});
    const { write } = volumesIn(state);
    await write([put("evil.sh", 0, "rm -rf /"), ["mkdir", ".ssh"], put(".ssh/authorized_keys", 0, "key")]);
    expect(readdirSync(state, { recursive: true }).filter((name) => /evil|ssh/.test(String(name)))).toEqual([]);
  });

  it("that is broken is set aside and logged, and the plugin starts with an empty one", async () => {
    const state = folder({});
    const first = volumesIn(state);
    await first.write([put("a", 0, "x")]);
    await first.volumes.close();
    const name = readdirSync(join(state, "volumes")).find((one) => one.endsWith(".sqlite"));
    writeFileSync(join(state, "volumes", name!), "this is no database, whatever its name says. ".repeat(100));
    const second = volumesIn(state);
    expect(await second.contents()).toEqual([]);
    expect(second.lines.map(({ message }) => message).join()).toContain("was set aside");
    expect(readdirSync(join(state, "volumes")).some((one) => one.includes(".broken-"))).toBe(true);
  });

  it("that cannot be written fails with a text that names no path, and the plugin is not blamed", async () => {
    const state = folder({ volumes: "a file where a folder should be" });
    const { write, refused, lines } = volumesIn(state);
    const error = await write([put("a", 0, "x")]).catch((one: unknown) => one as Error);
    expect(error).toMatchObject({ code: "ERR_STORE_FAILED" });
    expect((error as Error).message).not.toContain(state);
    expect(refused).toEqual([]);
    expect(lines).toHaveLength(1);
  });

  it("is closed with the host: later requests are refused, and no plugin is blamed", async () => {
    const state = folder({});
    const { volumes, write, refused } = volumesIn(state);
    await write([put("a", 0, "x")]);
    await volumes.close();
    expect(await code(write([put("a", 0, "y")]))).toBe("ERR_HOST_CLOSED");
    expect(refused).toEqual([]);
    expect(readdirSync(join(state, "volumes")).filter((name) => name.endsWith("-wal"))).toEqual([]);
  });

  it("is not made for a plugin that never reads or writes a file", async () => {
    const state = folder({});
    const { volumes } = volumesIn(state);
    await volumes.sync(MINE);
    expect(existsSync(join(state, "volumes"))).toBe(false);
  });
});

describe("a log of many lines", () => {
  it("costs one row per line: it is kept in pieces, which are joined now and then", async () => {
    const { write, contents } = volumesIn();
    let text = "";
    for (let n = 0; n < 3 * LIMITS.files.pieces; n++) {
      const line = `line ${n} ü\n`;
      await write([put("log", Buffer.byteLength(text), line)]);
      text += line;
    }
    expect(await contents()).toEqual([["log", "u", text]]);
    await write([put("log", 5, "!")]);
    expect(await contents()).toEqual([["log", "u", "line !"]]);
  });
});
