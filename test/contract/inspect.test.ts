/** A real debugger at a real plugin: breakpoints in TypeScript, reloads, debuggers that vanish. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openHost } from "../../src/index.ts";
import type { Host } from "../../src/index.ts";
import type { InspectAddress } from "../../src/host/inspect/door.ts";
import { runCli } from "../../src/cli/cli.ts";
import type { Terminal } from "../../src/cli/ui/terminal.ts";
import { serve } from "../../src/cli/verbs/host/serve.ts";
import { VERBS } from "../../src/cli/verbs/index.ts";
import { creelConfig } from "../../src/protocol/config/config.ts";
import { createHarness } from "../../src/sdk/testing/testing.ts";
import { CdpClient } from "../support/cdp-client.ts";
import type { Paused } from "../support/cdp-client.ts";

const SOURCE = `import { definePlugin } from "creel/plugin";

type Word = string;

function judge(command: Word): { block: boolean; blockReason: string } | undefined {
  let words: Word[] = command.split(" ");
  let isBad = words.includes("rm");
  if (isBad) return { block: true, blockReason: "no " + words[0] };
  return undefined;
}

export default definePlugin({
  id: "guarded",
  register(api) {
    api.on("before_tool_call", async (event) => {
      if (event.toolName === "throw") throw new Error("thrown on purpose");
      if (event.toolName === "wait") await new Promise((resolve) => setTimeout(resolve, 5));
      if (event.toolName === "spin") for (const end = Date.now() + 400; Date.now() < end; );
      if (event.toolName === "fill") { const all: string[] = []; for (;;) all.push(String(all.length).repeat(1000)); }
      const verdict = judge(String(event.params.command));
      return verdict;
    });
  },
});
`;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "creel-inspect-"));
  await writeFile(join(folder, "plugin.ts"), SOURCE);
  await writeFile(
    join(folder, "openclaw.plugin.json"),
    JSON.stringify({ id: "guarded", configSchema: { type: "object", additionalProperties: false, properties: {} } }),
  );
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ name: "guarded", type: "module", openclaw: { extensions: ["./plugin.ts"] } }),
  );
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function open(
  isolation: "process" | "thread",
  more: { break?: boolean; listening?: (address: InspectAddress) => void } = {},
): Promise<{ host: Host; address: InspectAddress }> {
  let address: InspectAddress | undefined;
  const host = await openHost({
    isolation,
    lanes: 1,
    config: { sandbox: { spare: false } },
    plugins: [
      { path: folder, limits: { heapMb: 32 } },
      { id: "neighbour", source: `export default { id: "neighbour", register(api) { api.on("message_sending", () => {}); } };` },
    ],
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    inspect: { plugin: "guarded", port: 0, listening: (opened) => (address = opened), ...more },
  });
  return { host, address: address! };
}

const call = (
  toolName: string,
  command = "rm -rf",
): [hook: "before_tool_call", event: { toolName: string; params: Record<string, unknown> }] => [
  "before_tool_call",
  { toolName, params: { command } },
];

interface Script {
  readonly scriptId: string;
  readonly url: string;
  readonly sourceMapURL?: string;
}

/** Sets a breakpoint at a line of the author's file, as a debugger with source maps does. */
async function breakAt(client: CdpClient, { url, sourceMapURL }: Script, text: string): Promise<string> {
  const map = JSON.parse(Buffer.from(sourceMapURL!.split(",")[1]!, "base64").toString()) as { sources: string[]; sourcesContent: string[] };
  const at = map.sources.findIndex((source) => source.endsWith("/plugin.ts"));
  const line = map.sourcesContent[at]!.split("\n").findIndex((one) => one.includes(text));
  const { SourceMap } = await import("node:module");
  const mapping = new SourceMap(map as never);
  const code = (
    await client.send<{ scriptSource: string }>("Debugger.getScriptSource", { scriptId: (await scriptOf(client, url)).scriptId })
  ).scriptSource.split("\n");
  for (const [generated, content] of code.entries()) {
    const first = content.length - content.trimStart().length;
    const origin = mapping.findEntry(generated, first) as { originalSource?: string; originalLine?: number };
    if (origin.originalSource === map.sources[at] && origin.originalLine === line && generated > 0) {
      const { breakpointId } = await client.send<{ breakpointId: string }>("Debugger.setBreakpointByUrl", {
        url,
        lineNumber: generated,
        columnNumber: 0,
      });
      return breakpointId;
    }
  }
  throw new Error(`no code for line ${line}`);
}

