/** `creel dev`: a change is a new load and a new run; an error is shown with its place and the watch goes on; Ctrl-C ends it cleanly. */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text as readAll } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { openHost } from "creel";
import { Watch } from "../../../../src/cli/dev/watch.ts";
import { CdpClient } from "../../../support/cdp-client.ts";
import type { Paused } from "../../../support/cdp-client.ts";
import { folder } from "../../../support/files.ts";
import { silent } from "../../../support/host.ts";
import { creelHere } from "../../../support/cli-in-process.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const source = (answer: string) => `import { word } from "./word.ts";
export default (api) => api.on("message_sending", (event) => ({ content: event.content + ${answer} + word }));
`;

describe("creel dev", () => {
  it("loads and runs again with every change, tells an error with its place, and ends with Ctrl-C", { timeout: 60_000 }, async () => {
    const where = folder({ "index.ts": source('" one "'), "word.ts": `export const word = "w";\n` });
    const args = ["dev", where, "--hook", "message_sending", "--event", '{"to":"me","content":"hello"}', "--isolation", "thread", "--json"];
    const child = spawn(process.execPath, ["-C", "source", "src/cli/main.ts", ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    const said = readAll(child.stderr);
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    /** The first of what is printed that is about this: on a busy machine one change may be seen as two. */
    const told = async (what: string): Promise<unknown> => {
      for (;;) {
        const line = (await lines.next()).value as string;
        if (line.includes(what)) return JSON.parse(line);
      }
    };
    try {
      expect(await told("hello one w")).toMatchObject({ decision: "pass", result: { content: "hello one w" } });
      writeFileSync(join(where, "word.ts"), `export const word = "W";\n`);
      expect(await told("hello one W")).toMatchObject({ result: { content: "hello one W" } });
      writeFileSync(join(where, "index.ts"), "export default () => {\n  throw new Error('half done');\n};\n");
      expect(await told("half done")).toMatchObject({ loaded: false, error: { at: "index.ts:2:9" } });
      writeFileSync(join(where, "index.ts"), source('" two "'));
      expect(await told("hello two W")).toMatchObject({ result: { content: "hello two W" } });
    } finally {
      child.kill("SIGINT");
    }
    expect(await ended).toBe(0);
    expect(await said).toContain("watching ");
  });

  it.each([
    [[], "dev takes one plugin"],
    [["x", "--hook", "message_sendin"], 'did you mean "message_sending"?'],
    [["x", "--event", "{}"], "an event needs a hook"],
  ])("answers %j with exit code 2 and what to do", async (args, message) => {
    const { code, err } = await creelHere("dev", ...args);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    expect(err).toContain("Fix:");
  });
});

const SCRIPT = "creel:plugin/gate.js";
const GATE = `export default (api) => api.on("before_tool_call", (event) => {
  const command = String(event.params.command);
  if (command === "rm") return { block: true, blockReason: "never" };
});
`;

describe("creel dev of a past run", { timeout: 90_000 }, () => {
  const plugin = folder({ "index.ts": GATE, "creel.plugin.json": `{ "id": "gate", "main": "index.ts" }` });
  const home = folder({
    "creel.json": JSON.stringify({
      stateDir: "state",
      audit: { events: "full" },
      record: { enabled: true },
      sandbox: { walls: "none", spare: false },
      plugins: { load: { paths: [plugin] } },
    }),
  });
  const saved = join(home, "incident.creel");
  let [blocked, passed] = ["", ""];
  beforeAll(async () => {
    const host = await openHost({ config: join(home, "creel.json"), isolation: "thread", lanes: 1, logger: silent });
    [blocked, passed] = (await Promise.all(
      ["rm", "ls"].map(async (command) => (await host.run("before_tool_call", { toolName: "exec", params: { command } })).runId),
    )) as [string, string];
    await host.close();
    await creelHere("explain", blocked, "--config", join(home, "creel.json"), "--save", saved);
  });

  /** The first outcome that it prints, and what it has said besides. */
  async function run(...args: string[]): Promise<{ outcome: unknown; said: string }> {
    const command = ["-C", "source", "src/cli/main.ts", "dev", plugin, "--isolation", "thread", "--json", ...args];
    const child = spawn(process.execPath, command, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    const said = readAll(child.stderr);
    const { value } = (await createInterface(child.stdout)[Symbol.asyncIterator]().next()) as { value: string };
    child.kill("SIGINT");
    return { outcome: JSON.parse(value), said: await said };
  }

  it("runs it from its incident file, and says what happened there", async () => {
    const { outcome, said } = await run("--incident", saved);
    expect(outcome).toMatchObject({ decision: "block", reason: "never" });
    expect(said).toMatch(/incident {2}before_tool_call block by gate[^]*why .*gate returned block: true/);
  });

  it("runs it from the audit log, and one that passed from the recordings", async () => {
    const state = ["--state-dir", join(home, "state")];
    expect((await run("--from-run", blocked, ...state)).outcome).toMatchObject({ decision: "block", reason: "never" });
    expect((await run("--from-run", passed, ...state)).outcome).toMatchObject({
      decision: "pass",
      calls: [{ plugin: "gate", status: "ok" }],
    });
  });
});

describe("creel dev --inspect-brk", { timeout: 60_000 }, () => {
  it("loads the plugin when a debugger has attached, pauses at its first line, and goes on when it is told to", async () => {
    const plugin = folder({ "index.ts": GATE, "creel.plugin.json": `{ "id": "gate", "main": "index.ts" }` });
    const event = '{"toolName":"exec","params":{"command":"rm"}}';
    const args = ["dev", plugin, "--hook", "before_tool_call", "--event", event, "--isolation", "thread", "--inspect-brk=0", "--json"];
    const child = spawn(process.execPath, ["-C", "source", "src/cli/main.ts", ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    try {
      let said = "";
      for await (const line of createInterface(child.stderr)) {
        said += `${line}\n`;
        if (line.includes("waiting for a debugger")) break;
      }
      const port = /node inspect 127\.0\.0\.1:(\d+)/.exec(said)![1]!;
      const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as { webSocketDebuggerUrl: string }[];
      await using client = await CdpClient.connect(target!.webSocketDebuggerUrl);
      await client.send("Runtime.enable");
      await client.send("Debugger.enable");
      client.send("Runtime.runIfWaitingForDebugger").catch(() => {});
      const { scriptId } = await client.next<{ scriptId: string; url: string }>("Debugger.scriptParsed", (one) => one.url === SCRIPT);
      const { callFrames } = await client.next<Paused>("Debugger.paused");
      expect(callFrames[0]!.location.scriptId).toBe(scriptId);
      await client.send("Debugger.resume");
      const { value } = (await createInterface(child.stdout)[Symbol.asyncIterator]().next()) as { value: string };
      expect(JSON.parse(value)).toMatchObject({ decision: "block", reason: "never" });
    } finally {
      child.kill("SIGINT");
    }
  });
});

describe("the watch", () => {
  it("sees files of folders that are new, leaves packages out, and ends for whoever waits", async () => {
    const where = folder({ "a.ts": "1", "node_modules/x/index.js": "1" });
    using watch = await Watch.on(where);
    mkdirSync(join(where, "below"));
    writeFileSync(join(where, "a.ts"), "2");
    expect(await watch.next()).toBe(true);
    expect(watch.folders).toEqual([where, join(where, "below")]);
    const changed = watch.next();
    writeFileSync(join(where, "below/b.ts"), "1");
    expect(await changed).toBe(true);
    const waiting = watch.next();
    watch[Symbol.dispose]();
    expect(await waiting).toBe(false);
    expect(await watch.next()).toBe(false);
  });
});
