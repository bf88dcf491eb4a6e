/** `creel serve` and `creel tail` as commands, in processes of their own; the client of docs/reference/serve-protocol.md runs as it is printed. */
import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text as readAll } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { openHost } from "creel";
import { factLine } from "../../src/cli/tail/line.ts";
import { creelHere } from "../support/cli-in-process.ts";
import { folder } from "../support/files.ts";
import { silent } from "../support/host.ts";
import { socketPath } from "../support/serve.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

function start(...args: string[]): {
  readonly child: ChildProcess;
  readonly line: () => Promise<string>;
  readonly ended: Promise<number | null>;
  readonly said: Promise<string>;
} {
  const child = spawn(process.execPath, ["-C", "source", "src/cli/main.ts", ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    child,
    line: async () => (await lines.next()).value as string,
    ended: new Promise((resolve) => child.on("exit", resolve)),
    said: readAll(child.stderr),
  };
}

const config = (where: string) => join(where, "creel.json");
const files = {
  "creel.json": JSON.stringify({
    plugins: { load: { paths: ["./p.js"] }, entries: { p: { hooks: { allowConversationAccess: true } } } },
    sandbox: { spare: false, walls: "none" },
  }),
  "p.js": `export default (api) => { api.on("message_sending", (e) => ({ content: e.content + "!" })); api.on("agent_end", () => new Promise(() => {}), { timeoutMs: 60000 }); api.on("before_tool_call", () => new Promise(() => {})); };`,
};

describe("creel serve", () => {
  it("says when it is ready, serves a client of the docs and a tail, and ends in order on SIGTERM", { timeout: 60_000 }, async () => {
    const where = folder(files);
    const socket = socketPath();
    const host = start("serve", "--config", config(where), "--socket", socket, "--isolation", "thread", "--json");
    const ready = JSON.parse(await host.line()) as object;
    expect(ready).toEqual({
      ready: true,
      socket,
      pid: host.child.pid,
      plugins: [{ id: "p", status: "ready", error: null }],
      walls: expect.objectContaining({ isWalled: false }) as object,
    });

    const tail = start("tail", "--socket", socket, "--fact", "run", "--plugin", "p", "--json");
    const following = createInterface(tail.child.stderr!)[Symbol.asyncIterator]();
    expect((await following.next()).value).toContain(`pid ${host.child.pid}`);

    const page = readFileSync(join(root, "docs/reference/serve-protocol.md"), "utf8");
    const script = /```js\n(.*?)```/s.exec(page)![1]!;
    expect(script.trim().split("\n").length).toBeLessThanOrEqual(25);
    const { stdout } = await run(process.execPath, [join(folder({ "client.mjs": script }), "client.mjs"), socket]);
    expect(stdout).toBe("listens: true\ncontent: hello!\n");
    expect(JSON.parse(await tail.line())).toMatchObject({
      event: "run",
      fact: { outcome: { hook: "message_sending", result: { content: "hello!" } } },
    });

    host.child.kill("SIGTERM");
    expect([await host.ended, await tail.ended]).toEqual([0, 0]);
    expect([existsSync(socket), existsSync(`${socket}.json`)]).toEqual([false, false]);
    for (const line of (await host.said).trim().split("\n").slice(0, 2)) expect(JSON.parse(line)).toMatchObject({ name: "creel" });
  });

  it("killed: what was in flight and what comes after follows the failure policy, and says so", { timeout: 60_000 }, async () => {
    const where = folder(files);
    const socket = socketPath();
    const host = start("serve", "--config", config(where), "--socket", socket, "--isolation", "thread");
    expect(await host.line()).toContain("ready:");
    await using client = await openHost({ connect: socket, logger: silent });
    const running = client.run("agent_end", { messages: [], success: true });
    const gate = client.run("before_tool_call", { toolName: "rm", params: {} });
    await client.run("message_sending", { to: "me", content: "x" }, { channelId: "chat" });
    host.child.kill("SIGKILL");
    expect(await gate).toMatchObject({
      decision: "block",
      result: { block: true },
      unreachable: { why: expect.stringContaining("was lost") },
    });
    expect(await running).toMatchObject({ decision: "pass", unreachable: { why: expect.stringContaining("was lost") } });
    expect(await client.run("message_sending", { to: "me", content: "x" }, { channelId: "chat" })).toMatchObject({
      decision: "pass",
      calls: [],
      unreachable: { why: expect.stringContaining("no host answers") },
    });
    expect(client.has("message_sending")).toBe(true);
    await host.ended;
  });
});

describe("creel tail", () => {
  it("says that nobody listens, with exit code 1, and which facts there are, with 2", async () => {
    const nobody = await creelHere("tail", "--socket", socketPath());
    expect([nobody.code, nobody.err]).toEqual([1, expect.stringContaining("creel serve")]);
    const wrong = await creelHere("tail", "--fact", "runs");
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('did you mean "run"?')]);
  });

  it("writes one line per fact, aligned, and nothing in it orders the terminal anything", () => {
    const stamp = { seq: 1, at: Date.parse("2026-01-02T03:04:05.678Z") };
    const pen = { paint: (_: unknown, text: string) => text };
    const text = 'a\n"b"\u001b[31m\u009b31m';
    const lines = [
      factLine("log", { plugin: "p", level: "info", text, runId: undefined, ...stamp }, pen),
      factLine(
        "call",
        {
          runId: "r",
          hook: "agent_end",
          chain: { rootRunId: "r", depth: 0, path: [], runIds: [] },
          call: { plugin: "p", priority: 0, status: "timeout", wallMs: 12, cpuMs: 1 },
          ...stamp,
        },
        pen,
      ),
      factLine("restart", { why: "it died", lanes: [0], culprit: undefined, ...stamp }, pen),
    ];
    expect(lines).toEqual([
      String.raw`03:04:05.678 log        p                    info        a\n"b"\u001b[31m\u009b31m`,
      "03:04:05.678 call       p                    timeout     agent_end  12.0 ms",
      "03:04:05.678 restart    –                    restarted   it died",
    ]);
  });
});