const known = new WeakMap<CdpClient, Script>();

async function scriptOf(client: CdpClient, url: string): Promise<Script> {
  const script = known.get(client) ?? (await client.next<Script>("Debugger.scriptParsed", (one) => one.url === url));
  known.set(client, script);
  return script;
}

const URL_OF = "creel:plugin/guarded.js";

async function attach(address: InspectAddress): Promise<{ client: CdpClient; script: Script }> {
  const client = await CdpClient.connect(address.url);
  await client.send("Runtime.enable");
  await client.send("Debugger.enable");
  return { client, script: await scriptOf(client, URL_OF) };
}

describe.each(["process", "thread"] as const)("a debugger, %s isolation", (isolation) => {
  it("breaks on a line of TypeScript; a local that it changes decides", async () => {
    const { host, address } = await open(isolation);
    await using _ = host;
    const { client, script } = await attach(address);
    await using __ = client;
    await breakAt(client, script, "let isBad");
    const running = host.run(...call("exec"));
    const { callFrames } = await client.next<Paused>("Debugger.paused");
    expect(callFrames[0]!.functionName).toBe("judge");
    // None of Creel's own frames.
    expect(new Set(callFrames.map(({ location }) => location.scriptId))).toEqual(new Set([script.scriptId]));
    const { callFrameId } = callFrames[0]!;
    const { result } = await client.send<{ result: { value: unknown } }>("Debugger.evaluateOnCallFrame", {
      callFrameId,
      expression: "words.join('|')",
    });
    expect(result.value).toBe("rm|-rf");
    await client.send("Debugger.evaluateOnCallFrame", { callFrameId, expression: "words = ['ls']" });
    await client.send("Debugger.resume");
    expect((await running).decision).toBe("pass");
  });
});

