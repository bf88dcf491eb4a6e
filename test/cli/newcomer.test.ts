/** A newcomer's hour with only what the commands print: from `creel init` to a breakpoint, tests, coverage, a packed plugin and a call of it. */
// runs: creel dev ./my-plugin --inspect
import { execFile, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { CdpClient } from "../support/cdp-client.ts";
import type { Paused } from "../support/cdp-client.ts";
import { creelHere } from "../support/cli-in-process.ts";
import { folder } from "../support/files.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);
const EVENT = '{"toolName":"exec","params":{"command":"rm -rf build"}}';

/** The plugin's own tests, as `npm test` runs them. */
async function tests(where: string, env: Record<string, string> = {}): Promise<string> {
  const flags = ["-C", "source", "--test", "--test-isolation", "none", "--test-reporter", "tap"];
  const done = run(process.execPath, flags, { cwd: where, env: { ...process.env, ...env } });
  return (await done.catch((error: { stdout: string }) => error)).stdout;
}

describe("a newcomer", () => {
  const where = join(folder({}), "greeter");

  it("begins, and stops at a line of TypeScript with what `creel dev --inspect` prints", { timeout: 120_000 }, async () => {
    expect((await creelHere("init", where)).code).toBe(0);
    mkdirSync(join(where, "node_modules"));
    symlinkSync(root, join(where, "node_modules/creel"));
    const args = ["dev", where, "--hook", "before_tool_call", "--event", EVENT, "--isolation", "thread", "--inspect=0", "--json"];
    const child = spawn(process.execPath, ["-C", "source", "src/cli/main.ts", ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    try {
      const lines: string[] = [];
      for await (const line of createInterface(child.stderr)) {
        lines.push(line);
        if (line.includes("watching")) break;
      }
      const said = lines.join("\n");
      expect(said).toContain("all budgets of greeter but memory are off");
      const port = /node inspect 127\.0\.0\.1:(\d+)/.exec(said)![1]!;
      const launch = JSON.parse(/\{\n[^]*?\n {4}\}/.exec(said)![0]) as { configurations: { port: number; request: string }[] };
      expect(launch.configurations[0]).toMatchObject({ type: "node", request: "attach", port: Number(port) });
      const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as { webSocketDebuggerUrl: string }[];
      await using client = await CdpClient.connect(target!.webSocketDebuggerUrl);
      await client.send("Runtime.enable");
      await client.send("Debugger.enable");
      const url = "creel:plugin/greeter.js";
      const { scriptId } = await client.next<{ scriptId: string; url: string }>("Debugger.scriptParsed", (one) => one.url === url);
      const { scriptSource } = await client.send<{ scriptSource: string }>("Debugger.getScriptSource", { scriptId });
      const lineNumber = scriptSource.split("\n").findIndex((line) => line.includes("return isForbidden"));
      await client.send("Debugger.setBreakpointByUrl", { url, lineNumber, columnNumber: 0 });
      // A saved file is loaded and run again; the breakpoint is kept.
      writeFileSync(join(where, "index.ts"), readFileSync(join(where, "index.ts"), "utf8"));
      const { callFrames } = await client.next<Paused>("Debugger.paused");
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

  it("sees a test fail and pass, and which lines it has run", { timeout: 120_000 }, async () => {
    const file = join(where, "index.test.ts");
    const good = readFileSync(file, "utf8").replace("import.meta.dirname", "import.meta.dirname, coverage: true");
    writeFileSync(file, good.replace('"block"', '"pass"'));
    expect(await tests(where)).toMatch(/# fail 1\n/);
    writeFileSync(file, good);
    const reports = join(where, "coverage");
    expect(await tests(where, { NODE_V8_COVERAGE: reports })).toMatch(/# pass 1\n[^]*# fail 0\n/);
    const covered = readdirSync(reports).flatMap((name) => {
      const { result } = JSON.parse(readFileSync(join(reports, name), "utf8")) as {
        result: { url: string; functions: { ranges: { count: number }[] }[] }[];
      };
      return result.filter(({ url }) => url.endsWith("/greeter/index.ts"));
    });
    expect(covered[0]!.functions[0]!.ranges).toEqual([expect.objectContaining({ startOffset: 0, count: 1 })]);
  });

  it("packs it, installs the one file, and gets the answer that the folder gives", { timeout: 120_000 }, async () => {
    const file = join(where, "..", "greeter.tgz");
    const packed = await creelHere("pack", where, "--out", file, "--types", "none");
    expect([packed.code, packed.err]).toEqual([0, ""]);
    const home = folder({ "creel.json": `{ "stateDir": "state", "sandbox": { "walls": "none", "spare": false } }` });
    const project = ["--config", join(home, "creel.json")];
    const refused = await creelHere("install", file, ...project);
    const accept = /--accept (\S+)/.exec(refused.out + refused.err)![1]!;
    expect((await creelHere("install", file, ...project, "--accept", accept)).code).toBe(0);
    const call = ["call", "before_tool_call", "--event", EVENT, "--isolation", "thread", "--json"];
    const answers = await Promise.all([creelHere(...call, ...project), creelHere(...call, "--plugin", where)]);
    const [installed, asFolder] = answers.map(({ out }) => {
      const { decision, reason, by, result } = JSON.parse(out) as Record<string, unknown>;
      return { decision, reason, by, result };
    });
    expect(installed).toEqual(asFolder);
    expect(installed).toMatchObject({ decision: "block", by: "greeter" });
  });
});
