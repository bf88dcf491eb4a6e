/** Where OpenClaw cannot be had, the live tests are left out with one line that says why; in CI that is a failure. */
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { folder } from "../support/files.ts";
import { installIn } from "./support/openclaw-package.ts";

const NPM = `console.error("npm error code ENOTFOUND\\nnpm error the registry is away"); process.exit(1);`;

let written: string[];
beforeEach(() => {
  written = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => (written.push(String(text)), true));
});
afterEach(() => vi.restoreAllMocks());

it("without a registry one line says that the tests are skipped, and why", () => {
  const dir = folder({ "package.json": `{ "dependencies": { "openclaw": "1.0.0" } }`, "npm.js": NPM });
  installIn(dir, { npm_execpath: join(dir, "npm.js") });
  expect(written).toEqual(["test/openclaw is skipped: OpenClaw could not be installed (the registry is away)\n"]);
});

it("in CI that ends the run", () => {
  const dir = folder({ "package.json": `{ "dependencies": { "openclaw": "1.0.0" } }`, "npm.js": NPM });
  const install = () => installIn(dir, { npm_execpath: join(dir, "npm.js"), CI: "1" });
  expect(install).toThrow("OpenClaw could not be installed: the registry is away");
  expect(written).toEqual([]);
});

it("what is installed in the named version is not installed again; another version is", () => {
  const files = { "package.json": `{ "dependencies": { "openclaw": "1.0.0" } }`, "npm.js": NPM };
  const there = folder({ ...files, "node_modules/openclaw/package.json": `{ "version": "1.0.0" }` });
  installIn(there, { npm_execpath: join(there, "npm.js"), CI: "1" });
  const old = folder({ ...files, "node_modules/openclaw/package.json": `{ "version": "0.9.0" }` });
  expect(() => installIn(old, { npm_execpath: join(old, "npm.js"), CI: "1" })).toThrow("could not be installed");
});
