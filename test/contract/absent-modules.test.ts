/** Modules that the sandbox does not have: said in one sentence, before anything runs where that can be known. */
import { constants as http2Constants } from "node:http2";
import { builtinModules, isBuiltin } from "node:module";
import { expect, test } from "vitest";
import { ABSENT_MODULES } from "../../src/protocol/guest-surface/absent.ts";
import { GUEST_MODULES } from "../../src/protocol/guest-surface/surface.ts";
import { constants } from "../../src/sandbox/guest/node/http/http2-constants.ts";
import { folder } from "../support/files.ts";
import { contract, open } from "../support/host.ts";

const SOCKETS = "is not available inside the sandbox: a plugin has no datagrams; use net to a host and port that the operator grants";
const SOCKETS_PACKAGE = "node_modules/sockets/index.js";

function manifest(id: string): string {
  return JSON.stringify({ id });
}

/** Several plugins, each in its own folder. */
function files(): string {
  return folder({
    "static/openclaw.plugin.json": manifest("static"),
    "static/index.js": `import "./lib/log.js"; import repl from "repl"; export default () => repl.start();`,
    "static/lib/log.js": `import { createSocket } from "dgram"; console.log(createSocket);`,
    "static/package.json": `{ "type": "module" }`,
    "package/openclaw.plugin.json": manifest("package"),
    "package/index.js": `export default (api) => api.on("gateway_start", async () => { const { connect } = await import("sockets"); connect(); });`,
    "package/package.json": `{ "type": "module" }`,
    "package/node_modules/sockets/index.js": `"use strict";\nconst dgram_1 = require("dgram");\nexports.connect = () => dgram_1.createSocket();\n`,
    "package/node_modules/sockets/package.json": `{ "name": "sockets", "main": "index.js" }`,
    "native/openclaw.plugin.json": manifest("native"),
    "native/index.js": `import Database from "better-sqlite3"; export default () => new Database();`,
    "addon/openclaw.plugin.json": manifest("addon"),
    "addon/index.js": `import addon from "./build/addon.node"; export default () => addon();`,
    "addon/build/addon.node": "\u007fELF",
    "late/openclaw.plugin.json": manifest("late"),
    "late/index.js": `
      const attempt = (ask) => { try { ask(); return "there"; } catch (error) { return error.message; } };
      module.exports = (api) => api.registerTool({ name: "late", execute: async () => [
        attempt(() => require("child_process")), attempt(() => require("node:vm")), attempt(() => require("./addon.node")), attempt(() => require("not-installed/x")),
        attempt(() => require("path")), await import("node:path").then(({ join }) => join("a", "b")), await import("worker_threads").then(() => "there", (error) => error.message),
      ] });`,
  });
}

