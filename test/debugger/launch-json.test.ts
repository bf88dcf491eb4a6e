/** The launch.json that `creel dev --inspect` prints, given to VS Code's own debugger: a breakpoint in a TypeScript file is hit. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { CACHE } from "../support/creel.ts";
import { JsDebug } from "../support/dap-client.ts";
import { folder } from "../support/files.ts";
import { findJsDebug } from "../support/js-debug.ts";

const CLI = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
/** Undefined: the test is skipped. */
const jsDebug = findJsDebug();

const home = folder({
  "my-plugin/creel.plugin.json": `{ "id": "my-plugin", "main": "index.ts" }`,
  "my-plugin/index.ts": `interface Exec {
  readonly command: string;
}
export default (api) => {
  api.on("before_tool_call", (event) => {
    const { command } = event.params as Exec;
    return { block: command !== "ls", blockReason: command };
  });
};
`,
  "event.json": `{ "toolName": "exec", "params": { "command": "ls" } }`,
});

interface Running extends AsyncDisposable {
  /** Of the launch.json. */
  readonly configuration: { readonly port: number; readonly remoteHostHeader: string };
  says(what: string): Promise<void>;
}

async function inspected(): Promise<Running> {
  const args = ["dev", "./my-plugin", "--hook", "before_tool_call", "--event", "@event.json", "--inspect-brk=0", "--isolation", "thread"];
  const env = { ...process.env, NODE_COMPILE_CACHE: CACHE };
  const child = spawn(process.execPath, ["-C", "source", CLI, ...args], { cwd: home, stdio: ["ignore", "pipe", "pipe"], env });
  let said = "";
  const news = new EventTarget();
  const ended = once(child, "exit");
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      news.dispatchEvent(new Event("said"));
    });
  const says = async (what: string): Promise<void> => {
    while (!said.includes(what)) await Promise.race([once(news, "said"), ended.then(() => expect(said).toContain(what))]);
  };
  await says("waiting for a debugger");
  const json = said.slice(said.indexOf("{", said.indexOf("launch.json")), said.indexOf("  terminal "));
  const { version, configurations } = JSON.parse(json) as { version: string; configurations: Running["configuration"][] };
  expect([version, configurations.length]).toEqual(["0.2.0", 1]);
  return {
    configuration: configurations[0]!,
    says,
    async [Symbol.asyncDispose]() {
      child.kill("SIGINT");
      await ended;
    },
  };
}

it("what is printed names the Host header that the door lets in; the one that js-debug sends by itself is refused", async () => {
  await using creel = await inspected();
  const { port, remoteHostHeader } = creel.configuration;
  const status = async (host: string): Promise<number | undefined> => {
    const [response] = (await once(get({ host: "127.0.0.1", port, path: "/json/version", headers: { host } }), "response")) as [
      IncomingMessage,
    ];
    response.resume();
    return response.statusCode;
  };
  expect([await status(remoteHostHeader), await status("localhost")]).toEqual([200, 403]);
});

it.skipIf(jsDebug === undefined)(
  "js-debug stops at a line of the author's file, shows its variables and changes one, which decides",
  { timeout: 120_000 },
  async () => {
    await using creel = await inspected();
    await using debuggers = await JsDebug.start(jsDebug!);
    const path = join(home, "my-plugin/index.ts");
    using session = await debuggers.attach(creel.configuration, (configured) =>
      configured.request("setBreakpoints", { source: { path }, breakpoints: [{ line: 7 }] }),
    );
    // The first line of the plugin, for --inspect-brk.
    const { threadId } = await session.next<{ readonly threadId: number }>("stopped");
    await session.request("continue", { threadId });
    expect(await session.next("stopped")).toMatchObject({ reason: "breakpoint" });
    const { stackFrames } = await session.request<{
      readonly stackFrames: readonly { readonly id: number; readonly line: number; readonly source: { readonly path: string } }[];
    }>("stackTrace", { threadId });
    expect(stackFrames[0]).toMatchObject({ line: 7, source: { path } });
    const { scopes } = await session.request<{ readonly scopes: readonly { readonly variablesReference: number }[] }>("scopes", {
      frameId: stackFrames[0]!.id,
    });
    const { variablesReference } = scopes[0]!;
    const { variables } = await session.request<{ readonly variables: readonly { readonly name: string; readonly value: string }[] }>(
      "variables",
      { variablesReference },
    );
    expect(variables.find(({ name }) => name === "command")?.value).toBe("'ls'");
    await session.request("setVariable", { variablesReference, name: "command", value: '"rm"' });
    await session.request("continue", { threadId });
    await creel.says("block by my-plugin");
  },
);