describe("a debugger", () => {
  it("steps to the next line, and out into the caller", async () => {
    const { host, address } = await open("thread");
    await using _ = host;
    const { client, script } = await attach(address);
    await using __ = client;
    await breakAt(client, script, "let words");
    const running = host.run(...call("exec"));
    const first = await client.next<Paused>("Debugger.paused");
    await client.send("Debugger.stepOver");
    const second = await client.next<Paused>("Debugger.paused");
    expect(second.callFrames[0]!.location.lineNumber).toBe(first.callFrames[0]!.location.lineNumber + 1);
    await client.send("Debugger.stepOut");
    const third = await client.next<Paused>("Debugger.paused");
    expect(third.callFrames[0]!.functionName).not.toBe("judge");
    await client.send("Debugger.resume");
    expect((await running).decision).toBe("block");
  });

  it("stops where an exception is thrown", async () => {
    const { host, address } = await open("thread");
    await using _ = host;
    const { client, script } = await attach(address);
    await using __ = client;
    await client.send("Debugger.setPauseOnExceptions", { state: "all" });
    const running = host.run(...call("throw"));
    const { reason, callFrames } = await client.next<Paused & { data: { description: string } }>("Debugger.paused");
    // The handler is async: what it throws becomes a rejection.
    expect(reason).toBe("promiseRejection");
    expect(callFrames[0]!.location.scriptId).toBe(script.scriptId);
    await client.send("Debugger.resume");
    expect((await running).calls[0]).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("on purpose") as string },
    });
  });

  it("keeps its breakpoint over a reload, and stops in the new version", async () => {
    const { host, address } = await open("process");
    await using _ = host;
    const { client, script } = await attach(address);
    await using __ = client;
    const breakpointId = await breakAt(client, script, "let words");
    await writeFile(join(folder, "plugin.ts"), SOURCE.replace('"no "', '"never "'));
    await host.reload("guarded");
    const running = host.run(...call("exec"));
    const { hitBreakpoints, callFrames } = await client.next<Paused>("Debugger.paused");
    expect(hitBreakpoints).toEqual([breakpointId]);
    expect(callFrames[0]!.functionName).toBe("judge");
    await client.send("Debugger.resume");
    expect(await running).toMatchObject({ decision: "block", reason: "never rm" });
  });

  it("keeps it while DevTools takes it back and sets it again, as it does after a reload; one that is not set again goes", async () => {
    const { host, address } = await open("process");
    await using _ = host;
    const { client, script } = await attach(address);
    await using __ = client;
    const breakpointId = await breakAt(client, script, "let words");
    await host.reload("guarded");
    const again = await client.next<Script>("Debugger.scriptParsed", ({ url }) => url === script.url);
    known.set(client, again);
    await client.send("Debugger.removeBreakpoint", { breakpointId });
    const running = host.run(...call("exec"));
    await client.next<Paused>("Debugger.paused");
    expect(await breakAt(client, again, "let words")).toBe(breakpointId);
    await client.send("Debugger.resume");
    expect((await running).decision).toBe("block");
    await client.send("Debugger.removeBreakpoint", { breakpointId });
    const stops = async (): Promise<boolean> => {
      const run = host.run(...call("exec"));
      const hasPaused = client.next<Paused>("Debugger.paused").then(() => true);
      if (!(await Promise.race([run.then(() => false), hasPaused]))) return false;
      await client.send("Debugger.resume");
      await run;
      return true;
    };
    await expect.poll(stops, { timeout: 20_000 }).toBe(false);
  });

  it("pauses behind an await, and nothing runs out of time meanwhile, also not of CPU time", async () => {
    const { host, address } = await open("process");
    await using _ = host;
    const { client, script } = await attach(address);
    await using __ = client;
    await breakAt(client, script, "let words");
    const running = host.run(...call("wait"));
    await client.next<Paused>("Debugger.paused");
    // Longer than the CPU budget of a call and than the watchdog's patience with a thread.
    await new Promise((resolve) => setTimeout(resolve, 700));
    await client.send("Debugger.resume");
    expect(await running).toMatchObject({ decision: "block", calls: [{ status: "ok" }] });
    await client.send("Debugger.setBreakpointsActive", { active: false });
    // More than the CPU time of a call.
    expect(await host.run(...call("spin"))).toMatchObject({ decision: "block", calls: [{ status: "ok" }] });
    expect(host.inspect("guarded")).toMatchObject({ status: "ready", circuit: { state: "closed" } });
  });

  it("that is killed while the plugin is paused leaves nothing hanging, and another one can attach", async () => {
    const { host, address } = await open("process");
    await using _ = host;
    const tookMs: number[] = [];
    // The best of three: a busy machine is late on its own.
    while (tookMs.length < 3 && !tookMs.some((ms) => ms < 1_000)) {
      const { client, script } = await attach(address);
      await breakAt(client, script, "let words");
      const running = host.run(...call("exec"));
      await client.next<Paused>("Debugger.paused");
      const startedMs = performance.now();
      client.kill();
      expect((await running).decision).toBe("block");
      expect((await host.run(...call("exec", "ls"))).decision).toBe("pass");
      tookMs.push(performance.now() - startedMs);
    }
    expect(Math.min(...tookMs)).toBeLessThan(1_000);
    const again = await attach(address);
    await using __ = again.client;
    await breakAt(again.client, again.script, "let words");
    const second = host.run(...call("exec"));
    await again.client.next<Paused>("Debugger.paused");
    await again.client.send("Debugger.resume");
    expect((await second).decision).toBe("block");
  });

  // The moment matters: an isolate that has said that it pauses, and does not wait yet, must not be left there, and a session that is taken
  // away while the isolate speaks must not take the process along.
  it.each(["process", "thread"] as const)(
    "that goes away 40 times in the moment of a pause, every third time with a reload at once, leaves nothing hanging, %s isolation",
    { timeout: 60_000 },
    async (isolation) => {
      const { host, address } = await open(isolation);
      await using _ = host;
      for (let round = 0; round < 40; round++) {
        const { client, script } = await attach(address);
        await breakAt(client, script, "let words");
        const running = host.run(...call(round % 2 === 0 ? "exec" : "wait"));
        await client.next<Paused>("Debugger.paused");
        if (round % 4 === 0) void client.send("Debugger.stepOver").catch(() => {});
        client.kill();
        const reloaded = round % 3 === 0 ? host.reload("guarded") : undefined;
        expect((await running).calls).toHaveLength(1);
        await reloaded;
        expect((await host.run(...call("exec", "ls"))).decision).toBe("pass");
      }
    },
  );

  it("does not keep a host from closing while the plugin is paused", async () => {
    const { host, address } = await open("thread");
    const { client, script } = await attach(address);
    await breakAt(client, script, "let words");
    const running = host.run(...call("exec"));
    await client.next<Paused>("Debugger.paused");
    await host.close();
    expect((await running).calls).toHaveLength(1);
    await client.closed;
  });

  it.each(["process", "thread"] as const)(
    "pauses and resumes 300 times without a stall, %s isolation",
    { timeout: 60_000 },
    async (isolation) => {
      const { host, address } = await open(isolation);
      await using _ = host;
      const { client, script } = await attach(address);
      await using __ = client;
      await breakAt(client, script, "let words");
      for (let round = 0; round < 300; round++) {
        const running = host.run(...call("exec", round % 2 === 0 ? "ls" : "rm"));
        await client.next<Paused>("Debugger.paused");
        // At once: a resume that arrives before the isolate waits for it must not be lost.
        void client.send("Debugger.resume");
        expect((await running).decision).toBe(round % 2 === 0 ? "pass" : "block");
      }
    },
  );

  it("lets neighbours go on, and the heap limit holds", async () => {
    const { host, address } = await open("process");
    await using _ = host;
    const { client, script } = await attach(address);
    await using __ = client;
    const id = await breakAt(client, script, "let words");
    const running = host.run(...call("exec"));
    await client.next<Paused>("Debugger.paused");
    expect((await host.run("message_sending", { to: "me", content: "hi" }, { channelId: "c" })).calls).toMatchObject([
      { plugin: "neighbour", status: "ok" },
    ]);
    await client.send("Debugger.removeBreakpoint", { breakpointId: id });
    await client.send("Debugger.resume");
    await running;
    const filling = host.run(...call("fill"));
    // V8 stops there, so that the author can look around before it is too late.
    expect((await client.next<Paused>("Debugger.paused")).reason).toBe("OOM");
    await expect(client.send("Debugger.resume")).rejects.toThrow("loaded again");
    expect((await filling).calls[0]).toMatchObject({ error: { code: "ERR_CALL_MEMORY" } });
    expect((await host.run(...call("exec", "ls"))).decision).toBe("pass");
  });

  it("that ends the load of the plugin is named as the reason, and not the plugin's text", async () => {
    const listening = Promise.withResolvers<InspectAddress>();
    const opening = open("thread", { break: true, listening: listening.resolve });
    const failed = opening.then(
      () => "it was loaded",
      (error: Error) => error.message,
    );
    await using client = await CdpClient.connect((await listening.promise).url);
    await client.send("Debugger.enable");
    client.send("Runtime.runIfWaitingForDebugger").catch(() => {});
    await client.next<Paused>("Debugger.paused");
    client.send("Runtime.terminateExecution").catch(() => {});
    client.send("Debugger.resume").catch(() => {});
    expect(await failed).toContain("the debugger ended its turn");
  });

  it("sees the first line of the plugin with `break`", async () => {
    const listening = Promise.withResolvers<InspectAddress>();
    const opening = open("thread", { break: true, listening: listening.resolve });
    await using client = await CdpClient.connect((await listening.promise).url);
    await client.send("Debugger.enable");
    await client.send("Runtime.runIfWaitingForDebugger");
    const { scriptId } = await scriptOf(client, URL_OF);
    const { callFrames, reason } = await client.next<Paused>("Debugger.paused");
    expect([reason, callFrames[0]!.location.scriptId]).toEqual(["Break on start", scriptId]);
    await client.send("Debugger.resume");
    const { host } = await opening;
    await using _ = host;
    expect((await host.run(...call("exec"))).decision).toBe("block");
  });
});

