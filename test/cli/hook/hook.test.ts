/** `creel hook` with recorded payloads of each agent against a real host: every verdict in the agent's own words, and a denial whenever there is none. */
import { createServer } from "node:net";
import type { Socket } from "node:net";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Served } from "../../../src/serve/server.ts";
import { AGENTS, agentOf } from "../../../src/serve/agents/agents.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { answerHook, hookCallOf } from "../../../src/cli/hook/call.ts";
import type { HookAnswer } from "../../../src/cli/hook/call.ts";
import { commandsFor } from "../../../src/cli/hook/settings-places.ts";
import { CACHE } from "../../support/creel.ts";
import { folder } from "../../support/files.ts";
import { plugin } from "../../support/host.ts";
import { served, socketPath } from "../../support/serve.ts";
import { RECORDED } from "./recorded.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

const GUARD = plugin(
  "guard",
  `
  let seen = [];
  for (const hook of ["after_tool_call", "message_received", "session_start", "session_end", "before_compaction", "agent_end"])
    api.on(hook, (event, ctx) => void seen.push({ hook, event, ctx }));
  api.registerGatewayMethod("seen", ({ respond }) => respond(true, seen.splice(0)));
  api.on("before_tool_call", ({ params, toolName }, ctx) => {
    if (params.command === "rm -rf /") return { block: true, blockReason: "no rm here" };
    if (params.command === "forge") return { block: true, blockReason: "\\u001b[31mred\\nsecond line" };
    if (params.command === "curl x") return { requireApproval: { title: "Network", description: "it leaves the machine" } };
    if (params.command === "curl y") return { params: { command: "curl z" }, requireApproval: { title: "Network", description: "d" } };
    if (params.command === "ls") return { params: { command: "ls -la" } };
    if (params.command === "who") return { block: true, blockReason: [ctx.gateway, toolName, ctx.sessionKey, ctx.workspaceDir].join(" ") };
  });
  api.on("before_agent_run", ({ prompt }) => prompt.includes("secret") ? { outcome: "block", reason: "for the operator", message: "no secrets" } : { outcome: "pass" });
  api.on("before_prompt_build", ({ prompt }) => prompt === "what day" ? { appendContext: "today is Friday" } : undefined);
  api.on("before_agent_finalize", (event) => event.lastAssistantMessage === "half done" ? { action: "revise", reason: "finish it" } : undefined);
`,
  { hooks: { allowConversationAccess: true, allowPromptInjection: true } },
);

let server: Served;
beforeAll(async () => void (server = await served({ plugins: [GUARD] })));
afterAll(() => server.close());

