/**
 * A newcomer's hour with only the commands that `creel init` prints: a test that passes and one that fails, a breakpoint at a line of
 * TypeScript, coverage, a packed plugin, and a call of it when it is installed.
 *
 * `creel dev . --inspect …` and `creel pack .` are typed as they are printed. The others are not, for these reasons:
 * - `creel` is this checkout's, by its path: the package is not installed here. test/package/ has the installed one.
 * - `cd <folder>`: each command is started in the folder instead.
 * - `npm install && npm test`: without the install, which would need a registry; a link is what it would leave. `npm test` and
 *   `npm run coverage` are run with --silent, without npm's own lines.
 * - `creel call …`: its hook and event, with --json so that two answers can be compared, of the folder and of the installed file.
 * - `creel install .`: of the packed file instead of the folder, into a project of its own, and again with the --accept that it prints.
 *   init.test.ts types `creel install .` as printed.
 * - `creel check .` and `creel dev . --hook …` not at all: init.test.ts runs the check, dev/terminal.test.ts presses the keys.
 */
// runs: creel dev ./my-plugin --inspect
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { CdpClient } from "../support/cdp-client.ts";
import type { Paused } from "../support/cdp-client.ts";
import { creelHere } from "../support/cli-in-process.ts";
import { wordsOfLine } from "../support/command-line.ts";
import { folder } from "../support/files.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const main = join(root, "src/cli/main.ts");
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}`, NO_COLOR: "1" };
const where = join(folder({}), "greeter");
/** What init has printed below "Next:". */
let printed: string[] = [];

/** The printed line that begins so. */
function lineOf(beginning: string): string {
  return printed.find((line) => line.startsWith(beginning)) ?? `nothing printed begins with "${beginning}": ${printed.join("; ")}`;
}

/** Types a line of those. `creel` is this checkout's. */
function type(beginning: string): ChildProcess {
  const [command, ...args] = wordsOfLine(lineOf(beginning));
  const [file, first] = command === "creel" ? [process.execPath, ["-C", "source", main]] : [command!, []];
  return spawn(file, [...first, ...args], { cwd: where, env, stdio: ["ignore", "pipe", "pipe"] });
}

async function typed(beginning: string): Promise<{ code: number | null; out: string }> {
  const child = type(beginning);
  const code = new Promise<number | null>((done) => child.once("close", done));
  const [out, err] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
  return { code: await code, out: out + err };
}

async function npm(script: string): Promise<string> {
  const child = spawn("npm", ["run", "--silent", script], { cwd: where, env, stdio: ["ignore", "pipe", "inherit"] });
  return text(child.stdout);
}

interface Script {
  readonly scriptId: string;
  readonly url: string;
  readonly sourceMapURL: string;
}

describe("a newcomer", { timeout: 120_000 }, () => {
  it("begins, and is told how to go on: tests, check, call, dev, a debugger, coverage, pack, install", async () => {
    const { code, out } = await creelHere("init", where);
    expect(code).toBe(0);
    const lines = out.slice(out.indexOf("Next:\n") + 6).split("\n");
    printed = lines.map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#") && !line.startsWith("alias "));
    const verbs = [
      "npm install && npm test",
      "creel check .",
      "creel call ",
      "creel dev . --hook",
      "creel dev . --inspect",
      "npm run coverage",
    ];
    for (const verb of [...verbs, "creel pack .", "creel install ."]) expect(lineOf(verb)).toContain(verb);
    // What npm install would do.
    mkdirSync(join(where, "node_modules"));
    symlinkSync(root, join(where, "node_modules/creel"));
  });

  it("stops at a line of its TypeScript, by the address that is printed", async () => {
    const child = type("creel dev . --inspect");
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
      const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as { webSocketDebuggerUrl: string }[];
      await using client = await CdpClient.connect(target!.webSocketDebuggerUrl);
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
    expect(await npm("test")).toMatch(/fail 1\n/);
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
    expect(lineOf("npm run coverage")).toBe("npm run coverage");
    const report = await npm("coverage");
    writeFileSync(index, source);
    expect(report).toMatch(/fail 0\n/);
    const thrown = lineIn("index.ts", "return isForbidden") + 2;
    const row = report.split("\n").find((line) => line.includes("index.ts "));
    expect(row).toMatch(new RegExp(String.raw`\| ${thrown}(?:-${thrown + 1})?\s*$`));
  });

  it("packs it, installs the one file, and gets the answer that the folder gives", async () => {
    const packed = await typed("creel pack .");
    expect(packed).toMatchObject({ code: 0 });
    const file = join(where, /is packed in (\S+)/.exec(packed.out)![1]!);
    const home = folder({ "creel.json": `{ "stateDir": "state", "sandbox": { "walls": "none", "spare": false } }` });
    const project = ["--config", join(home, "creel.json")];
    const refused = await creelHere("install", file, ...project);
    const accept = /--accept (\S+)/.exec(refused.out + refused.err)![1]!;
    expect((await creelHere("install", file, ...project, "--accept", accept)).code).toBe(0);
    const [, , hook, , , , event] = wordsOfLine(lineOf("creel call "));
    const call = ["call", hook!, "--event", event!, "--isolation", "thread", "--json"];
    const answers = await Promise.all([creelHere(...call, ...project), creelHere(...call, "--plugin", where)]);
    const [installed, asFolder] = answers.map(({ out }) => {
      const { decision, reason, by, result } = JSON.parse(out) as Record<string, unknown>;
      return { decision, reason, by, result };
    });
    expect(installed).toEqual(asFolder);
    expect(installed).toMatchObject({ decision: "block", by: "greeter" });
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
