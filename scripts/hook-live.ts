/**
 * `creel hook` end to end with real agents from npm, offline, with a mock model that wants to run four commands. Not in
 * CI, since the agents take 600 MB: `npm install --prefix <folder> @openai/codex @google/gemini-cli
 * @anthropic-ai/claude-code`, `npm run build`, then `node -C source scripts/hook-live.ts codex
 * <folder>/node_modules/.bin/codex`, and the same with `gemini-cli` and `…/gemini`, `claude-code` and `…/claude`. Fails if
 * a command ran that the guard does not let pass, or one did not run that it lets pass.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

interface Agent {
  /** Files below its home, for a model on this port. */
  settings(port: number): Record<string, string>;
  env(home: string, port: number): Record<string, string>;
  args(freedom: "free" | "sandboxed" | "asked"): string[];
  /** Does it sandbox commands itself? */
  readonly canSandbox: boolean;
  /** Does it ask its user? Without a terminal it then refuses, also what a plugin rewrote, which it asks about, too. */
  readonly canAsk: boolean;
  /** The events of the answer; undefined: this is not a turn. An undefined command ends the turn. */
  answer(body: string, command: string | undefined, number: number): object[] | undefined;
}

const AGENTS: Readonly<Record<string, Agent>> = {
  codex: {
    settings: (port) => ({
      ".codex/config.toml": `model = "mock"\nmodel_provider = "mock"\n[model_providers.mock]\nname = "mock"\nbase_url = "http://127.0.0.1:${port}/v1"\nwire_api = "responses"\n`,
    }),
    env: () => ({}),
    args: (freedom) => [
      "exec",
      "--skip-git-repo-check",
      "--dangerously-bypass-hook-trust",
      freedom === "free" ? "--dangerously-bypass-approvals-and-sandbox" : "--sandbox=read-only",
      "go",
    ],
    canSandbox: true,
    canAsk: false,
    answer(body, command, number) {
      const text = { type: "message", role: "assistant", id: "m", content: [{ type: "output_text", text: "done" }] };
      return [
        { type: "response.created", response: { id: "r" } },
        { type: "response.output_item.done", output_index: 0, item: command === undefined ? text : codexCall(body, command, number) },
        { type: "response.completed", response: { id: "r", usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } } },
      ];
    },
  },
  "gemini-cli": {
    settings: () => ({
      ".gemini/settings.json": JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
      }),
    }),
    env: (_, port) => ({ GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${port}` }),
    args: () => ["-p", "go", "--yolo", "--skip-trust", "-m", "gemini-2.5-flash"],
    canSandbox: false,
    canAsk: false,
    answer(body, command) {
      if (!body.includes("functionDeclarations")) return undefined;
      const call = { functionCall: { name: "run_shell_command", args: { command } } };
      const parts = [command === undefined ? { text: "done" } : call];
      return [
        { candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }], usageMetadata: { totalTokenCount: 2 } },
      ];
    },
  },
  "claude-code": {
    settings: () => ({ ".claude.json": JSON.stringify({ hasCompletedOnboarding: true }) }),
    env: (_, port) => ({
      ANTHROPIC_API_KEY: "none",
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    }),
    // "asked": this script is the user, who is asked on stdout and answers on stdin.
    args: (freedom) =>
      freedom === "asked"
        ? ["-p", "--verbose", "--input-format=stream-json", "--output-format=stream-json", "--permission-prompt-tool=stdio"]
        : ["-p", "go", "--allowedTools", "Bash"],
    canSandbox: false,
    canAsk: true,
    answer(body, command, number) {
      if (!body.includes('"name":"Bash"')) return undefined;
      const [block, delta, reason] =
        command === undefined
          ? [{ type: "text", text: "" }, { type: "text_delta", text: "done" }, "end_turn"]
          : [
              { type: "tool_use", id: `toolu_${number}`, name: "Bash", input: {} },
              { type: "input_json_delta", partial_json: JSON.stringify({ command, description: "go" }) },
              "tool_use",
            ];
      const message = { id: `msg_${number}`, type: "message", role: "assistant", model: "mock", content: [], stop_reason: null };
      return [
        { type: "message_start", message: { ...message, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } },
        { type: "content_block_start", index: 0, content_block: block },
        { type: "content_block_delta", index: 0, delta },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 1 } },
        { type: "message_stop" },
      ];
    },
  },
};

/** By the name and parameters of the shell tool that this Codex offers. */
function codexCall(body: string, command: string, number: number): object {
  const { tools } = JSON.parse(body) as { tools: { name?: string; parameters?: { properties?: object } }[] };
  const shell = tools.find(({ name }) => ["shell", "shell_command", "exec_command", "local_shell"].includes(name ?? ""));
  if (!shell) throw new Error(`no shell among ${tools.map(({ name }) => name).join(", ")}`);
  const key = Object.keys(shell.parameters?.properties ?? {}).includes("cmd") ? "cmd" : "command";
  const given = { [key]: shell.name === "shell" ? ["sh", "-c", command] : command };
  return { type: "function_call", id: `f${number}`, call_id: `call-${number}`, name: shell.name, arguments: JSON.stringify(given) };
}

const [name = "", binary = name] = process.argv.slice(2);
const agent = AGENTS[name];
if (!agent) throw new Error(`usage: hook-live.ts <${Object.keys(AGENTS).join("|")}> <its command>`);
const creel = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "creel-live-"));
const project = join(home, "project");
const socket = join(home, "s.sock");
const COMMANDS = ["touch passed", "touch blocked", "touch approve", "touch rewrite-me"];
const FILES = ["passed", "blocked", "approve", "rewrite-me", "rewritten"];

let turns: string[] = [];
const model = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    const events = request.method === "POST" ? agent.answer(body, COMMANDS[turns.length], turns.length) : undefined;
    if (events) turns.push(body);
    response.writeHead(events ? 200 : 404, { "content-type": "text/event-stream" });
    response.end(events?.map((event) => `${nameOf(event)}data: ${JSON.stringify(event)}\n\n`).join(""));
  });
});
model.listen(0, "127.0.0.1");
await once(model, "listening");
const { port } = model.address() as AddressInfo;

/** Claude Code reads events by this line. */
function nameOf(event: object): string {
  return "type" in event ? `event: ${String(event.type)}\n` : "";
}

const files = {
  ...agent.settings(port),
  "creel.json": JSON.stringify({ plugins: { load: { paths: ["./guard.js"] } } }),
  "guard.js": `export default (api) => api.on("before_tool_call", ({ params }, ctx) => {
    const command = String(params.command);
    if (command.includes("blocked")) return { block: true, blockReason: "blocked for " + ctx.gateway };
    if (command.includes("approve")) return { requireApproval: { title: "Approve", description: "a person decides" } };
    if (command.includes("rewrite-me")) return { params: { command: command.replace("rewrite-me", "rewritten") } };
  });`,
};
for (const [path, text] of Object.entries(files)) {
  mkdirSync(join(home, path, ".."), { recursive: true });
  writeFileSync(join(home, path), text);
}
mkdirSync(project);

/** `isAsked`: allows everything that Claude Code asks about, and gives the lines with its questions. */
async function output(file: string, args: readonly string[], isAsked = false): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: home, ...agent!.env(home, port) };
  const child = spawn(file, args, { env, cwd: project, stdio: ["pipe", "pipe", "pipe"] });
  const say = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  let text = "";
  child.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  if (isAsked) say({ type: "user", message: { role: "user", content: "go" } });
  else child.stdin.end();
  for await (const line of createInterface({ input: child.stdout })) {
    text += `${line}\n`;
    if (!isAsked || !line.startsWith("{")) continue;
    const { type, request_id, request } = JSON.parse(line) as Question;
    if (type === "result") child.stdin.end();
    if (type !== "control_request" || request?.subtype !== "can_use_tool") continue;
    const response = { behavior: "allow", updatedInput: request.input };
    say({ type: "control_response", response: { subtype: "success", request_id, response } });
  }
  return text;
}

interface Question {
  readonly type: string;
  readonly request_id?: string;
  readonly request?: { readonly subtype: string; readonly input: object };
}

type Freedom = Parameters<Agent["args"]>[0];

async function expectRun(what: string, freedom: Freedom, expected: readonly string[], calls: number): Promise<string> {
  turns = [];
  for (const file of FILES) rmSync(join(project, file), { force: true });
  const text = await output(resolve(binary), agent!.args(freedom), freedom === "asked");
  const ran = FILES.filter((file) => existsSync(join(project, file)));
  console.log(JSON.stringify({ agent: name, what, ran, modelCalls: turns.length }));
  if (ran.join() === expected.join() && turns.length === calls) return text;
  console.log(text.slice(-4_000));
  throw new Error(`expected ${expected.join() || "nothing"} and ${calls} calls of the model`);
}

const host = spawn(process.execPath, [creel, "serve", "--config", join(home, "creel.json"), "--socket", socket], {
  stdio: ["ignore", "pipe", "ignore"],
});
try {
  await once(host.stdout, "data");
  const said = await output(process.execPath, [creel, "hook", "install", "--for", name, "--socket", socket, "--yes", "--json"]);
  const version = await output(resolve(binary), ["--version"]);
  console.log(version.trim().split("\n").at(-1), said.trim().split("\n").at(-1));
  const all = COMMANDS.length + 1;
  await expectRun("pass, block, approval, rewrite", "free", agent.canAsk ? ["passed"] : ["passed", "rewritten"], all);
  for (const reason of [`blocked for ${name}`, agent.canAsk ? "a person decides" : "has no way to ask you"])
    if (!turns.at(-1)?.includes(reason)) throw new Error(`the model was not told: ${reason}`);
  // A rewrite is an "allow" to Codex: it must not lift Codex's own sandbox.
  if (agent.canSandbox) await expectRun("the same in the agent's own sandbox", "sandboxed", [], all);
  if (agent.canAsk) {
    const text = await expectRun("its user allows what it asks about", "asked", ["passed", "approve", "rewritten"], all);
    const questions = text.split("\n").filter((line) => line.includes("can_use_tool"));
    for (const part of ["a person decides", "touch rewritten"])
      if (!questions.some((line) => line.includes(part))) throw new Error(`the user was not shown: ${part}\n${questions.join("\n")}`);
    if (questions.some((line) => line.includes("touch blocked"))) throw new Error("the user was asked about a blocked call");
  }
  host.kill("SIGTERM");
  await once(host, "exit");
  await expectRun("no host: the prompt is denied, so the model is never called", "free", [], 0);
} finally {
  host.kill("SIGKILL");
  model.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}
