/** A debugger that a command waits for, as docs/guides/debugging.md shows it: the plugin pauses at its first line, and goes on when it is told to. */
// runs: creel dev ./my-plugin --inspect-brk
// runs: creel call before_tool_call --plugin ./my-plugin --event @event.json --inspect
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { CdpClient } from "../support/cdp-client.ts";
import type { Paused } from "../support/cdp-client.ts";
import { CACHE } from "../support/creel.ts";
import { folder } from "../support/files.ts";

const CLI = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const home = folder({
  "my-plugin/creel.plugin.json": `{ "id": "my-plugin" }`,
  "my-plugin/index.ts": `const word: string = "no";\nexport default (api) => { api.on("before_tool_call", () => ({ block: true, blockReason: word })); };\n`,
  "event.json": `{ "toolName": "exec", "params": {} }`,
});

it.each([
  ["dev", ["dev", "./my-plugin", "--hook", "before_tool_call", "--event", "@event.json", "--inspect-brk=0"]],
  ["call", ["call", "before_tool_call", "--plugin", "./my-plugin", "--event", "@event.json", "--inspect=0"]],
])("creel %s waits for a debugger, pauses at the first line of the plugin, and then answers", { timeout: 60_000 }, async (verb, args) => {
  const child = spawn(process.execPath, ["-C", "source", CLI, ...args, "--isolation", "thread"], {
    cwd: home,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE: CACHE },
  });
  let said = "";
  const news = new EventTarget();
  const ended = once(child, "exit") as Promise<[number]>;
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      news.dispatchEvent(new Event("said"));
    });
  const says = async (what: string): Promise<void> => {
    while (!said.includes(what)) await Promise.race([once(news, "said"), ended.then(() => expect(said).toContain(what))]);
  };
  try {
    await says("waiting for a debugger");
    const port = /node inspect 127\.0\.0\.1:(\d+)/.exec(said)![1]!;
    const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as { webSocketDebuggerUrl: string }[];
    await using client = await CdpClient.connect(target!.webSocketDebuggerUrl);
    await client.send("Debugger.enable");
    await client.send("Runtime.runIfWaitingForDebugger");
    const { scriptId } = await client.next<{ scriptId: string; url: string }>(
      "Debugger.scriptParsed",
      ({ url }) => url === "creel:plugin/my-plugin.js",
    );
    const { callFrames } = await client.next<Paused>("Debugger.paused");
    expect(callFrames[0]!.location.scriptId).toBe(scriptId);
    expect(said).not.toContain("block by my-plugin");
    await client.send("Debugger.resume");
    await says("block by my-plugin");
  } finally {
    if (verb === "dev") child.kill("SIGINT");
  }
  expect((await ended)[0]).toBe(0);
});

it.each(["thread", "process"])(
  "Ctrl-C ends creel dev while it waits for a debugger: %s isolation",
  { timeout: 60_000 },
  async (isolation) => {
    const child = spawn(process.execPath, ["-C", "source", CLI, "dev", "./my-plugin", "--inspect-brk=0", "--isolation", isolation], {
      cwd: home,
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, NODE_COMPILE_CACHE: CACHE },
    });
    const ended = once(child, "exit");
    let said = "";
    for await (const chunk of child.stderr as AsyncIterable<Buffer>) {
      said += chunk.toString();
      if (said.includes("waiting for a debugger")) break;
    }
    child.kill("SIGINT");
    expect(await ended).toEqual([0, null]);
  },
);
