/** `creel init`: what it writes works at once, for every hook there is, and it never writes over anything. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { openHost } from "creel";
import { hookMdFiles, toolFiles } from "../../../../src/cli/init/kinds.ts";
import { eventText, scaffold } from "../../../../src/cli/init/scaffold.ts";
import { CATALOG } from "../../../../src/protocol/catalog.ts";
import type { AnyHook } from "../../../../src/protocol/catalog.ts";
import { wordsOfLine } from "../../../support/command-line.ts";
import { folder, write } from "../../../support/files.ts";
import { CACHE } from "../../../support/creel.ts";
import { creelHere } from "../../../support/cli-in-process.ts";
import { silent } from "../../../support/host.ts";
import { operator } from "../../../install/pipeline.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const run = promisify(execFile);

/** As a shell does, here: what it prints, first the results, then the rest. */
async function type(line: string, cwd: string): Promise<string> {
  const env = { PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH}`, HOME: cwd, NODE_COMPILE_CACHE: CACHE };
  const { stdout, stderr } = await run("sh", ["-c", line], { cwd, env }).catch((error: { stdout: string; stderr: string }) => error);
  return `${stdout}${stderr}`;
}

/** As `npm install` would: the package by its name. */
function link(where: string): void {
  mkdirSync(join(where, "node_modules"));
  symlinkSync(root, join(where, "node_modules/creel"));
}

const EVENT = '{"toolName":"exec","params":{"command":"rm -rf build"}}';
const CALL = `creel call before_tool_call --plugin . --event '${EVENT}'`;

describe("creel init", { timeout: 120_000 }, () => {
  it("writes a plugin whose own test passes, that creel check finds nothing wrong with, and that answers the call it prints", async () => {
    const where = join(folder({}), "greeter");
    const { next } = JSON.parse((await creelHere("init", where, "--json")).out) as { next: string[] };
    const event = CALL.slice(CALL.indexOf("--event"));
    const dev = [`creel dev . --hook before_tool_call ${event}`, `creel dev . --inspect --hook before_tool_call ${event}`];
    const tried = [`cd ${where}`, "npm install && npm test", "creel check .", CALL, ...dev];
    expect(next).toEqual([...tried, "npm run coverage", "creel pack .", "creel install ."]);
    const { devDependencies } = JSON.parse(readFileSync(join(where, "package.json"), "utf8")) as { devDependencies: { creel: string } };
    expect(join(where, devDependencies.creel.replace("file:", ""), "x")).toBe(join(root, "x"));
    link(where);
    const [tested, checked, called] = await Promise.all([
      run(process.execPath, ["-C", "source", "--test", "--test-reporter", "tap"], { cwd: where }),
      creelHere("check", where, "--types", "required"),
      creelHere("call", "before_tool_call", "--plugin", where, "--event", EVENT, "--isolation", "thread"),
    ]);
    expect(tested.stdout).toMatch(/# tests 1\n[^]*# pass 1\n/);
    // What went wrong, if it did, is in `err`.
    expect([checked.code, checked.err]).toEqual([0, ""]);
    expect(checked.out).toContain(`✓ it runs in the sandbox\nnext: ${CALL.replace("--plugin .", `--plugin ${where}`)}\n`);
    expect(called.out).toMatch(/^before_tool_call {2}block by greeter\n {2}reason +rm -rf is not for agents\n/);
    expect(called.err).toContain(`next: creel install ${where}\n`);
  });

  it("who has nothing but the new plugin installs it and calls it by typing what is printed", async () => {
    const where = join(folder({}), "greeter");
    expect((await creelHere("init", where)).out).toContain(`\nNext:\n  cd ${where}\n  # run its test`);
    link(where);
    const refused = await type("creel install .", where);
    expect(existsSync(join(where, "creel.json"))).toBe(false);
    expect(refused).toContain("--accept");
    const installed = await type(`creel install . ${/--accept \S+/.exec(refused)![0]}`, where);
    expect(installed).toContain("created creel.json, with its state in .creel\n");
    // The editor checks it.
    const { $schema } = JSON.parse(readFileSync(join(where, "creel.json"), "utf8")) as { $schema: string };
    expect(existsSync(join(where, $schema))).toBe(true);
    expect(await type("creel update", where)).toContain("✓ greeter is up to date");
    const [call, inspect] = Array.from(installed.matchAll(/^next: (.+)$/gm), ([, line]) => line!);
    expect([call, inspect]).toEqual([CALL.replace(" --plugin .", ""), "creel inspect greeter"]);
    expect(await type(call!, where)).toMatch(/^before_tool_call {2}block by greeter\n/);
    const inspected = await creelHere("inspect", "greeter", "--config", join(where, "creel.json"));
    expect(inspected.out).toMatch(/^greeter 0\.1\.0\n {2}state +enabled\n/);
  });

  it("of every kind of plugin: its own test passes, and so do the call and the packing that it prints", async () => {
    const where = folder({});
    for (const kind of ["modify", "observe", "turn", "tool", "hook-md"]) {
      const begun = await creelHere("init", join(where, kind), "--kind", kind, "--name", `a-${kind}`, "--json");
      expect([begun.code, begun.err]).toEqual([0, ""]);
      const { next } = JSON.parse(begun.out) as { next: string[] };
      const printed = (verb: string): string[] => wordsOfLine(next.find((line) => line.startsWith(`creel ${verb} `)) ?? "").slice(1);
      const there = (words: string[]): string[] => words.map((word) => (word === "." ? join(where, kind) : word));
      const called = await creelHere(...there(printed("call")), "--isolation", "thread");
      expect([kind, called.code]).toEqual([kind, 0]);
      // A tool is not run by creel dev, and a HOOK.md folder is not packed.
      expect(next.find((line) => line.includes("--inspect"))).toMatch(
        kind === "tool" ? /^creel call tool:/ : /^creel dev \. --inspect --hook /,
      );
      const packed = await Promise.all(
        [printed("pack")]
          .filter((words) => words.length > 0)
          .map((words) => creelHere(...there(words), "--types", "none", "--out", join(where, `${kind}.tgz`))),
      );
      expect([kind, packed.map(({ code }) => code)]).toEqual([kind, kind === "hook-md" ? [] : [0]]);
    }
    link(where);
    const flags = ["-C", "source", "--test", "--test-isolation", "none", "--test-reporter", "tap"];
    const { stdout } = await run(process.execPath, [...flags, "**/*.test.ts"], { cwd: where }).catch((error: { stdout: string }) => error);
    expect(stdout).toMatch(/# tests 5\n[^]*# pass 5\n/);
  });

  it("of an OpenClaw plugin: its code as it is, with a manifest that declares hooks and permissions", async () => {
    const where = folder({
      "old/openclaw.plugin.json": `{ "id": "weather", "description": "Rain", "configSchema": { "type": "object", "required": ["town"] } }`,
      "old/package.json": `{ "name": "weather", "version": "1.4.0", "type": "module", "openclaw": { "extensions": ["./index.ts"] } }`,
      "old/index.ts": `export default { id: "weather", register(api) { api.on("message_sending", async (event) => { const answer = await fetch("https://api.weather.example/v1"); return { content: event.content + await answer.text() }; }); api.on("before_prompt_build", () => ({ prependContext: "x" })); } };`,
    });
    const { code, out } = await creelHere("init", join(where, "new"), "--from-openclaw", join(where, "old"));
    expect([code, out]).toEqual([0, expect.stringContaining("weather listens to message_sending, before_prompt_build")]);
    expect(out).toContain("requests conversation, fetch:https://api.weather.example, by its code");
    const made = JSON.parse(readFileSync(join(where, "new/creel.plugin.json"), "utf8")) as object;
    expect(made).toMatchObject({
      id: "weather",
      main: "index.ts",
      description: "Rain",
      // Its configuration is checked as before.
      configSchema: { type: "object", required: ["town"] },
      hooks: ["message_sending", "before_prompt_build"],
      permissions: { "fetch:https://api.weather.example": "why it needs this", conversation: "why it needs this" },
    });
    expect(made).not.toHaveProperty("permissions.prompt");
    expect(readFileSync(join(where, "new/index.ts"), "utf8")).toBe(readFileSync(join(where, "old/index.ts"), "utf8"));
    expect((await creelHere("check", join(where, "new"), "--types", "none")).out).not.toContain("does not request");
    expect((await creelHere("init", join(where, "new"), "--from-openclaw", join(where, "old"))).code).not.toBe(0);
  });

  it("of an OpenClaw plugin that has run in Creel: it requests what it has used, and not all that its code could", async () => {
    const home = folder({
      "creel.json": `{ "stateDir": "state", "sandbox": { "walls": "none", "spare": false } }`,
      "old/openclaw.plugin.json": `{ "id": "counts", "configSchema": { "type": "object" } }`,
      "old/package.json": `{ "name": "counts", "version": "1.4.0", "type": "module", "openclaw": { "extensions": ["./index.ts"] } }`,
      "old/index.ts": `export default { id: "counts", register(api) { api.on("before_tool_call", async (event) => { await api.kv.set("n", 1); if (event.params.rare) await fetch("https://rare.example.com/"); }); } };`,
    });
    const made = join(home, "new");
    const declared = async (): Promise<unknown> => {
      const { code, out, err } = await creelHere("init", made, "--from-openclaw", join(home, "old"), "--config", join(home, "creel.json"));
      expect([code, err]).toEqual([0, ""]);
      const { permissions } = JSON.parse(readFileSync(join(made, "creel.plugin.json"), "utf8")) as { permissions: object };
      rmSync(made, { recursive: true });
      return [/requests .*, (by .*);/.exec(out)?.[1], Object.keys(permissions)];
    };
    expect(await declared()).toEqual(["by its code", ["fetch:https://rare.example.com", "kv"]]);
    await operator(join(home, "state")).install(join(home, "old"), ["kv"]);
    await using host = await openHost({ config: join(home, "creel.json"), isolation: "thread", lanes: 1, logger: silent });
    await host.run("before_tool_call", { toolName: "exec", params: {} });
    await host.close();
    expect(await declared()).toEqual(["by what it has used", ["kv"]]);
  });

  it("of every kind of hook: one that needs a permission, a synchronous one, an internal event", async () => {
    const where = folder({});
    const hooks = ["llm_input", "tool_result_persist", "session:patch"];
    for (const [at, hook] of hooks.entries()) {
      const { code } = await creelHere("init", join(where, `p${at}`), "--hook", hook, "--name", `plugin-${at}`);
      expect(code).toBe(0);
    }
    link(where);
    const flags = ["-C", "source", "--test", "--test-isolation", "none", "--test-reporter", "tap"];
    const { stdout } = await run(process.execPath, flags, { cwd: where });
    expect(stdout).toMatch(/# tests 3\n[^]*# pass 3\n/);
  });

  it("source and test compile against the SDKs, whatever the hook", async () => {
    const where = folder({});
    for (const [at, hook] of (Object.values(CATALOG) as AnyHook[]).entries()) {
      const { "index.ts": source, "index.test.ts": test } = scaffold({
        id: `p${at}`,
        hook,
        creel: { dependency: "^1.0.0", isCheckout: false },
      });
      write(where, { [`p${at}/index.ts`]: source!, [`p${at}/index.test.ts`]: test! });
    }
    const creel = { dependency: "^1.0.0", isCheckout: false };
    for (const [name, files] of Object.entries({
      tool: toolFiles("a", creel),
      md: hookMdFiles("b", eventText(CATALOG["session:patch"]), creel),
    }))
      for (const [file, text] of Object.entries(files)) if (file.endsWith(".ts")) write(where, { [`${name}/${file}`]: text });
    const config = {
      extends: join(root, "tsconfig.json"),
      compilerOptions: {
        rewriteRelativeImportExtensions: false,
        typeRoots: [join(root, "node_modules/@types")],
        paths: { "creel/plugin": [join(root, "src/sdk/author/plugin.ts")], "creel/testing": [join(root, "src/sdk/testing/testing.ts")] },
      },
      include: ["**/*.ts"],
    };
    write(where, { "tsconfig.json": JSON.stringify(config), "package.json": '{ "type": "module" }' });
    const compiled = await run(join(root, "node_modules/.bin/tsc"), ["-p", where]).catch((error: { stdout: string }) => error);
    expect(compiled.stdout.split("\n").filter((line) => /^\S*p\d+\/index/.test(line))).toEqual([]);
    expect(compiled.stdout).toBe("");
  });

  it("writes over nothing: what is there is named, and nothing else is written", async () => {
    const where = folder({ "README.md": "mine", "index.ts": "mine too", ".gitignore": "mine as well" });
    const { code, out, err } = await creelHere("init", where, "--name", "x");
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain("already has index.ts, README.md; nothing was written");
    expect(readdirSync(where).toSorted()).toEqual([".gitignore", "README.md", "index.ts"]);
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
    expect(err).toContain("Fix:");
  });
});
