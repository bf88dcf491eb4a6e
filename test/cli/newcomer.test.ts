/**
 * A newcomer's hour with only the commands that are printed, each typed into a shell as it is: from `creel init` to a breakpoint at a line of
 * TypeScript, a test that passes and one that fails, coverage, a packed plugin, and a call of it when it is installed.
 *
 * What is different from a person at a keyboard:
 * - `creel` is this checkout's, from node_modules/.bin: the package is not installed here. test/first-hour/ has the packed one.
 * - `cd <folder>`: each command is started in the folder instead.
 * - `npm install && npm test`: where no registry answers, a link stands for the install, and only `npm test` is typed.
 * - `creel dev . --hook …` is left out, and so is `creel install .`, since the packed file is installed: dev/terminal.test.ts presses the
 *   keys, init.test.ts installs the folder.
 */
// runs: creel dev ./my-plugin --inspect
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { CdpClient } from "../support/cdp-client.ts";
import type { Paused } from "../support/cdp-client.ts";
import { CACHE } from "../support/creel.ts";
import { folder } from "../support/files.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const home = folder({});
const where = join(home, "greeter");
const env = {
  ...process.env,
  PATH: `${join(root, "node_modules/.bin")}:${dirname(process.execPath)}:${process.env.PATH}`,
  NO_COLOR: "1",
  NODE_COMPILE_CACHE: CACHE,
  // Of npm's own waiting; the commands are the printed ones.
  npm_config_fetch_retries: "0",
  npm_config_prefer_offline: "true",
};
/** What init has printed below "Next:". */
let printed: string[] = [];

/** The printed line that begins so. */
function lineOf(beginning: string): string {
  return printed.find((line) => line.startsWith(beginning)) ?? `nothing printed begins with "${beginning}": ${printed.join("; ")}`;
}

