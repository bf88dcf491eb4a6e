/**
 * The state folder: what is loaded is what was installed, byte for byte; a change is committed as a whole or not at
 * all.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import { openState } from "../../src/state/state.ts";
import type { State, StateOptions } from "../../src/state/state.ts";
import { readStored } from "../../src/state/store.ts";
import type { Content } from "../../src/state/store.ts";
import { collectGarbage } from "../../src/sandbox/lane/cell/garbage.ts";
import { folder, QUICK } from "../support/files.ts";
import { Child } from "./child.ts";
import { factsOf, filesOf, inventory } from "./state-world.ts";

const empty = (options?: StateOptions) => openState(join(folder({}, QUICK), "state"), options);

async function withOne(more?: Readonly<Record<string, string>>, options?: StateOptions) {
  const state = empty(options);
  const entry = await state.transaction((tx) => tx.put(factsOf("a"), filesOf("a", 0, more)));
  return { state, entry, root: join(state.dir, "store", entry.store) };
}

const stored = ({ dir }: State) => readdirSync(join(dir, "store"));

describe("an installed plugin", () => {
  it("is loaded with its code, map, manifest and entry, and its package stays on the disk", async () => {
    const { state, root } = await withOne({ "own.json": "[]", "package/src/deep/index.ts": "export {}", "package/package.json": "{}" });
    const { entry, code, map, manifest, files, folder: at } = await state.load("a");
    expect(entry).toMatchObject({ ...factsOf("a"), bundle: { bytes: code.length } });
    expect(code).toContain("api.on");
    expect(JSON.parse(map)).toMatchObject({ version: 3 });
    expect(manifest).toEqual({ id: "a", version: "1.0.0" });
    expect([...files.keys()].toSorted()).toEqual(["bundle.js", "bundle.js.map", "manifest.json", "own.json"]);
    expect(at).toBe(root);
    expect(readFileSync(join(at, "package/src/deep/index.ts"), "utf8")).toBe("export {}");
  });

  it("can be checked with sha256sum, and the folder has the name of its list", async () => {
    const { root, entry } = await withOne({ "package/a b.txt": "x" });
    expect(execFileSync("sha256sum", ["-c", "SHA256SUMS"], { cwd: root, encoding: "utf8" })).toContain("package/a b.txt: OK");
    expect(`sha256-${execFileSync("sha256sum", ["SHA256SUMS"], { cwd: root, encoding: "utf8" }).split(" ")[0]}`).toBe(entry.store);
  });

  it("has read-only files in a folder that only its owner may enter", async () => {
    const { state, root } = await withOne();
    expect(statSync(join(root, "bundle.js")).mode & 0o777).toBe(0o444);
    expect(statSync(state.dir).mode & 0o777).toBe(0o700);
    expect(statSync(join(state.dir, "creel.lock")).mode & 0o777).toBe(0o600);
  });

  it("does not load when any byte of bundle, map, manifest, package or list was changed; the message names the file", async () => {
    const { state, root } = await withOne({ "package/index.ts": "export default () => {};" });
    for (const name of ["bundle.js", "bundle.js.map", "manifest.json", "package/index.ts", "SHA256SUMS"]) {
      const path = join(root, name);
      const bytes = readFileSync(path);
      chmodSync(path, 0o644);
      for (let at = 0; at < bytes.length; at += name === "bundle.js" ? 3 : 7) {
        const changed = Buffer.from(bytes);
        changed[at]! ^= 1 << (at % 8);
        writeFileSync(path, changed);
        await expect(state.load("a"), `${name}, byte ${at}`).rejects.toMatchObject({
          code: "ERR_STATE_CHANGED",
          params: { plugin: "a", file: path },
        });
      }
      writeFileSync(path, bytes);
    }
    const error = await state.load("a");
    expect(error.entry.id).toBe("a");
  });

  it("does not load when a file was added, removed, cut off, or is a link now", async () => {
    const { state, root } = await withOne({ "package/a.ts": "a" });
    const refused = (name: string) => expect(state.load("a")).rejects.toThrow(`Creel did not load the plugin "a": ${join(root, name)} `);
    mkdirSync(join(root, "package/more"));
    writeFileSync(join(root, "package/more/b.ts"), "b");
    await refused("package/more/b.ts");
    rmSync(join(root, "package/more"), { recursive: true });
    renameSync(join(root, "bundle.js"), join(state.dir, "elsewhere.js"));
    await refused("bundle.js");
    symlinkSync(join(state.dir, "elsewhere.js"), join(root, "bundle.js"));
    await refused("bundle.js");
    rmSync(join(root, "bundle.js"));
    mkdirSync(join(root, "bundle.js"));
    await refused("bundle.js");
    rmSync(join(root, "bundle.js"), { recursive: true });
    writeFileSync(join(root, "bundle.js"), "");
    await refused("bundle.js");
    rmSync(root, { recursive: true });
    await refused("SHA256SUMS");
  });

  it("with a large file is loaded too, and does not load when a byte of that was changed", async () => {
    const { state, root } = await withOne({ "own.json": JSON.stringify("x".repeat(LIMITS.state.readAtOnceBytes)) });
    const { files } = await state.load("a");
    expect(files.get("own.json")!.length).toBe(LIMITS.state.readAtOnceBytes + 2);
    const path = join(root, "own.json");
    chmodSync(path, 0o600);
    writeFileSync(path, readFileSync(path, "utf8").replace("xx", "xy"));
    await expect(state.load("a")).rejects.toThrow("own.json");
  });

  it("with many files does not hold up the event loop until all of them are read", async () => {
    const { state, entry } = await withOne(Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`package/${at}.txt`, `${at}`])));
    // A clock that advances a millisecond with every read.
    let nowMs = performance.now();
    const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs++);
    onTestFinished(() => clock.mockRestore());
    const loop = { turns: 0, isOver: false };
    const reading = readStored(state.dir, entry.store, () => true).finally(() => (loop.isOver = true));
    for (; !loop.isOver; loop.turns++) await setImmediate();
    expect((await reading).size).toBe(103);
    expect(loop.turns).toBeGreaterThanOrEqual(Math.floor(103 / LIMITS.state.readingMs));
  });

  it("is mended by being installed again", async () => {
    const { state, root } = await withOne();
    chmodSync(join(root, "bundle.js"), 0o644);
    writeFileSync(join(root, "bundle.js"), "evil()");
    await state.transaction((tx) => tx.put(factsOf("a"), filesOf("a")));
    expect(await inventory(state)).toEqual(["a@0"]);
    expect(readdirSync(join(state.dir, "staging"))).toEqual([]);
  });

  it("whose files are there already, and whole, takes those, and leaves nothing of its own behind", async () => {
    const { state, entry } = await withOne();
    await state.transaction((tx) => tx.put(factsOf("a"), filesOf("a")));
    expect([stored(state), readdirSync(join(state.dir, "staging"))]).toEqual([[entry.store], []]);
  });

  it("that does not exist is reported as missing", async () => {
    const { state } = await withOne();
    await expect(state.load("b")).rejects.toMatchObject({ code: "ERR_STATE_UNKNOWN", message: 'no plugin "b" is installed' });
    await expect(state.transaction((tx) => tx.remove("b"))).rejects.toMatchObject({ code: "ERR_STATE_UNKNOWN" });
    await expect(empty().load("b")).rejects.toMatchObject({ code: "ERR_STATE_UNKNOWN" });
  });
});

describe("a transaction", () => {
  it("installs, updates and removes several plugins at once", async () => {
    const { state } = await withOne();
    await state.transaction(async (tx) => {
      await tx.put(factsOf("b", 1), filesOf("b", 1));
      await tx.put(factsOf("a", 2), filesOf("a", 2));
      tx.update("b", { enabled: false });
      expect(tx.list().map(({ id }) => id)).toEqual(["a", "b"]);
      // Others see nothing of it yet.
      expect(await inventory(state)).toEqual(["a@0"]);
    });
    expect(await inventory(state)).toEqual(["a@2", "b@1-"]);
    await state.transaction((tx) => tx.remove("a"));
    expect(await inventory(state)).toEqual(["b@1-"]);
  });

  it("that throws has changed nothing", async () => {
    const { state } = await withOne();
    const before = readFileSync(join(state.dir, "creel.lock"));
    const failing = state.transaction(async (tx) => {
      await tx.put(factsOf("b"), filesOf("b"));
      tx.remove("a");
      throw new Error("on second thoughts");
    });
    await expect(failing).rejects.toThrow("on second thoughts");
    // An error of the work itself stays as it is, even if it is about files.
    await expect(state.transaction(() => readFileSync(join(state.dir, "nothing")))).rejects.toMatchObject({ code: "ENOENT" });
    expect(readFileSync(join(state.dir, "creel.lock"))).toEqual(before);
    expect(await inventory(state)).toEqual(["a@0"]);
  });

  it("cannot be used after it has ended", async () => {
    const { state } = await withOne();
    const tx = await state.transaction((given) => given);
    expect(() => tx.remove("a")).toThrow("the transaction has ended");
    expect(await inventory(state)).toEqual(["a@0"]);
  });

  it("that changes the grants changes their digest, and nothing of the bundle", async () => {
    const { state, entry } = await withOne();
    const after = await state.transaction((tx) => tx.update("a", { grants: { env: ["HOME"] } }));
    expect(after.grantsDigest).not.toBe(entry.grantsDigest);
    expect(after.bundle).toEqual(entry.bundle);
    expect((await state.load("a")).entry).toEqual(after);
  });

  it("refuses files that would leave their folder, or be two in one, or are not there", async () => {
    const state = empty();
    const put = (more: Record<string, string>) => state.transaction((tx) => tx.put(factsOf("a"), filesOf("a", 0, more)));
    for (const name of ["../x", "/x", "a/../../x", "a//b", "./a", "a\\b", "a\nb", "SHA256SUMS", "\ud800", "x".repeat(1_000)])
      await expect(put({ [name]: "" })).rejects.toMatchObject({ code: "ERR_STATE_ENTRY" });
    await expect(put({ "package/A.ts": "", "package/a.ts": "" })).rejects.toThrow("twice");
    const files = filesOf("a");
    files.set("bundle.js", Buffer.from([0xff]));
    await expect(state.transaction((tx) => tx.put(factsOf("a"), files))).rejects.toThrow("not UTF-8");
    files.delete("bundle.js");
    await expect(state.transaction((tx) => tx.put(factsOf("a"), files))).rejects.toThrow('"files.bundle.js" is not valid: it is missing');
    expect(stored(state)).toEqual([]);
  });

  it("in a folder that cannot be one says what to do", async () => {
    const root = folder({ state: "a file" });
    const state = openState(join(root, "state"));
    await expect(state.transaction(() => {})).rejects.toMatchObject({ code: "ERR_STATE_IO" });
    await expect(state.read()).rejects.toMatchObject({ code: "ERR_STATE_IO" });
  });
});

describe("a folder that no plugin refers to any more", () => {
  it("is kept for a while, for those who have just read the lock, and then removed by the next change", async () => {
    const { state, entry } = await withOne();
    await state.transaction((tx) => tx.put(factsOf("a", 1), filesOf("a", 1)));
    expect(stored(state)).toHaveLength(2);
    const old = new Date(Date.now() - 3_600_000);
    utimesSync(join(state.dir, "retired", entry.store), old, old);
    await state.transaction((tx) => tx.update("a", { enabled: false }));
    expect(stored(state)).toEqual([(await state.read()).get("a")!.store]);
    expect(readdirSync(join(state.dir, "retired"))).toEqual([]);
  });

  it("is kept if it is used again meanwhile, and its time begins anew", async () => {
    const { state, entry } = await withOne();
    await state.transaction((tx) => tx.remove("a"));
    const old = new Date(Date.now() - 3_600_000);
    utimesSync(join(state.dir, "retired", entry.store), old, old);
    await state.transaction((tx) => tx.put(factsOf("a"), filesOf("a")));
    await state.transaction((tx) => tx.remove("a"));
    expect(stored(state)).toEqual([entry.store]);
    expect(await state.collect()).toBe(0);
    expect(await openState(state.dir, { retiredMs: 0 }).collect()).toBe(1);
    expect(stored(state)).toEqual([]);
  });

  it("goes with what an interrupted change has left", async () => {
    const { state } = await withOne();
    mkdirSync(join(state.dir, "staging/half/package"), { recursive: true });
    writeFileSync(join(state.dir, "staging/half/package/x"), "x");
    await state.collect();
    expect(readdirSync(join(state.dir, "staging"))).toEqual([]);
    expect(existsSync(join(state.dir, "mutex.json"))).toBe(false);
  });
});

describe("a workspace", () => {
  it("is an empty folder on the same disk, and is gone when it was used", async () => {
    const { state } = await withOne();
    using workspace = await state.workspace();
    expect(readdirSync(workspace.path)).toEqual([]);
    expect(statSync(workspace.path).dev).toBe(statSync(join(state.dir, "store")).dev);
    writeFileSync(join(workspace.path, "index.ts"), "export {}");
    // Neither changes nor other workspaces touch it.
    await state.transaction(async (tx) => {
      await tx.put(
        factsOf("b"),
        new Map<string, Content>([...filesOf("b"), ["package/index.ts", { path: join(workspace.path, "index.ts") }]]),
      );
    });
    const other = await openState(state.dir).workspace();
    other[Symbol.dispose]();
    other[Symbol.dispose]();
    expect(readdirSync(workspace.path)).toEqual(["index.ts"]);
    expect(readFileSync(join((await state.load("b")).folder, "package/index.ts"), "utf8")).toBe("export {}");
    workspace[Symbol.dispose]();
    expect(readdirSync(join(state.dir, "work"))).toEqual([]);
  });

  it("of a process that was killed is removed by the next change, and not before", async () => {
    const state = empty();
    const child = new Child().order({ kind: "work", dir: state.dir });
    await child.said(1);
    const path = child.lines[0]!;
    await state.collect();
    expect(readdirSync(path)).toEqual(["fetched"]);
    child.kill();
    await child.gone();
    expect(readdirSync(path)).toEqual(["fetched"]);
    await state.collect();
    expect(readdirSync(join(state.dir, "work"))).toEqual([]);
  });

  it("of which only the path is remembered is still its owner's", async () => {
    const state = empty();
    const { path } = await state.workspace();
    await setImmediate();
    collectGarbage();
    await state.collect();
    expect(readdirSync(path)).toEqual([]);
  });

  it("does not lend files that are links", async () => {
    const state = empty();
    using workspace = await state.workspace();
    symlinkSync("/etc/hostname", join(workspace.path, "link"));
    const files = new Map<string, Content>([...filesOf("a"), ["package/link", { path: join(workspace.path, "link") }]]);
    await expect(state.transaction((tx) => tx.put(factsOf("a"), files))).rejects.toMatchObject({ code: "ERR_STATE_IO" });
    expect(await state.read()).toEqual(new Map());
  });
});
