/** What the doctor finds wrong, each kind once, with a place and something to do about it; and that it finds nothing where nothing is wrong. */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { configCheck } from "../../src/cli/doctor/config-check.ts";
import type { Check } from "../../src/cli/doctor/check.ts";
import { referenceChecks } from "../../src/cli/doctor/references.ts";
import { bundlerChecks, clockCheck, diskCheck, isolatedVmCheck, nodeCheck, spaceCheck } from "../../src/cli/doctor/runtime.ts";
import { socketChecks } from "../../src/cli/doctor/socket-check.ts";
import { folderChecks, lockChecks, storeChecks } from "../../src/cli/doctor/state-check.ts";
import { bundleFiles } from "../../src/state/bundle-files.ts";
import { SERVE_PROTOCOL } from "../../src/protocol/serve.ts";
import { openState } from "../../src/state/state.ts";
import type { State } from "../../src/state/state.ts";
import { folder, QUICK, write } from "../support/files.ts";
import { factsOf } from "../state/state-world.ts";

const brief = (checks: readonly Check[]) => checks.map(({ status, what }) => `${status}: ${what}`);
/** Whatever is not well has something to be done about it. */
function expectFixes(checks: readonly Check[]): void {
  for (const { status, fix } of checks) expect(fix === undefined ? "ok" : status).toBe(status);
}

async function installed(...ids: string[]): Promise<State> {
  const state = openState(join(folder({}, QUICK), "state"));
  const bundle = { code: "module.exports = () => {};", map: "{}", bytes: 26, digest: "", builtins: [], readsFiles: false, own: "{}" };
  await state.transaction(async (tx) => {
    for (const id of ids) await tx.put(factsOf(id), bundleFiles(bundle, { id }));
  });
  return state;
}

describe("the ground", () => {
  it("an old Node, a full disk, a clock that was never set or was set back", async () => {
    expect(nodeCheck("v24.1.0").status).toBe("ok");
    expect(nodeCheck("v22.9.0")).toMatchObject({ status: "broken", fix: expect.stringContaining("Node 24") as string });
    expect([2 ** 40, 2 ** 28, 2 ** 20].map((bytes) => spaceCheck("/x", bytes).status)).toEqual(["ok", "warn", "broken"]);
    expect((await diskCheck(folder({}))).area).toBe("disk");
    const now = Date.parse("2026-11-16");
    expect(
      [clockCheck([], now), clockCheck([now + 1_000], now), clockCheck([now + 86_400_000], now), clockCheck([], 0)].map(
        ({ status }) => status,
      ),
    ).toEqual(["ok", "ok", "warn", "broken"]);
  });

  it("the bundler: nothing while it has a binary for this machine; without one, that no plugin can be installed", () => {
    expect(bundlerChecks()).toEqual([]);
    expect(bundlerChecks(() => "")).toMatchObject([{ status: "broken", fix: expect.stringContaining("npm install") as string }]);
  });

  it("isolated-vm: the one that is there makes isolates; one without its binary, or with a broken one, does not", async () => {
    expect(await isolatedVmCheck(false)).toMatchObject({
      status: "ok",
      what: expect.stringMatching(/7\.0\.1 .*(?:prebuilt|built on)/) as string,
    });
    // What a plugin's answer has proven needs no trial, and is told in the same words.
    expect(await isolatedVmCheck(true)).toEqual(await isolatedVmCheck(false));
    const home = folder({});
    const real = join(import.meta.dirname, "../../node_modules/isolated-vm");
    for (const name of ["package.json", "isolated-vm.js"]) cpSync(join(real, name), join(home, name));
    mkdirSync(join(home, "node_modules"));
    symlinkSync(join(import.meta.dirname, "../../node_modules/node-gyp-build"), join(home, "node_modules/node-gyp-build"));
    expect(await isolatedVmCheck(false, home)).toMatchObject({ status: "broken", fix: expect.stringContaining("npm rebuild") as string });
    write(home, { "build/Release/isolated_vm.node": "not a binary" });
    expect(await isolatedVmCheck(false, home)).toMatchObject({
      status: "broken",
      what: expect.stringContaining("does not work") as string,
    });
  });
});

const check = (text: string) => {
  const file = join(folder({ "creel.json": text }), "creel.json");
  const found = configCheck(file);
  return {
    found,
    file,
    at: (line: number) => `${file}:${line}`,
    said: found.checks.map(({ status, what, where, fix }) => [status, what, where, fix]),
  };
};

