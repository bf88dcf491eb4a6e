/** `creel.lock`: people may read it, only Creel writes it, and it is valid as a whole or not at all. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../../src/protocol/errors.ts";
import { CreelError } from "../../src/protocol/errors.ts";
import { grantsDigest, sealOf } from "../../src/state/lock.ts";
import type { LockEntry } from "../../src/state/lock.ts";
import { lockText, parseLock } from "../../src/state/lock-file.ts";
import { openState } from "../../src/state/state.ts";
import { thrownBy } from "../support/errors.ts";
import { folder, QUICK } from "../support/files.ts";
import { factsOf, filesOf } from "./state-world.ts";

async function installed(...ids: readonly string[]) {
  const state = openState(join(folder({}, QUICK), "state"));
  await state.transaction(async (tx) => {
    for (const id of ids) await tx.put(factsOf(id), filesOf(id));
  });
  const path = join(state.dir, "creel.lock");
  const text = () => readFileSync(path, "utf8");
  const edit = (from: string | RegExp, to: string): void => writeFileSync(path, text().replace(from, to));
  return { state, path, text, edit };
}

type Json = Record<string, any>;

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
const refusal = (code: ErrorCode, ...words: readonly string[]) =>
  expect.objectContaining({
    code,
    message: expect.stringMatching(words.map((word) => `(?=.*${escaped(word)})`).join("")) as string,
  }) as Error;

describe("the lock", () => {
  it("has sorted keys, one line per fact, and the same text for the same plugins in whatever order they came", async () => {
    const [one, other] = await Promise.all([installed("b", "a", "@scope/c"), installed("@scope/c", "a", "b")]);
    expect(one.text()).toBe(other.text());
    expect(one.text()).toMatch(/^\{\n {2}"plugins": \{\n {4}"@scope\/c": \{\n {6}"accepted": \{\n {8}"at": "2026-01-02T03:04:05.678Z",\n/);
    expect(one.text().endsWith("}\n")).toBe(true);
  });

  it("changes in the lines of the plugin that changes, and in its seal", async () => {
    const { state, text } = await installed("a", "b");
    const before = text().split("\n");
    await state.transaction((tx) => tx.update("b", { enabled: false }));
    const after = text().split("\n");
    expect(after.filter((line, index) => line !== before[index]).map((line) => line.trim().split(":")[0])).toEqual([
      '"enabled"',
      '"seal"',
      '"seal"',
    ]);
  });

  it("refuses every change of a single byte, and names the file", async () => {
    const { state, path } = await installed("a");
    const bytes = readFileSync(path);
    const flips = [0x01, 0x20, 0x80, 0x07];
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= flips[at % flips.length]!;
      const error = thrownBy(() => parseLock(changed, path, undefined));
      expect(error, `byte ${at}`).toBeInstanceOf(CreelError);
      expect((error as Error).message).toContain(path);
    }
    // The same through the file, for a few.
    for (let at = 0; at < bytes.length; at += 97) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 0x01;
      writeFileSync(path, changed);
      await expect(state.load("a")).rejects.toThrow(path);
    }
    writeFileSync(path, bytes);
    await expect(state.load("a")).resolves.toMatchObject({ entry: { id: "a" } });
  });

  it("refuses bytes that were added or cut off, another encoding, and other line ends", async () => {
    const { text } = await installed("a");
    const whole = Buffer.from(text());
    const variants = [
      whole.subarray(0, -1),
      Buffer.concat([whole, Buffer.from("\n")]),
      Buffer.from(`\ufeff${text()}`),
      Buffer.from(text(), "utf16le"),
      Buffer.from(text().replaceAll("\n", "\r\n")),
      Buffer.alloc(0),
    ];
    for (const variant of variants)
      expect(thrownBy(() => parseLock(variant, "creel.lock", undefined))).toEqual(refusal("ERR_STATE_LOCK", "creel.lock"));
  });

  it("says which plugin was changed, and that its grants were", async () => {
    const { state, edit, path } = await installed("a", "b");
    edit('"https://api.example.com"', '"https://api.example.org"');
    await expect(state.read()).rejects.toEqual(refusal("ERR_STATE_LOCK", path, "plugins.a.grants"));
    const other = await installed("a", "b");
    other.edit(/"version": "1.0.0"/, '"version": "1.0.1"');
    await expect(other.state.read()).rejects.toEqual(refusal("ERR_STATE_LOCK", other.path, '"plugins.a"'));
  });

  it("refuses an entry that was taken out, put in, or given another name", async () => {
    const lock = await installed("a", "b");
    const { plugins, ...rest } = JSON.parse(lock.text()) as { plugins: Record<string, LockEntry> };
    const { a, b } = plugins as { a: LockEntry; b: LockEntry };
    const parse = (entries: Json) => () => parseLock(Buffer.from(JSON.stringify({ ...rest, plugins: entries })), "creel.lock", undefined);
    expect(thrownBy(parse({ a }))).toEqual(refusal("ERR_STATE_LOCK", '"plugins"'));
    expect(thrownBy(parse({ a, b: a }))).toEqual(refusal("ERR_STATE_LOCK", '"plugins.b.id"'));
    expect(thrownBy(parse({ a, b, c: { ...b, id: "c" } }))).toEqual(refusal("ERR_STATE_LOCK", '"plugins.c"'));
    expect(thrownBy(parse({ a, b }))).toEqual(refusal("ERR_STATE_LOCK", "text"));
  });

  it("refuses a field that is missing, unknown or too long, and names it", async () => {
    const lock = await installed("a");
    const content = JSON.parse(lock.text()) as { plugins: { a: Json } };
    const parse = (change: (entry: Json) => void) => () => {
      const copy = structuredClone(content);
      change(copy.plugins.a);
      return parseLock(Buffer.from(JSON.stringify(copy)), "creel.lock", undefined);
    };
    expect(thrownBy(parse((entry) => delete entry["budgets"]))).toEqual(refusal("ERR_STATE_LOCK", '"plugins.a.budgets"'));
    expect(thrownBy(parse((entry) => (entry["grants"].shell = true)))).toEqual(refusal("ERR_STATE_LOCK", '"plugins.a.grants"'));
    expect(thrownBy(parse((entry) => (entry["name"] = "x".repeat(10_000))))).toEqual(refusal("ERR_STATE_LOCK", '"plugins.a.name"'));
    expect(thrownBy(parse((entry) => (entry["store"] = "../../elsewhere")))).toEqual(refusal("ERR_STATE_LOCK", '"plugins.a.store"'));
  });

  it("of a later version is left alone, and says so", async () => {
    const { state, edit, path } = await installed("a");
    edit('"version": 1\n', '"version": 2\n');
    await expect(state.read()).rejects.toEqual(refusal("ERR_STATE_VERSION", path, "2"));
    await expect(state.transaction((tx) => tx.remove("a"))).rejects.toEqual(refusal("ERR_STATE_VERSION", path));
  });

  it("that is gone is not an empty one, once there were plugins", async () => {
    const { state, path } = await installed("a");
    const empty = openState(join(folder({}, QUICK), "state"));
    expect(await empty.read()).toEqual(new Map());
    await empty.transaction(() => {});
    expect(await empty.read()).toEqual(new Map());
    rmSync(path);
    await expect(state.read()).rejects.toEqual(refusal("ERR_STATE_LOCK", path, "missing"));
    await expect(state.transaction((tx) => tx.put(factsOf("b"), filesOf("b")))).rejects.toEqual(refusal("ERR_STATE_LOCK", "missing"));
  });

  it("a field that would not be read back is not written, and the state stays as it was", async () => {
    const { state, text } = await installed("a");
    const before = text();
    const bad: [field: string, change: Json][] = [
      ["name", { name: "red \u001b[31m" }],
      ["source.spec", { source: { ...factsOf("a").source, spec: "a\nb" } }],
      ["id", { id: "../a" }],
      ["accepted.at", { accepted: { ...factsOf("a").accepted, at: "yesterday" } }],
      ["budgets.plugin", { budgets: { plugin: { heap: { value: 1, origin: "host" } }, hooks: {} } }],
    ];
    for (const [field, change] of bad)
      await expect(state.transaction((tx) => tx.put({ ...factsOf("a"), ...change }, filesOf("a", 1)))).rejects.toEqual(
        refusal("ERR_STATE_ENTRY", `"${field}"`),
      );
    const hooks = JSON.parse('{"__proto__":{"wallMs":{"value":1,"origin":"x"},"cpuMs":{"value":1,"origin":"x"}}}') as object;
    await expect(state.transaction((tx) => tx.update("a", { budgets: { plugin: {}, hooks: hooks as {} } }))).rejects.toBeInstanceOf(
      CreelError,
    );
    expect(text()).toBe(before);
  });
});

describe("a lock that is sealed with a key", () => {
  it("is read with that key, and with no other, and not without one", async () => {
    const dir = join(folder({}, QUICK), "state");
    const keyed = openState(dir, { key: Buffer.from("a key that lies elsewhere") });
    await keyed.transaction((tx) => tx.put(factsOf("a"), filesOf("a")));
    expect([...(await keyed.read()).keys()]).toEqual(["a"]);
    await expect(openState(dir).read()).rejects.toEqual(refusal("ERR_STATE_LOCK", "sealed with a key"));
    await expect(openState(dir, { key: Buffer.from("another") }).read()).rejects.toEqual(refusal("ERR_STATE_LOCK", "another key"));
  });

  it("cannot be sealed again without the key", async () => {
    const dir = join(folder({}, QUICK), "state");
    const keyed = openState(dir, { key: Buffer.from("a key that lies elsewhere") });
    await keyed.transaction((tx) => tx.put(factsOf("a"), filesOf("a")));
    const { seal: _, ...entry } = (await keyed.read()).get("a")!;
    const wider = { ...entry, grants: { ...entry.grants, env: ["HOME"] } };
    const forged = { ...wider, grantsDigest: grantsDigest(wider) };
    writeFileSync(join(dir, "creel.lock"), lockText(new Map([["a", { ...forged, seal: sealOf(forged, undefined) }]]), undefined));
    await expect(keyed.load("a")).rejects.toEqual(refusal("ERR_STATE_LOCK", "creel.lock", '"plugins.a"', "not sealed with a key"));
    // Without a key, that is a valid lock: lock.ts says what a seal is worth.
    expect((await openState(dir).read()).get("a")!.grants.env).toEqual(["HOME"]);
  });
});
