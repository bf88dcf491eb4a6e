/** Node's `fs` inside a cell: a plugin's own files, a volume that outlives cells, sandboxes and gateways, and nothing of the machine's. */
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PluginSpec } from "creel";
import { LIMITS } from "../../src/protocol/limits.ts";
import { does } from "../support/cell.ts";
import { folder } from "../support/files.ts";
import { contract, next, open, recorder, sharedHost } from "../support/host.ts";
import type { Isolation } from "../support/host.ts";

/** As an actor (see actors.ts), with files. */
const source = (place = "") => `
import fs from "node:fs";
import { createRequire, isBuiltin, builtinModules } from "node:module";
import promises from "fs/promises";
const state = { born: Math.random() };
const AsyncFunction = (async () => {}).constructor;
const meta = { url: import.meta.url, dirname: import.meta.dirname, filename: import.meta.filename, __dirname, __filename };
Object.assign(globalThis, { fs, promises, createRequire, isBuiltin, builtinModules, meta, state });
${place}
export default (api) => api.on("message_sending", (event) => {
  const code = event.do?.[api.id];
  if (code !== undefined) return AsyncFunction("api", code.slice(6))(api);
});`;
const hooks = { cpuMs: 3_000, timeoutMs: 20_000 };
const withFiles = (id: string, more: Partial<PluginSpec> = {}) =>
  ({ id, source: source(), hooks, grants: { fs: true }, ...more }) as PluginSpec;

const outside = folder({ "secret.json": `{ "key": "s3cr3t" }`, "deep/secret.txt": "s3cr3t" });

function packageFolder(): string {
  const root = folder({
    "package.json": `{ "name": "assets", "version": "1.2.3" }`,
    "creel.plugin.json": `{ "id": "assets", "main": "src/index.ts" }`,
    "src/index.ts": source(`globalThis.asset = () => JSON.parse(fs.readFileSync(new URL("./asset.json", import.meta.url), "utf8"));`),
    "src/asset.json": `{ "ü": "asset" }`,
    "src/other.ts": "export const unused = 1;",
    "data/words.txt": "un\ndeux\n",
    ".env": "TOKEN=s3cr3t",
    ".git/config": "s3cr3t",
    "node_modules/dep/index.js": "module.exports = 's3cr3t'",
    "__proto__/x.txt": "p",
  });
  writeFileSync(join(root, "data/bytes.bin"), new Uint8Array([0, 1, 254, 255]));
  writeFileSync(join(root, "data/huge.bin"), new Uint8Array(LIMITS.plugin.packageBytes));
  symlinkSync(join(outside, "secret.json"), join(root, "data/link.json"));
  symlinkSync(outside, join(root, "data/linked"));
  symlinkSync(join(root, ".env"), join(root, "data/env"));
  symlinkSync(join(root, "data/words.txt"), join(root, "data/inner.txt"));
  return root;
}

/** A plugin that is a file, in a folder that is not its own. */
function singleFile(): string {
  const root = folder({ "single.ts": `import "./beside.ts";\n${source()}`, "beside.ts": "globalThis.beside = 1;", "secret.txt": "s3cr3t" });
  mkdirSync(join(root, "sub"));
  writeFileSync(join(root, "sub/secret.txt"), "s3cr3t");
  return join(root, "single.ts");
}