describe("a creel.json", () => {
  it("every problem has its line, what is expected, and the key that was meant", () => {
    const { said, at, found } = check(`{
      // the walls
      "sandbox": { "walls": "requird",
        "memory": 12 },
      "limits": { "heapMb": "32" },
      "plugins": {
        "entires": {},
        "enabled": "yes",
        "entries": { "a": { "grants": { "kv": 7, "sesion": [] }, "hook": {} } }
      },
      "$schema": "x"
    }`);
    expect(found.isValid).toBe(false);
    expect(said).toEqual(
      expect.arrayContaining([
        ["broken", expect.stringMatching(/^sandbox\.walls: /), at(3), expect.stringContaining('write "auto" or "none" or "required"')],
        ["broken", expect.stringMatching(/^sandbox\.memory: unknown key/), at(4), expect.any(String)],
        ["broken", expect.stringMatching(/^limits\.heapMb: /), at(5), expect.stringContaining("write a number")],
        ["broken", expect.stringMatching(/^plugins\.enabled: /), at(8), expect.stringContaining("write true or false")],
        ["broken", expect.stringMatching(/^plugins\.entries\.a\.grants\.kv: /), at(9), expect.stringContaining("true, or an object")],
        ["broken", 'plugins.entries.a.grants.sesion: unknown key; did you mean "session"?', at(9), 'write "session"'],
        [
          "warn",
          'plugins.entries.a.hook: Creel does not know this key; did you mean "hooks"?',
          at(9),
          expect.stringContaining('write "hooks"'),
        ],
      ]),
    );
    // The right one is there, too: it is not that one that was misspelt. And what is not near to anything is somebody else's.
    expect(said.some(([, what]) => /entires|schema/.test(what!))).toBe(false);
  });

  it("approvals as OpenClaw has them are a warning, which says what they mean and how to do without", () => {
    const { said, at, found } = check(`{
      "approvals": { "plugin": {
        "compat": "first-wins" } }
    }`);
    expect(found.isValid).toBe(true);
    expect(said).toEqual([
      ["warn", expect.stringContaining("asked about the first request alone"), at(3), expect.stringContaining("take the key out")],
    ]);
    expect(check(`{ "approvals": { "plugin": { "compat": "last-wins" } } }`).found.isValid).toBe(false);
  });

  it("grants by kind are a warning with the same by key to write instead, beside those that are there", () => {
    const { said, at, found } = check(`{ "plugins": { "entries": {
      "a": { "permissions": ["wasm"],
        "grants": { "kv": true, "fetch": ["https://a.example"], "session": ["get"] } },
      "b": { "permissions": ["kv"] } } } }`);
    expect(found.isValid).toBe(true);
    const fix = 'write "permissions": ["wasm","fetch:https://a.example","kv","session:get"] instead';
    const sorted = said.map(([status, what, where, one]) => [status, what, where, one?.split(/[[\],]/).toSorted()]);
    const what = "plugins.entries.a.grants is an older form of permissions, which is still read";
    expect(sorted).toEqual([["warn", what, at(3), fix.split(/[[\],]/).toSorted()]]);
  });

  it("that is not JSON, or is not there, is broken; a good one and none are not", () => {
    expect(check(`{\n"a": 1\n"b": 2 }`).said).toEqual([
      ["broken", expect.stringContaining("line 3"), expect.stringMatching(/:3$/), expect.any(String)],
    ]);
    expect(configCheck("/nowhere/creel.json").checks).toMatchObject([
      { status: "broken", what: expect.stringContaining("ENOENT") as string },
    ]);
    expect(check(`{ "stateDir": "./state", }`).said.map(([status]) => status)).toEqual(["ok"]);
    expect(configCheck(undefined).checks.map(({ status }) => status)).toEqual(["ok"]);
  });

  it("paths, secrets and ids that lead nowhere are said with their line", async () => {
    const { found, at } = check(`{
      "plugins": { "load": { "paths": ["./gone"] },
        "entries": { "wether": {} } },
      "secrets": { "token": { "env": "CREEL_TEST_NO_SUCH_VARIABLE", "origins": ["https://api.example.com"], "header": "x-key" } }
    }`);
    const checks = await referenceChecks(found, folder({}), new Map([["weather", {}]]));
    expect(checks.map(({ status, where }) => [status, where])).toEqual([
      ["broken", at(2)],
      ["broken", at(4)],
      ["warn", at(3)],
    ]);
    expect(brief(checks).join("\n")).toMatch(/\.\/gone does not exist[^]*CREEL_TEST_NO_SUCH_VARIABLE[^]*did you mean "weather"/);
    expectFixes(checks);
  });
});

