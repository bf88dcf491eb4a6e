/** `creel init`: what it writes works at once, for every hook there is, and it never writes over anything. */
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { examine } from "../../src/cli/check/examine.ts";
import { scaffold } from "../../src/cli/init/scaffold.ts";
import { CATALOG } from "../../src/protocol/catalog.ts";
import type { AnyHook } from "../../src/protocol/catalog.ts";
import { folder, write } from "../support/files.ts";
import { creel } from "./creel.ts";
import { creelHere } from "./in-process.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/** As `npm install` would: the package by its name. */
function install(where: string): void {
  mkdirSync(join(where, "node_modules"));
  symlinkSync(root, join(where, "node_modules/creel"));
}

describe("creel init", () => {
  it("writes a plugin whose own test passes, and that creel check finds nothing wrong with", async () => {
    const where = join(folder({}), "greeter");
    const { code, stdout } = await creel(["init", where]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^greeter listens to message_sending\n[^]+\nNext:\n/)]);
    for (const command of ["npm test", "creel check", "creel call message_sending", "creel install"]) expect(stdout).toContain(command);
    install(where);
    const [tested, checked] = await Promise.all([
      run(process.execPath, ["-C", "source", "--test", "--test-reporter", "tap"], { cwd: where }),
      examine(where, "required"),
    ]);
    expect(tested.stdout).toMatch(/# tests 1\n[^]*# pass 1\n/);
    expect(checked).toMatchObject({ id: "greeter", problems: [], remarks: [], hooks: [{ hook: "message_sending" }] });
  });

  it("the command it prints for a call works as printed; so it does once the plugin is installed", async () => {
    const where = join(folder({}), "printed");
    const { next } = JSON.parse((await creelHere("init", where, "--json")).out) as { next: string[] };
    const [, hook, event] = /^creel call (\S+) --plugin \S+ --event '(.*)'$/.exec(next.find((line) => line.startsWith("creel call"))!)!;
    const { code, out } = await creelHere("call", hook!, "--plugin", where, "--event", event!, "--isolation", "thread");
    expect([code, out]).toEqual([0, expect.stringContaining('"content": "hello (via printed)"')]);
    const place = ["--state-dir", folder({})];
    const { digest } = JSON.parse((await creelHere("install", where, ...place, "--json")).out) as { digest: string };
    expect(await creelHere("install", where, ...place, "--accept", digest)).toMatchObject({ code: 0 });
    const installed = await creelHere("call", hook!, "--event", event!, "--isolation", "thread", ...place);
    expect([installed.code, installed.out]).toEqual([0, expect.stringContaining('"content": "hello (via printed)"')]);
  });

  it("of every kind of hook: one that needs a permission, a synchronous one, an internal event", async () => {
    const where = folder({});
    const hooks = ["llm_input", "tool_result_persist", "session:patch"];
    for (const [at, hook] of hooks.entries()) {
      const { code } = await creelHere("init", join(where, `p${at}`), "--hook", hook, "--name", `plugin-${at}`);
      expect(code).toBe(0);
    }
    install(where);
    const flags = ["-C", "source", "--test", "--test-isolation", "none", "--test-reporter", "tap"];
    const { stdout } = await run(process.execPath, flags, { cwd: where });
    expect(stdout).toMatch(/# tests 3\n[^]*# pass 3\n/);
  });

  it("source and test compile against the SDKs, whatever the hook", async () => {
    const where = folder({});
    for (const [at, hook] of (Object.values(CATALOG) as AnyHook[]).entries()) {
      const { "index.ts": source, "index.test.ts": test } = scaffold({ id: `p${at}`, hook, version: "1.0.0" });
      write(where, { [`p${at}/index.ts`]: source!, [`p${at}/index.test.ts`]: test! });
    }
    const config = {
      extends: join(root, "tsconfig.json"),
      compilerOptions: {
        rewriteRelativeImportExtensions: false,
        typeRoots: [join(root, "node_modules/@types")],
        paths: { "creel/plugin": [join(root, "src/sdk/plugin.ts")], "creel/testing": [join(root, "src/sdk/testing.ts")] },
      },
      include: ["**/*.ts"],
    };
    write(where, { "tsconfig.json": JSON.stringify(config), "package.json": '{ "type": "module" }' });
    const compiled = await run(join(root, "node_modules/.bin/tsc"), ["-p", where]).catch((error: { stdout: string }) => error);
    expect(compiled.stdout.split("\n").filter((line) => /^\S*p\d+\/index/.test(line))).toEqual([]);
    expect(compiled.stdout).toBe("");
  });

  it("writes over nothing: what is there is named, and nothing else is written", async () => {
    const where = folder({ "README.md": "mine", "index.ts": "mine too" });
    const { code, out, err } = await creelHere("init", where, "--name", "x");
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain("has index.ts, README.md already");
    expect(readdirSync(where).toSorted()).toEqual(["README.md", "index.ts"]);
    expect(readFileSync(join(where, "README.md"), "utf8")).toBe("mine");
  });

  it.each([
    [["a", "b"], "init takes one folder"],
    [["x", "--hook", "message_sendin"], 'did you mean "message_sending"?'],
    [["x", "--name", "no spaces"], "no spaces"],
  ])("answers %j with exit code 2 and what to do", async (args, message) => {
    const { code, err } = await creelHere("init", ...args);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(err).toContain("what to do:");
  });
});