/** Types a line into a shell. Nobody answers questions. */
function type(line: string, cwd: string = where): ChildProcess {
  return spawn("sh", ["-c", line], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
}

interface Typed {
  readonly code: number | null;
  readonly out: string;
}

async function typed(line: string, cwd?: string): Promise<Typed> {
  const child = type(line, cwd);
  const code = new Promise<number | null>((done) => child.once("close", done));
  const [out, err] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
  return { code: await code, out: out + err };
}

/** The line that a command proposes to go on with. */
function nextOf({ out }: Typed, beginning: string): string {
  return (
    out
      .split("\n")
      .find((line) => line.startsWith(`next: ${beginning}`))
      ?.slice("next: ".length) ?? `nothing proposes it: ${out}`
  );
}

const UNREACHED = /ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|ENOTCACHED|ENETUNREACH|E40[34]/;

interface Script {
  readonly scriptId: string;
  readonly url: string;
  readonly sourceMapURL: string;
}

describe("a newcomer", { timeout: 120_000 }, () => {
  it("begins, and is told how to go on: tests, check, call, dev, a debugger, coverage, pack, install", async () => {
    const { code, out } = await typed("creel init greeter", home);
    expect([code, out]).toEqual([0, expect.stringContaining("Next:\n")]);
    const lines = out.slice(out.indexOf("Next:\n") + 6).split("\n");
    printed = lines.map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"));
    const verbs = [
      "cd greeter",
      "npm install && npm test",
      "creel check .",
      "creel call ",
      "creel dev . --hook",
      "creel dev . --inspect",
      "npm run coverage",
      "creel pack .",
      "creel install .",
    ];
    expect(printed).toEqual(verbs.map((verb) => expect.stringContaining(verb) as string));
  });

  it("installs what its test needs and sees it pass, checks it, and calls it", async () => {
    let tested = await typed(lineOf("npm install"));
    if (tested.code !== 0 && UNREACHED.test(tested.out)) {
      mkdirSync(join(where, "node_modules"), { recursive: true });
      if (!existsSync(join(where, "node_modules/creel"))) symlinkSync(root, join(where, "node_modules/creel"));
      tested = await typed("npm test");
    }
    expect(tested).toEqual({ code: 0, out: expect.stringMatching(/pass 1\n[^]*fail 0\n/) as string });
    expect(await typed(lineOf("creel check"))).toEqual({ code: 0, out: expect.stringContaining("✓ it runs in the sandbox") as string });
    expect(await typed(lineOf("creel call"))).toEqual({ code: 0, out: expect.stringContaining("block by greeter") as string });
  });

  it("stops at a line of its TypeScript, by the address that is printed", async () => {
    // The shell makes room for the command, so that Ctrl-C reaches it as at a terminal.
    const child = type(`exec ${lineOf("creel dev . --inspect")}`);
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    try {
      const lines: string[] = [];
      for await (const line of createInterface(child.stderr!)) {
        lines.push(line);
        if (line.includes("watching")) break;
      }
      const said = lines.join("\n");
      expect(said).toContain("all budgets of greeter but memory are off");
      const port = /node inspect 127\.0\.0\.1:(\d+)/.exec(said)![1]!;
      const launch = JSON.parse(/\{\n[^]*?\n {4}\}/.exec(said)![0]) as { configurations: object[] };
      const attach = { type: "node", request: "attach", attachExistingChildren: false, autoAttachChildProcesses: false };
      expect(launch.configurations[0]).toMatchObject({ ...attach, port: Number(port) });
      // As DevTools does with the address that is printed for Chrome; it sends its own origin.
      const [, socket] = /^ {2}Chrome {4}devtools:\/\/devtools\/\S+&ws=(\S+)$/m.exec(said)!;
      await using client = await CdpClient.connect(`ws://${socket}`, { origin: "devtools://devtools" });
      await client.send("Runtime.enable");
      await client.send("Debugger.enable");
      const url = "creel:plugin/greeter.js";
      const script = await client.next<Script>("Debugger.scriptParsed", (one) => one.url === url);
      const { scriptSource } = await client.send<{ scriptSource: string }>("Debugger.getScriptSource", { scriptId: script.scriptId });
      const map = mapOf(script);
      const wanted = lineIn("index.ts", "return isForbidden");
      await client.send("Debugger.setBreakpointByUrl", { url, ...placeOf(map, scriptSource, wanted) });
      // A saved file is loaded and run again; the breakpoint is kept.
      writeFileSync(join(where, "index.ts"), readFileSync(join(where, "index.ts"), "utf8"));
      const { callFrames } = await client.next<Paused>("Debugger.paused");
      const { lineNumber, columnNumber } = callFrames[0]!.location;
      expect(map.findEntry(lineNumber, columnNumber)).toMatchObject({
        originalSource: expect.stringMatching(/index\.ts$/) as string,
        originalLine: wanted,
      });
      const { result } = await client.send<{ result: { value: unknown } }>("Debugger.evaluateOnCallFrame", {
        callFrameId: callFrames[0]!.callFrameId,
        expression: "isForbidden",
      });
      expect(result.value).toBe(true);
      await client.send("Debugger.resume");
    } finally {
      child.kill("SIGINT");
    }
    expect(await ended).toBe(0);
  });

  it("sees a test fail and pass, and which lines it has run in the report of Node's own runner", async () => {
    const file = join(where, "index.test.ts");
    const good = readFileSync(file, "utf8");
    writeFileSync(file, good.replace('"block"', '"pass"'));
    const [, test] = lineOf("npm install").split(" && ");
    expect(await typed(test!)).toEqual({ code: 1, out: expect.stringMatching(/fail 1\n/) as string });
    writeFileSync(file, good);
    const index = join(where, "index.ts");
    const source = readFileSync(index, "utf8");
    writeFileSync(
      index,
      source.replace(
        "return isForbidden",
        'if (event.toolName === "never") {\n        throw new Error("x");\n      }\n      return isForbidden',
      ),
    );
    const { out: report } = await typed(lineOf("npm run coverage"));
    writeFileSync(index, source);
    expect(report).toMatch(/fail 0\n/);
    const thrown = lineIn("index.ts", "return isForbidden") + 2;
    const row = report.split("\n").find((line) => line.includes("index.ts "));
    expect(row).toMatch(new RegExp(String.raw`\| ${thrown}(?:-${thrown + 1})?\s*$`));
  });

  it("packs it, installs the one file, and gets the answer that the folder gives", async () => {
    const packed = await typed(lineOf("creel pack"));
    expect(packed.code).toBe(0);
    const install = nextOf(packed, "creel install ");
    expect(install).toMatch(/^creel install \.\/greeter-.*\.tgz$/);
    const refused = await typed(install);
    expect(refused.code).toBe(1);
    const installed = await typed(`${install} ${/run the command again with (--accept \S+)/.exec(refused.out)![1]}`);
    expect(installed.code).toBe(0);
    const call = nextOf(installed, "creel call ");
    const answers = await Promise.all([typed(`${call} --json`), typed(`${lineOf("creel call")} --json`)]);
    const [asFile, asFolder] = answers.map(({ out }) => {
      const { decision, reason, by, result } = JSON.parse(out.slice(out.indexOf("{"), out.lastIndexOf("}") + 1)) as Record<string, unknown>;
      return { decision, reason, by, result };
    });
    expect(asFile).toEqual(asFolder);
    expect(asFile).toMatchObject({ decision: "block", by: "greeter" });
  });
});

function lineIn(file: string, words: string): number {
  const lines = readFileSync(join(where, file), "utf8").split("\n");
  return lines.findIndex((line) => line.includes(words));
}

function mapOf({ sourceMapURL }: Script): SourceMap {
  return new SourceMap(JSON.parse(Buffer.from(sourceMapURL.slice(sourceMapURL.indexOf(",") + 1), "base64").toString()) as never);
}

/** Where the code of a line of index.ts is in the script. */
function placeOf(map: SourceMap, script: string, original: number): { lineNumber: number; columnNumber: number } {
  for (const [lineNumber, line] of script.split("\n").entries())
    for (let columnNumber = 0; columnNumber < line.length; columnNumber++) {
      const entry = map.findEntry(lineNumber, columnNumber);
      if (
        "originalLine" in entry &&
        entry.originalLine === original &&
        entry.originalSource.endsWith("index.ts") &&
        entry.generatedLine === lineNumber
      )
        return { lineNumber, columnNumber };
    }
  throw new Error(`no code of line ${original + 1}`);
}