describe("a plugin's configuration", () => {
  it("that is not what its manifest says it takes is broken, with its line, and its value is not repeated", async () => {
    const { found, at } = check(`{
      "plugins": { "entries": {
        "weather": { "config": {
          "units": "sixpence" } },
        "off": { "enabled": false, "config": { "units": 1 } }
      } } }`);
    const manifest = { id: "x", configSchema: { type: "object", required: ["town"], properties: { units: { enum: ["c", "f"] } } } };
    const manifests = { weather: manifest, off: manifest, plain: { id: "plain" }, changed: undefined };
    const checks = await referenceChecks(found, folder({}), new Map<string, unknown>(Object.entries(manifests)));
    expect(checks.map(({ status, what, where }) => [status, what, where])).toEqual([
      ["broken", "plugins.entries.weather.config.town is missing", at(3)],
      ["broken", 'plugins.entries.weather.config.units must be one of "c", "f"', at(4)],
    ]);
    expectFixes(checks);
  });
});

describe("a state folder", () => {
  it("that is as it was left is sound", async () => {
    const state = await installed("a", "b");
    const { checks, entries } = await lockChecks(state);
    expect(brief(checks)).toEqual(["ok: 2 of 2 installed plugins are byte for byte what was accepted"]);
    expect(entries.map(({ id }) => id)).toEqual(["a", "b"]);
    expect((await folderChecks(state.dir)).map(({ status }) => status)).toEqual(["ok"]);
    expect((await storeChecks(state.dir)).map(({ status }) => status)).toEqual(["ok"]);
  });

  it("every plugin whose files differ from the lock is named, with the file; a disabled one is a warning", async () => {
    const state = await installed("a", "b", "c");
    const paths = Array.from((await state.read()).values(), ({ store }) => join(state.dir, "store", store));
    // All three have the same files but for their names: each has its own folder.
    expect(new Set(paths).size).toBe(3);
    chmodSync(join(paths[0]!, "bundle.js"), 0o644);
    writeFileSync(join(paths[0]!, "bundle.js"), "module.exports = () => {}; // more");
    rmSync(join(paths[1]!, "own.json"));
    await state.transaction((tx) => void tx.update("b", { enabled: false }));
    const { checks } = await lockChecks(state);
    expect(checks).toMatchObject([
      { status: "broken", where: join(paths[0]!, "bundle.js"), what: expect.stringContaining('"a"') as string },
      { status: "warn", where: join(paths[1]!, "own.json"), what: expect.stringContaining('"b"') as string },
    ]);
    expectFixes(checks);
  });

  it("a lock that does not open is broken; folders that nobody refers to, and unfinished work, are warnings", async () => {
    const state = await installed("a");
    mkdirSync(join(state.dir, "store", `sha256-${"0".repeat(64)}`));
    mkdirSync(join(state.dir, "work", "left"));
    expect((await lockChecks(state)).checks.map(({ status }) => status)).toEqual(["ok", "warn", "warn"]);
    writeFileSync(join(state.dir, "creel.lock"), "{}");
    const { checks } = await lockChecks(state);
    expect(checks).toMatchObject([
      { status: "broken", area: "lock", where: join(state.dir, "creel.lock"), fix: expect.any(String) as string },
    ]);
  });

  it.runIf(process.getuid?.() === 0)("that is on a read-only file system is broken, with its path", async (test) => {
    const state = await installed("a");
    const program = `import { folderChecks } from ${JSON.stringify(new URL("../../src/cli/doctor/state-check.ts", import.meta.url).href)};
      console.log(JSON.stringify(await folderChecks(${JSON.stringify(state.dir)})));`;
    const script = `mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$2" -C source --disable-warning=ExperimentalWarning --input-type=module -e "$3"`;
    const args = ["--mount", "sh", "-c", script, "sh", state.dir, process.execPath, program];
    const { stdout, stderr } = spawnSync("unshare", args, { encoding: "utf8", cwd: join(import.meta.dirname, "../..") });
    test.skip(/^(?:mount|unshare): /m.test(stderr), "no file system can be mounted here");
    expect([stderr, JSON.parse(stdout)]).toMatchObject(["", [{ status: "broken", where: state.dir, fix: expect.any(String) as string }]]);
  });

  it("that others can enter is a warning, that they can write is broken, and so is a link in it", async () => {
    const state = await installed("a");
    chmodSync(state.dir, 0o755);
    expect((await folderChecks(state.dir)).map(({ status, fix }) => [status, fix])).toEqual([["warn", `chmod go-rwx ${state.dir}`]]);
    chmodSync(state.dir, 0o700);
    chmodSync(join(state.dir, "creel.lock"), 0o622);
    symlinkSync(folder({}), join(state.dir, "kv"));
    expect((await folderChecks(state.dir)).map(({ status, where }) => [status, where])).toEqual([
      ["broken", join(state.dir, "creel.lock")],
      ["broken", join(state.dir, "kv")],
    ]);
  });

  it("databases that are damaged, or were set aside, are named; others are not touched", async () => {
    const dir = folder({ "kv/b.sqlite": "this is no database, though it has some length", "volumes/c.sqlite.broken-1-abc": "x" }, QUICK);
    const good = new DatabaseSync(join(dir, "kv", "a.sqlite"));
    good.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)");
    const damaged = join(dir, "schedule.sqlite");
    const second = new DatabaseSync(damaged);
    second.exec("CREATE TABLE t (x); CREATE INDEX i ON t (x)");
    for (let n = 0; n < 2_000; n++) second.exec(`INSERT INTO t VALUES ('${"x".repeat(40)}${n}')`);
    second.close();
    const bytes = readFileSync(damaged);
    bytes.fill(0x5a, 4096 * 5, 4096 * 8);
    writeFileSync(damaged, bytes);
    const checks = await storeChecks(dir);
    expect(checks.map(({ status, where }) => [status, where])).toEqual([
      ["broken", damaged],
      ["broken", join(dir, "kv", "b.sqlite")],
      ["warn", join(dir, "volumes", "c.sqlite.broken-1-abc")],
    ]);
    expectFixes(checks);
    good.close();
    expect(existsSync(join(dir, "kv", "b.sqlite"))).toBe(true);
  });
});