/** One change after the other, by chance, in a small world where they meet. */
const RANDOM_WORK = `
let seed = SEED * 7919;
const chance = (below) => (seed = (seed * 48271) % 2147483647) % below;
const names = ["a", "b", "ü", "__proto__"];
const path = () => Array.from({ length: 1 + chance(3) }, () => names[chance(names.length)]).join("/");
const data = () => [() => "x".repeat(chance(50)), () => "ü\\ud83d\\ude00\\n".repeat(chance(20)), () => "\\u0001".repeat(chance(9)), () => new Uint8Array(chance(40)).fill(chance(256)), () => "long ü ".repeat(chance(3_000)), () => ""][chance(6)]();
const open = (flags, use) => { const fd = fs.openSync(path(), flags); try { use(fd); } finally { fs.closeSync(fd); } };
const jobs = [
  () => fs.writeFileSync(path(), data()), () => fs.writeFileSync(path(), data()), () => fs.appendFileSync(path(), data()), () => fs.appendFileSync(path(), data()),
  () => fs.mkdirSync(path(), { recursive: chance(2) === 0 }), () => fs.mkdirSync(path()), () => fs.renameSync(path(), path()), () => fs.renameSync(path(), path()),
  () => fs.rmSync(path(), { recursive: chance(3) === 0 }), () => fs.unlinkSync(path()), () => fs.rmdirSync(path()), () => fs.truncateSync(path(), chance(60)),
  () => fs.copyFileSync(path(), path()), () => fs.cpSync(path(), path(), { recursive: true }), () => open("r+", (fd) => fs.writeSync(fd, data(), chance(30))),
  () => open("a", (fd) => { fs.writeSync(fd, "1"); fs.writeSync(fd, "2"); }), () => open("w+", (fd) => { fs.writeSync(fd, data()); fs.ftruncateSync(fd, chance(30)); }),
  () => { const from = path(); fs.renameSync(from, "/tmp/x"); fs.renameSync("/tmp/x", path()); }, () => open("r+", (fd) => { fs.rmSync(path(), { recursive: true, force: true }); fs.writeSync(fd, "late"); }),
];
const work = () => jobs[chance(jobs.length)]();
`;

const config = (stateDir: string) => ({ stateDir });