const pen = (write: (text: string) => void): Terminal => ({ width: 80, line: (text = "") => write(text), paint: (_, text) => text });

describe("a debugger of an author's tools", () => {
  it("attaches to the plugin of a harness, at the address that the harness has; the terminal says how, and that budgets are off", async () => {
    const printed = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    await using harness = await createHarness({ plugin: folder, inspect: true });
    const said = printed.mock.calls.join("");
    printed.mockRestore();
    expect(said).toContain(harness.debugger!.devtools);
    expect(said).toContain(`"remoteHostHeader": "127.0.0.1:${harness.debugger!.port}"`);
    expect(said).toContain("all budgets of guarded but memory are off");
    const { client, script } = await attach(harness.debugger!);
    await using _ = client;
    await breakAt(client, script, "let words");
    const running = harness.run(...call("exec"));
    await client.next<Paused>("Debugger.paused");
    await client.send("Debugger.resume");
    expect((await running).decision).toBe("block");
  });

  it("attaches to the plugin of `creel call --inspect`, which waits for it at the first line", async () => {
    const listening = Promise.withResolvers<string>();
    let [out, said] = ["", ""];
    const event = JSON.stringify(call("exec")[1]);
    const calling = runCli(
      ["call", "before_tool_call", "--plugin", folder, "--event", event, "--isolation", "thread", "--inspect=0", "--json"],
      VERBS,
      {
        out: pen((text) => (out += text)),
        err: pen((text) => {
          said += text;
          const [, port] = /node inspect 127\.0\.0\.1:(\d+)/.exec(text) ?? [];
          if (port !== undefined) listening.resolve(port);
        }),
      },
    );
    const [target] = (await (await fetch(`http://127.0.0.1:${await listening.promise}/json/list`)).json()) as {
      webSocketDebuggerUrl: string;
    }[];
    await using client = await CdpClient.connect(target!.webSocketDebuggerUrl);
    await client.send("Debugger.enable");
    await client.send("Runtime.runIfWaitingForDebugger");
    expect((await client.next<Paused>("Debugger.paused")).reason).toBe("Break on start");
    await client.send("Debugger.resume");
    expect(await calling).toBe(0);
    expect(said).toContain("a debugger can attach to guarded at port");
    expect(JSON.parse(out)).toMatchObject({ decision: "block" });
  });
});

describe("without a debugger", () => {
  it("none can be asked for in a creel.json: only a gateway's own code can name a plugin", () => {
    expect(Object.keys(creelConfig.shape).filter((name) => name.includes("inspect"))).toEqual([]);
    expect(Object.keys(serve.options).filter((name) => name.includes("inspect"))).toEqual([]);
  });

  it("a name that no plugin has is a warning", async () => {
    const warnings: string[] = [];
    const logger = { debug() {}, info() {}, warn: (_: object, text: string) => void warnings.push(text), error() {} };
    const inspect = { plugin: "gaurded", port: 0 };
    await using _ = await openHost({ isolation: "thread", lanes: 1, plugins: [{ path: folder }], logger, inspect });
    expect(warnings).toContain('there is no plugin "gaurded" to inspect; did you mean "guarded"?');
  });

  it("no port is open, and no plugin can be inspected", async () => {
    await using host = await openHost({
      isolation: "thread",
      lanes: 1,
      plugins: [{ path: folder }],
      logger: { debug() {}, info() {}, warn() {}, error() {} },
    });
    await host.run(...call("exec"));
    expect(process.getActiveResourcesInfo()).not.toContain("TCPServerWrap");
  });
});