contract("modules that the sandbox does not have", (isolation) => {
  test("strict: are named with who needs them, why they are missing and what to use instead", async () => {
    const root = files();
    const plugins = ["static", "package", "native", "addon", "late"].map((name) => ({ path: `${root}/${name}` }));
    await using host = await open(isolation, { allowFailed: true, plugins, config: { plugins: { strict: true } } });
    const told = (id: string): string[] => {
      const { status, error, diagnostics } = host.inspect(id);
      return [status, error!.code, error!.message, ...diagnostics.filter((text) => !text.startsWith("will not"))];
    };
    expect(told("static")).toEqual([
      "failed",
      "ERR_PLUGIN_ABSENT",
      `the plugin cannot run here: the module "dgram" ${SOCKETS} (needed by lib/log.js) (and 1 more, see its diagnostics)`,
      `the module "dgram" ${SOCKETS} (needed by lib/log.js)`,
      expect.stringMatching(/^the module "repl" is not available inside the sandbox: a plugin has no terminal; .* \(needed by index.js\)$/),
    ]);
    // It would be asked for later, by a package that is loaded later: still a package for sockets.
    expect(told("package").slice(0, 3)).toEqual([
      "failed",
      "ERR_PLUGIN_ABSENT",
      `the plugin cannot run here: the module "dgram" ${SOCKETS} (needed by ${SOCKETS_PACKAGE})`,
    ]);
    const machineCode = "is a native addon, and machine code cannot be kept inside the sandbox";
    const sqlite = "use api.kv, or SQLite as WebAssembly (sql.js) with the wasm permission";
    expect(told("native")[2]).toBe(`the plugin cannot run here: "better-sqlite3" ${machineCode}; ${sqlite} (needed by index.js)`);
    expect(told("addon")[2]).toBe(
      `the plugin cannot run here: "./build/addon.node" ${machineCode}; use a package in plain JavaScript (needed by index.js)`,
    );
    expect(host.inspect("late").status).toBe("ready");
    expect((await host.call({ tool: "late" })).value).toEqual([
      expect.stringMatching(/^the module "child_process" is not available inside the sandbox: a plugin cannot start programs/),
      expect.stringMatching(/^the module "vm" is not available inside the sandbox: /),
      `"./addon.node" ${machineCode}; use a package in plain JavaScript`,
      'the package "not-installed" was not found when the plugin was bundled; install it beside the plugin',
      "there",
      "a/b",
      expect.stringMatching(/^the module "worker_threads" is not available inside the sandbox: /),
    ]);
  });

  test("load as stubs: each says so when it is used, and a gate that uses one stays shut", async () => {
    const root = folder({
      "index.ts": `
import { exec } from "node:child_process";
import runner, { spawn } from "child_process";
import { promisify } from "node:util";
import * as terminal from "node:repl";
import Database from "better-sqlite3";
import offered from "optional-peer";
import bundled from "./dist.cjs";
const run = promisify(exec);
class Session extends terminal.REPLServer {}
const told = async (use: () => unknown) => { try { await use(); return "there"; } catch (error) { return (error as Error).message; } };
export default (api: any) => {
  api.on("before_tool_call", async () => { await run("true"); return { block: false }; });
  api.registerTool({ name: "uses", execute: () => Promise.all([
    told(() => run("ls")), told(() => runner.execSync("ls")), told(() => spawn("ls")), told(() => new Session()),
    told(() => new Database("x")), told(() => offered.make()), told(() => bundled.listen()), bundled.hasThreads,
  ]) });
};`,
      "dist.cjs": `var __commonJS = (cb, mod) => function () { return mod || (0, cb[Object.keys(cb)[0]])((mod = { exports: {} }).exports, mod), mod.exports; };
var lib = __commonJS({ "lib.js"(exports, module) {
    var cluster = require("cluster");
    var hasThreads = true;
    try { require("worker_threads"); } catch { hasThreads = false; }
    module.exports = { listen: () => cluster.fork(), hasThreads };
} });
module.exports = lib();`,
      "package.json": JSON.stringify({ name: "p", peerDependencies: { "optional-peer": "1" } }),
    });
    await using host = await open(isolation, { plugins: [{ id: "p", path: root }] });
    expect(host.inspect("p").diagnostics).toEqual([
      expect.stringMatching(/^will not work here: better-sqlite3, used at index\.ts:16: machine code/),
      "will not work here: child_process, used at index.ts:9: a plugin cannot start programs, processes or threads",
      "will not work here: cluster, used at dist.cjs:3: a plugin cannot start programs, processes or threads",
      expect.stringMatching(/^will not work here: optional-peer, used at index\.ts: the package is optional/),
      expect.stringMatching(/^will not work here: repl, used at index\.ts:10: /),
    ]);
    const programs = /^the module "child_process" is not available inside the sandbox: a plugin cannot start programs/;
    expect((await host.call({ tool: "uses" })).value).toEqual([
      expect.stringMatching(programs),
      expect.stringMatching(programs),
      expect.stringMatching(programs),
      expect.stringMatching(/^the module "repl" is not available/),
      expect.stringMatching(/^"better-sqlite3" is a native addon/),
      expect.stringMatching(/^the package "optional-peer" was not found/),
      expect.stringMatching(/^the module "cluster" is not available/),
      false,
    ]);
    const gated = await host.run("before_tool_call", { toolName: "exec", params: {} }, { toolName: "exec" });
    expect(gated.result).toMatchObject({ block: true });
    expect(gated.calls[0]?.error).toMatchObject({ code: "ERR_PLUGIN_MODULE", message: expect.stringMatching(programs) });
  });
});

test("of http2 the constants are there, so that a package may use them as keys while it loads; its functions are not", async () => {
  expect(constants).toEqual(http2Constants);
  const path = folder({
    "index.js": `
import * as http2 from "node:http2";
const { connect, constants } = http2;
const headers = { [http2.constants.HTTP2_HEADER_STATUS]: constants.HTTP_STATUS_OK };
const told = () => { try { connect("https://x.example"); return "connected"; } catch (error) { return error.message; } };
export default (api) => api.registerTool({ name: "uses", execute: () => [headers, told()] });`,
  });
  await using host = await open("thread", { plugins: [{ id: "p", path }] });
  expect((await host.call({ tool: "uses" })).value).toEqual([
    { ":status": 200 },
    expect.stringMatching(/^the module "http2" is not available inside the sandbox/),
  ]);
});

// Why: docs/adr/0017-no-native-sqlite-for-plugins.md
test("node:sqlite loads as a stub, which names what to use instead, and no database is opened", async () => {
  const path = folder({
    "index.js": `
import { DatabaseSync } from "node:sqlite";
import { existsSync } from "node:fs";
const told = (use) => { try { use(); return "opened"; } catch (error) { return error.message; } };
export default (api) => api.registerTool({ name: "uses", execute: async () => [
  told(() => new DatabaseSync("own.sqlite")), told(() => new DatabaseSync(":memory:").exec("select 1")),
  await import("node:sqlite").then(() => "there", (error) => error.message), existsSync("own.sqlite"),
] });`,
  });
  await using host = await open("thread", { plugins: [{ id: "p", path, grants: { fs: true } }] });
  expect(host.inspect("p").diagnostics).toEqual([
    expect.stringMatching(/^will not work here: sqlite, used at index\.js:6: its native code/),
  ]);
  const sentence =
    'the module "sqlite" is not available inside the sandbox: its native code would be fed by plugins, outside of every isolate; ' +
    "use api.kv, or SQLite as WebAssembly (sql.js) with the wasm permission";
  expect((await host.call({ tool: "uses" })).value).toEqual([sentence, sentence, sentence, false]);
});

test("every module of Node's is either there or said to be missing, and never both", () => {
  const all = builtinModules.filter((name) => isBuiltin(name)).map((name) => name.replace(/^node:/, ""));
  const known = all.filter((name) => !name.startsWith("_"));
  expect(known.filter((name) => !(name in GUEST_MODULES) && !(name in ABSENT_MODULES))).toEqual([]);
  expect(Object.keys(ABSENT_MODULES).filter((name) => name in GUEST_MODULES)).toEqual([]);
});
