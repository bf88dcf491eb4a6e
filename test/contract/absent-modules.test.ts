/** Modules that the sandbox does not have: said in one sentence, before anything runs where that can be known. */
import { builtinModules, isBuiltin } from "node:module";
import { expect, test } from "vitest";
import { ABSENT_MODULES } from "../../src/protocol/modules/absent.ts";
import { GUEST_MODULES } from "../../src/protocol/surface.ts";
import { folder } from "../support/files.ts";
import { contract, open } from "../support/host.ts";

const SOCKETS = "is not available inside the sandbox: a plugin has no raw sockets; use fetch to an origin that the operator grants";
const SOCKETS_PACKAGE = "node_modules/sockets/index.js";

function manifest(id: string): string {
  return JSON.stringify({ id });
}

/** Several plugins, each in its own folder. */
function files(): string {
  return folder({
    "static/openclaw.plugin.json": manifest("static"),
    "static/index.js": `import net from "node:net"; import "./lib/log.js"; import readline from "readline"; export default () => net.connect(readline);`,
    "static/lib/log.js": `import { createSocket } from "dgram"; console.log(createSocket);`,
    "static/package.json": `{ "type": "module" }`,
    "package/openclaw.plugin.json": manifest("package"),
    "package/index.js": `export default (api) => api.on("gateway_start", async () => { const { connect } = await import("sockets"); connect(); });`,
    "package/package.json": `{ "type": "module" }`,
    "package/node_modules/sockets/index.js": `"use strict";\nconst net_1 = require("net");\nexports.connect = () => net_1.connect();\n`,
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
        attempt(() => require("child_process")), attempt(() => require("node:zlib")), attempt(() => require("./addon.node")), attempt(() => require("not-installed/x")),
        attempt(() => require("path")), await import("node:path").then(({ join }) => join("a", "b")), await import("worker_threads").then(() => "there", (error) => error.message),
      ] });`,
  });
}

contract("modules that the sandbox does not have", (isolation) => {
  test("are named with who needs them, why they are missing and what to use instead", async () => {
    const root = files();
    const plugins = ["static", "package", "native", "addon", "late"].map((name) => ({ path: `${root}/${name}` }));
    await using host = await open(isolation, { plugins });
    const told = (id: string): string[] => {
      const { status, error, diagnostics } = host.inspect(id);
      return [status, error!.code, error!.message, ...diagnostics];
    };
    expect(told("static")).toEqual([
      "failed",
      "ERR_PLUGIN_ABSENT",
      `the plugin cannot run here: the module "dgram" ${SOCKETS} (needed by lib/log.js) (and 2 more, see its diagnostics)`,
      `the module "dgram" ${SOCKETS} (needed by lib/log.js)`,
      `the module "net" ${SOCKETS} (needed by index.js)`,
      expect.stringMatching(
        /^the module "readline" is not available inside the sandbox: a plugin has no terminal; .* \(needed by index.js\)$/,
      ),
    ]);
    // It would be asked for later, by a package that is loaded later: still a package for sockets.
    expect(told("package").slice(0, 3)).toEqual([
      "failed",
      "ERR_PLUGIN_ABSENT",
      `the plugin cannot run here: the module "net" ${SOCKETS} (needed by ${SOCKETS_PACKAGE})`,
    ]);
    const machineCode = "is a native addon, and machine code cannot be kept inside the sandbox";
    expect(told("native")[2]).toBe(`the plugin cannot run here: "better-sqlite3" ${machineCode}; use api.kv (needed by index.js)`);
    expect(told("addon")[2]).toBe(
      `the plugin cannot run here: "./build/addon.node" ${machineCode}; use a package in plain JavaScript (needed by index.js)`,
    );
    expect(host.inspect("late").status).toBe("ready");
    expect((await host.call({ tool: "late" })).value).toEqual([
      expect.stringMatching(/^the module "child_process" is not available inside the sandbox: a plugin cannot start programs/),
      expect.stringMatching(/^the module "zlib" is not available inside the sandbox: /),
      `"./addon.node" ${machineCode}; use a package in plain JavaScript`,
      'the package "not-installed" was not found when the plugin was bundled; install it beside the plugin',
      "there",
      "a/b",
      expect.stringMatching(/^the module "worker_threads" is not available inside the sandbox: /),
    ]);
  });
});

test("every module of Node's is either there or said to be missing, and never both", () => {
  const all = builtinModules.filter((name) => isBuiltin(name)).map((name) => name.replace(/^node:/, ""));
  const known = all.filter((name) => !name.startsWith("_"));
  expect(known.filter((name) => !(name in GUEST_MODULES) && !(name in ABSENT_MODULES))).toEqual([]);
  expect(Object.keys(ABSENT_MODULES).filter((name) => name in GUEST_MODULES)).toEqual([]);
});