async function* stream(...chunks: readonly (string | Buffer)[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

function call(agent: string, event: string, payload: unknown, { socket = server.socket, waitMs = 20_000 } = {}): Promise<HookAnswer> {
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  return answerHook({ format: agentOf(agent)!, event, socket, waitMs }, stream(text));
}

/** Since the last time. */
async function seen(): Promise<unknown> {
  const { value } = await server.host.call({ method: "seen" });
  return (value as { payload: unknown }).payload;
}

const COMMANDS = { allow: "echo", block: "rm -rf /", rewrite: "ls", approval: "curl x" } as const;
const AGENT_NAMES = AGENTS.map(({ name }) => name);

it("there are recorded payloads of every agent", () => {
  expect(Object.keys(RECORDED)).toEqual(AGENT_NAMES);
});

describe.each(AGENT_NAMES)("%s", (agent) => {
  const { tool, answers, deny, prompt, told } = RECORDED[agent]!;

  it.each(Object.entries(COMMANDS))("%s is said in its own format", async (verdict, command) => {
    const { json, problem } = await call(agent, tool.event, tool.payload(command));
    expect(problem).toBeUndefined();
    expect(json).toEqual(answers[verdict as keyof typeof answers]);
  });

  it("plugins see who asks, for which session, and where", async () => {
    const { json } = await call(agent, tool.event, tool.payload("who"));
    expect(JSON.stringify(json)).toMatch(new RegExp(`plugin guard: ${agent} \\w+ ${agent}:abc-?123 /`));
  });

  it("a prompt is told; blocked or added to where the agent can be", async () => {
    await seen();
    expect((await call(agent, prompt.event, prompt.payload("a secret"))).json).toEqual(prompt.blocked);
    expect((await call(agent, prompt.event, prompt.payload("what day"))).json).toEqual(prompt.context);
    expect(await seen()).toMatchObject([
      { hook: "message_received", event: { from: "user", content: "a secret" }, ctx: { gateway: agent, channelId: agent } },
      { hook: "message_received", event: { content: "what day" } },
    ]);
  });

  it.each(told)("$event is $hook", async ({ event, payload, hook, fact }) => {
    await seen();
    const { problem } = await call(agent, event, payload);
    expect(problem).toBeUndefined();
    expect(await seen()).toMatchObject([{ hook, event: fact, ctx: { gateway: agent } }]);
  });

  it("denies when the host is away, and says what to do", async () => {
    const { json, problem } = await call(agent, tool.event, tool.payload("echo"), { socket: socketPath() });
    expect(json).toEqual(
      deny(expect.stringMatching(/^Creel has not checked this, so it is denied: no host answers .* start one with "creel serve"/)),
    );
    expect(problem).toContain("creel serve");
    // An event that is only told cannot be denied, and must not stop the agent.
    const after = await call(agent, told[0]!.event, told[0]!.payload, { socket: socketPath() });
    expect(JSON.stringify(after.json ?? {})).not.toMatch(/deny|block|"cancel":true/);
  });

  it.each([
    ["nothing", ""],
    ["no JSON", "{"],
    ["a list", "[]"],
    ["an empty object", "{}"],
    ["parameters that are no object", undefined],
    ["more than a file", `"${"x".repeat(LIMITS.serve.hookBytes)}"`],
  ])("denies a payload that is %s", async (_, text) => {
    const { json } = await call(agent, tool.event, text ?? spoilt(tool.payload("echo")));
    expect(json).toEqual(deny(expect.stringContaining("sent something that Creel cannot read")));
  });
});

/** With every kind of parameters replaced by a number. */
function spoilt(payload: object): object {
  return JSON.parse(JSON.stringify(payload), (key, value: unknown) =>
    ["tool_input", "toolArgs", "parameters"].includes(key) ? 7 : value,
  ) as object;
}

describe("a verdict", () => {
  const { tool } = RECORDED["claude-code"]!;
  it("that asks shows the parameters as a plugin changed them", async () => {
    const { json } = await call("claude-code", "PreToolUse", tool.payload("curl y"));
    expect(json).toMatchObject({
      hookSpecificOutput: { permissionDecision: "ask", updatedInput: { command: "curl z", description: "Run it", timeout: 120_000 } },
    });
  });

  it("is one line without control characters, whatever the plugin says", async () => {
    const { json } = await call("claude-code", "PreToolUse", tool.payload("forge"));
    expect(json).toMatchObject({ hookSpecificOutput: { permissionDecisionReason: "Creel, plugin guard: [31mred second line" } });
  });

  it("at the end of a turn is one more pass, but not a third", async () => {
    const stop = { session_id: "abc123", hook_event_name: "Stop", last_assistant_message: "half done" };
    expect((await call("claude-code", "Stop", { ...stop, stop_hook_active: false })).json).toEqual({
      decision: "block",
      reason: "finish it",
    });
    expect((await call("claude-code", "Stop", { ...stop, stop_hook_active: true })).json).toBeUndefined();
    const gemini = {
      session_id: "abc123",
      hook_event_name: "AfterAgent",
      prompt: "p",
      prompt_response: "half done",
      stop_hook_active: false,
    };
    expect((await call("gemini-cli", "AfterAgent", gemini)).json).toEqual({ decision: "deny", reason: "finish it" });
  });

  it("is a denial for a payload of another event than the command was installed for", async () => {
    const { json } = await call("claude-code", "PreToolUse", { ...tool.payload("echo"), hook_event_name: "PostToolUse" });
    expect(json).toMatchObject({ hookSpecificOutput: { permissionDecision: "deny" } });
  });
});

/** A host that greets as one does, and then behaves as it is told. */
async function impostor(behave: (socket: Socket, line: string) => void): Promise<{ socket: string } & AsyncDisposable> {
  const socket = socketPath();
  const open = new Set<Socket>();
  const fake = createServer((client) => {
    open.add(client);
    client.on("error", () => {});
    client.on("data", (data) =>
      data
        .toString()
        .trim()
        .split("\n")
        .forEach((line) => behave(client, line)),
    );
  });
  writeFileSync(`${socket}.json`, JSON.stringify({ protocol: 2, pid: process.pid, token: "t".repeat(43) }), { mode: 0o600 });
  await new Promise<void>((resolve) => fake.listen(socket, resolve));
  return {
    socket,
    async [Symbol.asyncDispose]() {
      for (const client of open) client.destroy();
      await new Promise((resolve) => fake.close(resolve));
    },
  };
}

describe("denies when the host", () => {
  const { tool, deny } = RECORDED["claude-code"]!;
  const id = 1;
  it.each<[string, (socket: Socket, line: string) => void, string]>([
    ["hangs up", (socket) => void socket.destroy(), "was lost"],
    ["is silent", () => {}, "did not answer a hook within 200 ms"],
    ["talks nonsense", (socket) => void socket.write("nonsense\n"), "breaks the protocol"],
    [
      "answers with a number",
      (socket, line) => void (line.includes("run") && socket.write(`${JSON.stringify({ id, ok: 7 })}\n`)),
      "not an outcome",
    ],
    [
      "answers with an unknown decision",
      (socket) => void socket.write(`${JSON.stringify({ id, ok: { decision: "perhaps" } })}\n`),
      "plugin unknown: blocked",
    ],
    ["refuses", (socket) => void socket.write(`${JSON.stringify({ error: { code: "X", message: "go away" } })}\n`), "go away"],
    [
      "answers with an error",
      (socket) => void socket.write(`${JSON.stringify({ id, error: { code: "X", message: "no such hook" } })}\n`),
      "no such hook",
    ],
  ])("%s", async (_, behave, why) => {
    await using fake = await impostor(behave);
    const { json } = await call("claude-code", "PreToolUse", tool.payload("echo"), {
      socket: fake.socket,
      waitMs: why.includes("200") ? 200 : 20_000,
    });
    expect(json).toEqual(deny(expect.stringContaining(why)));
  });

  it("may be another user's: others can enter its folder", async () => {
    await using fake = await impostor((socket) => void socket.write(`${JSON.stringify({ id, ok: { decision: "pass" } })}\n`));
    expect((await call("claude-code", "PreToolUse", tool.payload("echo"), { socket: fake.socket })).json).toBeUndefined();
    chmodSync(dirname(fake.socket), 0o755);
    const { json } = await call("claude-code", "PreToolUse", tool.payload("echo"), { socket: fake.socket });
    expect(json).toEqual(deny(expect.stringContaining("can be entered by others")));
  });
});

it("a command line that is no call is left to the verb", () => {
  const good = ["--for", "codex", "--event", "PreToolUse"];
  expect(hookCallOf(good)).toMatchObject({ event: "PreToolUse", waitMs: LIMITS.serve.hookMs });
  for (const args of [
    ["--for", "emacs", "--event", "x"],
    ["--for", "codex"],
    [...good, "--help"],
    [...good, "--wait", "soon"],
    ["--for", "codex", "--event", "toString"],
  ])
    expect(hookCallOf(args)).toBeUndefined();
});

describe("the command", () => {
  it("as it is installed, in a process of its own, is judged by a creel serve in another", { timeout: 60_000 }, async () => {
    const where = folder({
      "creel.json": JSON.stringify({ plugins: { load: { paths: ["./guard.js"] } }, sandbox: { spare: false, walls: "none" } }),
      "guard.js": `export default (api) => api.on("before_tool_call", ({ params }, ctx) => params.command === "rm" ? { block: true, blockReason: "no, " + ctx.gateway } : undefined);`,
    });
    const socket = socketPath();
    const creel = [process.execPath, "-C", "source", join(ROOT, "src/cli/main.ts")];
    const host = spawn(
      creel[0]!,
      [...creel.slice(1), "serve", "--config", join(where, "creel.json"), "--socket", socket, "--isolation", "thread"],
      {
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    const ended = once(host, "exit");
    const command = commandsFor(agentOf("claude-code")!, { start: creel, socket }).get("PreToolUse")!;
    const { tool, deny } = RECORDED["claude-code"]!;
    const asks = (text: string): string =>
      spawnSync("sh", ["-c", command], {
        input: JSON.stringify(tool.payload(text)),
        encoding: "utf8",
        env: { ...process.env, NODE_COMPILE_CACHE: CACHE },
      }).stdout;
    await once(host.stdout, "data");
    expect(JSON.parse(asks("rm"))).toEqual(deny("Creel, plugin guard: no, claude-code"));
    expect(asks("ls")).toBe("");
    host.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    expect(JSON.parse(asks("ls"))).toEqual(deny(expect.stringContaining('start one with "creel serve"')));
  });

  it("loads neither the SDK nor a package before it answers", () => {
    const files = new Set([join(ROOT, "src/cli/hook/main.ts")]);
    const packages = new Set<string>();
    for (const file of files)
      for (const [, names, from] of readFileSync(file, "utf8").matchAll(/^(?:import|export) (?!type )([^;]*?) from "([^"]+)";/gms))
        if (from!.startsWith(".")) files.add(join(dirname(file), from!));
        else if (names !== "") packages.add(from!);
    expect([...packages].filter((name) => !name.startsWith("node:"))).toEqual([]);
    expect(
      [...files].map((file) => relative(join(ROOT, "src"), file)).filter((file) => /^(?:sdk|host|state|discovery)/.test(file)),
    ).toEqual(["sdk/remote/serve-place.ts"]);
    expect(files.size).toBeGreaterThan(8);
  });
});