contract("files", (isolation: Isolation) => {
  const stateDir = folder({});
  const { logger, lines } = recorder();
  const shared = sharedHost(isolation, {
    logger,
    config: config(stateDir),
    plugins: [
      withFiles("kept", { hooks: { ...hooks, cpuMs: 300 } }),
      withFiles("other"),
      withFiles("bare", { grants: {} }),
      withFiles("small", { grants: { fs: { maxBytes: 1_000 } } }),
      withFiles("liar"),
      { path: packageFolder(), hooks },
      { path: singleFile(), hooks },
      { id: "idle", source: "export default () => {}", grants: { fs: true } },
    ],
  });
  const say = (id: string, body: string) => does(shared.host, id, body);
  const ends = async (id: string, body: string) => {
    const replaced = next(shared.host, "plugin", ({ plugin, status }) => plugin === id && status === "ready");
    await shared.host.run("message_sending", { to: "x", content: "", do: { [id]: `async ${body}` } }, { channelId: "chat" });
    await replaced;
  };

  it("what was written is there in the next call, at once and after waiting", async () => {
    expect(
      await say(
        "kept",
        `fs.mkdirSync("a/b", { recursive: true });
         fs.writeFileSync("a/b/text", "one ü\\n");
         fs.appendFileSync("/home/plugin/a/b/text", "two\\n");
         const now = fs.readFileSync("a/b/text", "utf8");
         await promises.writeFile("bytes", new Uint8Array([0, 255]));
         return [now, [...await promises.readFile("bytes")]];`,
      ),
    ).toEqual(["one ü\ntwo\n", [0, 255]]);
    expect(
      await say(
        "kept",
        `return [fs.readdirSync(".", { recursive: true }), fs.readFileSync("a/b/text", "utf8"), fs.statSync("bytes").size]`,
      ),
    ).toEqual([["a", "bytes", "a/b", "a/b/text"], "one ü\ntwo\n", 2]);
  });

  it("each plugin has its own", async () => {
    await say("kept", `fs.writeFileSync("mine", "kept")`);
    expect(await say("other", `fs.writeFileSync("mine", "other"); return [fs.readdirSync("."), fs.readFileSync("mine", "utf8")]`)).toEqual([
      ["mine"],
      "other",
    ]);
    expect(await say("kept", `return fs.readFileSync("mine", "utf8")`)).toBe("kept");
  });

  it("a cell that was rebuilt has what its predecessor wrote in the calls before, and what is only in memory is gone", async () => {
    const born = await say(
      "kept",
      `fs.writeFileSync("before", "x".repeat(300_000)); fs.renameSync("before", "after"); fs.writeFileSync("/tmp/scratch", "x"); return state.born`,
    );
    await ends("kept", `fs.writeFileSync("in the same turn", "x"); for (;;);`);
    expect(
      await say(
        "kept",
        `return [state.born === ${String(born)}, fs.readFileSync("after", "utf8").length, fs.existsSync("before"), fs.existsSync("/tmp/scratch"), fs.existsSync("in the same turn")]`,
      ),
    ).toEqual([false, 300_000, false, false, false]);
    await say("kept", `fs.appendFileSync("after", "y"); fs.unlinkSync("mine");`);
    await shared.host.reload("kept");
    expect(await say("kept", `return [fs.readFileSync("after", "utf8").length, fs.existsSync("mine")]`)).toEqual([300_001, false]);
  });

  it("a gateway that starts again finds it, and one without a stateDir keeps it as long as it is open", async () => {
    const state = folder({});
    for (const expected of ["", "1"]) {
      await using host = await open(isolation, { config: config(state), plugins: [withFiles("kept")] });
      expect(
        await does(
          host,
          "kept",
          `const old = fs.existsSync("log") ? fs.readFileSync("log", "utf8") : ""; fs.appendFileSync("log", "1"); return old`,
        ),
      ).toBe(expected);
    }
    await using host = await open(isolation, { plugins: [withFiles("kept")] });
    await does(host, "kept", `await promises.writeFile("a", "1")`);
    if (isolation === "process") {
      const restarted = next(host, "restart");
      process.kill(host.pids()[0]!, "SIGKILL");
      await restarted;
    }
    expect(await does(host, "kept", `return fs.readdirSync(".")`)).toEqual(["a"]);
    await host.reload("kept");
    expect(await does(host, "kept", `return fs.readdirSync(".")`)).toEqual(["a"]);
  });

  it("whoever waited goes on as the call that waited", async () => {
    const line = next(shared.host, "log", ({ plugin }) => plugin === "kept");
    const outcome = await shared.host.run(
      "message_sending",
      {
        to: "x",
        content: "",
        do: { kept: `async await promises.writeFile("waited", "x"); console.log("written"); return { content: "!" }` },
      },
      { channelId: "chat" },
    );
    expect(await line).toMatchObject({ text: "written", runId: outcome.runId });
  });

  it("without the grant: home is empty and says what to set, /tmp can be used, the package can be read", async () => {
    const grant = /^EACCES: permission denied, (?:open|mkdir) '\S+' \(the plugin has no volume: the operator has not granted fs\)$/;
    expect(await say("bare", `return fs.readdirSync("/home/plugin")`)).toEqual([]);
    for (const body of [`fs.writeFileSync("x", "1")`, `fs.mkdirSync("/home/plugin/d")`, `await promises.appendFile("log", "1")`])
      expect(await say("bare", body)).toEqual({ code: "EACCES", message: expect.stringMatching(grant) });
    expect(
      await say("bare", `fs.writeFileSync("/tmp/a", "1"); return [fs.readFileSync("/tmp/a", "utf8"), fs.readdirSync("/plugin")]`),
    ).toEqual(["1", []]);
    expect(await say("bare", `fs.writeFileSync("/tmp/b", "x".repeat(${LIMITS.files.tmpBytes}))`)).toMatchObject({ code: "ENOSPC" });
  });

  it("a quota is there from the first byte too many, and what is removed is free again", async () => {
    expect(
      await say(
        "small",
        `fs.writeFileSync("a", "x".repeat(600));
         const codes = [];
         for (const work of [() => fs.writeFileSync("b", "x".repeat(401)), () => fs.appendFileSync("a", "ü".repeat(201)), () => fs.truncateSync("a", 1_001), () => fs.copyFileSync("a", "c"), () => fs.writeFileSync("a", "x".repeat(1_001))])
           try { work(); codes.push("fine"); } catch (error) { codes.push(error.code); }
         fs.unlinkSync("a");
         await promises.writeFile("d", "x".repeat(1_000));
         return [codes, fs.statSync("d").size];`,
      ),
    ).toEqual([["ENOSPC", "ENOSPC", "ENOSPC", "ENOSPC", "ENOSPC"], 1_000]);
    expect(shared.host.inspect("small").volume).toEqual({ maxBytes: 1_000, isPersistent: true, bytes: 1_000, files: 3 });
    expect(shared.host.inspect("bare").volume).toBeUndefined();
    await shared.host.reload("small");
    expect(await say("small", `return fs.readdirSync(".").map((name) => [name, fs.statSync(name).size])`)).toEqual([
      ["b", 0],
      ["c", 0],
      ["d", 1_000],
    ]);
  });

  it("no spelling of a path leads to a file of the machine's", async () => {
    const spellings = [process.execPath, join(outside, "secret.json"), "/etc/passwd", "/proc/self/environ", "/dev/null", stateDir];
    const tricks = [
      "../../../../../../etc/passwd",
      "/plugin/../etc/passwd",
      "/home/plugin/../../etc/passwd",
      "//etc/passwd",
      "/tmp/../../etc/passwd",
      "/plugin/..%2f..%2fetc/passwd",
      "~/.ssh/id_rsa",
      "\\\\etc\\\\passwd",
    ];
    const found = (await say(
      "kept",
      `const said = [];
       for (const path of ${JSON.stringify([...spellings, ...tricks])})
         for (const form of [path, new TextEncoder().encode(path), path[0] === "/" ? new URL("file://" + path) : path])
           try { said.push(String(fs.readFileSync(form)).slice(0, 20)); } catch (error) { said.push(error.code); }
       return said;`,
    )) as string[];
    expect(found).toHaveLength(3 * (spellings.length + tricks.length));
    expect(found.filter((code) => !/^(?:ENOENT|EISDIR|ENOTDIR|ERR_INVALID_FILE_URL_PATH)$/.test(code))).toEqual([]);
    expect(
      await say(
        "kept",
        `return ["/", "/home", "/proc", "/etc"].map((path) => { try { return fs.readdirSync(path); } catch (error) { return error.code; } })`,
      ),
    ).toEqual([["home", "plugin", "tmp"], ["plugin"], "ENOENT", "ENOENT"]);
    expect(await say("kept", `fs.symlinkSync("/etc/passwd", "link")`)).toMatchObject({ code: "EPERM" });
    expect(await say("kept", `fs.writeFileSync("/etc/x", "1")`)).toMatchObject({ code: "ENOENT" });
    expect(await say("kept", `fs.writeFileSync("/x", "1")`)).toMatchObject({ code: "EACCES" });
  });

  it("a package's own files can be read, and only read", async () => {
    expect(
      await say(
        "assets",
        `return [asset(), fs.readFileSync("/plugin/data/words.txt", "utf8"), [...fs.readFileSync("/plugin/data/bytes.bin")]]`,
      ),
    ).toEqual([{ ü: "asset" }, "un\ndeux\n", [0, 1, 254, 255]]);
    expect(await say("assets", `return meta`)).toEqual({
      url: "file:///plugin/src/index.ts",
      dirname: "/plugin/src",
      filename: "/plugin/src/index.ts",
      __dirname: "/plugin/src",
      __filename: "/plugin/src/index.ts",
    });
    expect(await say("assets", `fs.writeFileSync("/plugin/data/words.txt", "x")`)).toMatchObject({ code: "EROFS" });
    expect(await say("assets", `fs.rmSync("/plugin", { recursive: true })`)).toMatchObject({ code: "EACCES" });
  });

  it("of a package's folder: no links that lead out, nothing hidden, nothing of a package manager", async () => {
    const found = (await say("assets", `return fs.readdirSync("/plugin", { recursive: true })`)) as string[];
    expect(found.toSorted()).toEqual(
      [
        "__proto__",
        "__proto__/x.txt",
        "creel.plugin.json",
        "data",
        "data/bytes.bin",
        "data/huge.bin",
        "data/inner.txt",
        "data/words.txt",
        "package.json",
        "src",
        "src/asset.json",
        "src/index.ts",
        "src/other.ts",
      ].toSorted(),
    );
    expect(await say("assets", `return fs.readFileSync("/plugin/data/inner.txt", "utf8")`)).toBe("un\ndeux\n");
    const tried = `["data/link.json", "data/linked/secret.json", "data/env", ".env", ".git/config", "node_modules/dep/index.js"].map((path) => { try { return fs.readFileSync("/plugin/" + path, "utf8"); } catch (error) { return error.code; } })`;
    expect(new Set((await say("assets", `return ${tried}`)) as string[])).toEqual(new Set(["ENOENT"]));
    expect(await say("assets", `fs.readFileSync("/plugin/node_modules/dep/data.json")`)).toMatchObject({
      message: expect.stringContaining("only the code is there"),
    });
  });

  it("a file that was too large to be sent says so", async () => {
    expect(await say("assets", `return [fs.statSync("/plugin/data/huge.bin").size, fs.existsSync("/plugin/data/huge.bin")]`)).toEqual([
      LIMITS.plugin.packageBytes,
      true,
    ]);
    expect(await say("assets", `fs.readFileSync("/plugin/data/huge.bin")`)).toEqual({
      code: "EFBIG",
      message: expect.stringContaining("the file was not sent into the sandbox"),
    });
  });

  it("a plugin that is a file has what it imports, and nothing else of the folder it lies in", async () => {
    expect(await say("single", `return [fs.readdirSync("/plugin", { recursive: true }), meta.url]`)).toEqual([
      ["beside.ts", "single.ts"],
      "file:///plugin/single.ts",
    ]);
  });

  it("createRequire gives JSON of the package and Node's modules, and says what it does not", async () => {
    const require = `const require = createRequire(meta.url ?? "/plugin/x.js");`;
    expect(
      await say(
        "assets",
        `${require} return [require("../package.json").version, require("./asset"), require("node:fs") === fs, require("path").basename("/a/b")]`,
      ),
    ).toEqual(["1.2.3", { ü: "asset" }, true, "b"]);
    expect(
      await say(
        "assets",
        `${require} return [require.resolve("../package.json"), require.resolve("fs"), isBuiltin("node:fs"), isBuiltin("dgram"), builtinModules.includes("fs/promises")]`,
      ),
    ).toEqual(["/plugin/package.json", "fs", true, false, true]);
    expect(await say("assets", `${require} require("lodash")`)).toMatchObject({
      code: "MODULE_NOT_FOUND",
      message: expect.stringContaining("packages are bundled"),
    });
    expect(await say("assets", `${require} require("./other.ts")`)).toMatchObject({
      message: expect.stringContaining("at run time only JSON can be"),
    });
    expect(await say("assets", `${require} require("../../../etc/passwd")`)).toMatchObject({ code: "MODULE_NOT_FOUND" });
  });

  it("what a cell has none of says so in a sentence", async () => {
    for (const name of ["watch", "watchFile"])
      expect(await say("kept", `fs.${name}("x")`)).toMatchObject({
        message: expect.stringContaining(`fs.${name} is not available inside the sandbox: `),
      });
  });

  it("a cell that lies about its files is refused, and goes on with what is true", async () => {
    const born = await say("liar", `await promises.writeFile("true", "1"); return state.born`);
    await ends(
      "liar",
      `Array.prototype.toJSON = function () { return this[0] === "put" ? { lie: true } : this; }; fs.writeFileSync("false", "2");`,
    );
    expect(await say("liar", `return [state.born === ${String(born)}, fs.readdirSync(".")]`)).toEqual([false, ["true"]]);
    expect(lines.filter(({ fields }) => fields.plugin === "liar").map(({ message }) => message)).toContain(
      "a plugin's files were not written, its cell is loaded again",
    );
  });

  it("whoever does not use files has no volume, whatever was granted", () => {
    expect(readdirSync(join(stateDir, "volumes")).filter((name) => name.startsWith("idle"))).toEqual([]);
    expect(existsSync(join(stateDir, "volumes"))).toBe(true);
  });
});