const project = () => {
  const dir = join(folder({}, QUICK), "s");
  mkdirSync(dir, { mode: 0o700 });
  return join(dir, "x.sock");
};

function key(socket: string): void {
  writeFileSync(`${socket}.json`, JSON.stringify({ protocol: SERVE_PROTOCOL, pid: 1, token: "t".repeat(43) }), { mode: 0o600 });
}

describe("the socket", () => {
  it("nobody is well; what is not a socket, a stale one, and a folder or a token that others can read are said", async () => {
    expect((await socketChecks("/nowhere/at/all.sock")).map(({ status }) => status)).toEqual(["ok"]);
    const socket = project();
    expect((await socketChecks(socket)).map(({ status }) => status)).toEqual(["ok"]);
    writeFileSync(socket, "", { mode: 0o600 });
    expect(brief(await socketChecks(socket))).toEqual([`broken: ${socket} is not a socket`]);
    rmSync(socket);
    writeFileSync(`${socket}.json`, "{}");
    chmodSync(`${socket}.json`, 0o644);
    chmodSync(join(socket, ".."), 0o755);
    const open = await socketChecks(socket);
    expect(brief(open)).toEqual([
      expect.stringMatching(/^broken: .*can be entered by others/),
      expect.stringMatching(/^broken: .*mode 0644/),
    ]);
    expectFixes(open);
  });

  it("somebody who answers without a host's token is broken; with it, it is a host; when it is gone, its socket is stale", async () => {
    const socket = project();
    const server = createServer((connection) => connection.destroy());
    await new Promise<void>((done) => server.listen(socket, done));
    chmodSync(socket, 0o600);
    expect(brief(await socketChecks(socket))).toEqual([expect.stringMatching(/^broken: a process answers .* token file is missing/)]);
    key(socket);
    expect(brief(await socketChecks(socket))).toEqual([`ok: a host serves at ${socket} (process 1)`]);
    const copy = `${socket}2`;
    // The socket of a process that has died: a name that nobody listens at.
    renameSync(socket, copy);
    await new Promise((done) => server.close(done));
    const stale = await socketChecks(copy);
    expect(brief(stale)).toEqual([`warn: ${copy} is left over from a host that has ended`]);
    expectFixes(stale);
  });
});