/** The same code whatever is around the lane, and much of it. */
describe("the cell's copy and the host's", () => {
  const { logger, lines } = recorder();
  const shared = sharedHost("thread", {
    logger,
    plugins: [withFiles("many"), withFiles("flood"), withFiles("busy", { grants: { fs: { maxBytes: 30_000 } } })],
  });
  const say = (id: string, body: string) => does(shared.host, id, body);

  it("so many files, and no more; the host has them all", async () => {
    const max = LIMITS.files.files;
    expect(
      await say(
        "many",
        `for (let n = 0; n < ${max}; n++) fs.writeFileSync("f" + n, ""); try { fs.writeFileSync("more", ""); } catch (error) { return error.code; }`,
      ),
    ).toBe("ENOSPC");
    await shared.host.reload("many");
    expect(await say("many", `return [fs.readdirSync(".").length, fs.existsSync("f" + ${max - 1})]`)).toEqual([max, true]);
  });

  it("what is written over again in the same turn is not told to the host", async () => {
    const twice = `for (let n = 0; n < 50; n++) for (const name of ["a", "b"]) { fs.writeFileSync(name, n + "x".repeat(1_000_000)); fs.writeFileSync(name, "" + n); }`;
    expect(await say("flood", `${twice} return fs.readFileSync("a", "utf8")`)).toBe("49");
  });

  it("who changes things without end is stopped by the cell itself, before the host has to", async () => {
    expect(await say("flood", `for (let n = 0; n < 20_000; n++) { fs.mkdirSync("d"); fs.rmdirSync("d"); }`)).toMatchObject({
      code: "EDQUOT",
    });
    await shared.host.reload("flood");
    expect(await say("flood", `return [fs.readdirSync(".").slice(0, 2), fs.readFileSync("b", "utf8")]`)).toEqual([["a", "b"], "49"]);
    expect(lines.filter(({ fields, level }) => fields.plugin === "flood" && level === "error")).toEqual([]);
  });

  it("whatever is done, in whatever order, the host's copy and the cell's are the same", async () => {
    const dump = `const dump = () => fs.readdirSync(".", { recursive: true }).map((path) => fs.statSync(path).isFile() ? [path, fs.readFileSync(path, "latin1")] : [path]);`;
    for (let seed = 1; seed <= 10; seed++) {
      const done = await say(
        "busy",
        `${dump} ${RANDOM_WORK}
         let fine = 0;
         for (let turn = 0; turn < 3; turn++) {
           for (let n = 0; n < 60; n++) try { work(); fine += 1; } catch (error) { if (!/^(?:E[A-Z]+|ERR_\\w+)$/.test(error.code)) throw error; }
           await (turn === 1 ? promises.writeFile("waited" + turn, "") : undefined);
         }
         return [fine, dump()];`.replace("SEED", String(seed)),
      );
      expect(done).toEqual([expect.any(Number), expect.any(Array)]);
      await shared.host.reload("busy");
      expect([seed, await say("busy", `${dump} return dump()`)]).toEqual([seed, (done as [number, unknown])[1]]);
      expect((done as [number, unknown])[0]).toBeGreaterThan(20);
    }
    expect(lines.filter(({ fields, level }) => fields.plugin === "busy" && level !== "debug" && level !== "info")).toEqual([]);
  });
});
