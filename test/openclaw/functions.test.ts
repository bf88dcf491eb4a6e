/** What a sandboxed plugin serves and hears beside hooks, through the bridge: routes, command lines, internal events, agent events. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { shim } from "../../src/openclaw/bridge.ts";
import type { CliProgram } from "../../src/openclaw/gateway-api.ts";
import { factsOf, gateway, hook, installed, sdk } from "./support/fake-gateway.ts";
import type { Fake } from "./support/fake-gateway.ts";

const TOKEN = "gateway-token";
const HOOKS = ["command:new", "agent:bootstrap", "agent:event"];
const SOURCE = `
  const heard = [];
  api.on("command:new", (event) => { heard.push(event); return { messages: ["anchor up"] }; });
  api.on("agent:bootstrap", (event) => { heard.push(event); return { context: { bootstrapFiles: [{ path: "TIDE.md", content: "in" }] } }; });
  api.on("agent:event", (event) => { api.logger.warn("agent event " + JSON.stringify(event.context)); });
  api.registerHttpRoute({ path: "/tide", auth: "plugin", match: "exact", handler: (request, response) => {
    response.statusCode = 201;
    response.end(JSON.stringify({ heard, url: request.url, headers: request.headers }));
    return true;
  } });
  api.registerCli(({ program }) => program.command("tide").argument("<port>").action((port) => console.log("high water in " + port)), { commands: ["tide"] });
`;

const all: Fake[] = [];
let fake: Fake;
let route: (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;
let cli: (args: readonly string[]) => Promise<void>;
let tell: (event: object) => void;

beforeAll(async () => {
  const stateDir = await installed(
    "tide",
    SOURCE,
    HOOKS.map((name) => ({ hook: name, priority: 0 })),
    {
      permissions: { allowConversationAccess: true },
      functions: [
        { kind: "route", name: "/tide" },
        { kind: "cli", name: "tide" },
      ],
    },
  );
  fake = gateway("tide", { hooks: { allowConversationAccess: true } }, all);
  const program = {
    command: () => program,
    description: () => program,
    helpOption: () => program,
    allowUnknownOption: () => program,
    allowExcessArguments: () => program,
    action: (run: Parameters<CliProgram["action"]>[0]) => {
      cli = (args) => run({}, { args });
      return program;
    },
  } as CliProgram;
  const api = {
    ...fake.api,
    runtime: {
      ...fake.api.runtime,
      events: { onAgentEvent: (listener: (event: never) => void) => ((tell = listener as typeof tell), () => {}) },
    },
    registerHttpRoute: ({ handler }: { handler: typeof route }) => void (route = handler),
    registerCli: (registrar: (ctx: { program: CliProgram }) => void) => registrar({ program }),
  };
  const functions = [
    { kind: "route" as const, name: "/tide", about: { auth: "plugin", match: "exact" } },
    { kind: "cli" as const, name: "tide", about: {} },
  ];
  const facts = factsOf(
    "tide",
    stateDir,
    HOOKS.map((name) => hook(name)),
  );
  shim({ ...facts, functions }, api, sdk);
});
afterAll(async () => {
  for (const one of all) await one.dispose();
});

async function ask(path: string, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  const server = createServer((request, response) => {
    route(request, response).catch((error: Error) => response.writeHead(500).end(error.message));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { headers });
    return { status: response.status, text: await response.text() };
  } finally {
    server.close();
  }
}

it("internal events cross without the gateway's configuration and live objects, and what handlers change is in the event afterwards", async () => {
  const [messages, bootstrapFiles] = [["first"], [{ path: "SOUL.md" }]];
  const hidden = { cfg: { gateway: { auth: { token: TOKEN } } }, deps: { send: () => {} }, pluginConfig: { token: TOKEN } };
  const timestamp = new Date();
  await fake.on.get("command:new")!(
    { type: "command", action: "new", sessionKey: "main", timestamp, messages, context: { ...hidden } },
    {},
  );
  expect(messages).toEqual(["first", "anchor up"]);
  const context = { ...hidden, workspaceDir: "/ws", bootstrapFiles };
  await fake.on.get("agent:bootstrap")!({ type: "agent", action: "bootstrap", sessionKey: "main", timestamp, messages: [], context }, {});
  expect(bootstrapFiles).toEqual([{ path: "TIDE.md", content: "in" }]);
  expect(context.bootstrapFiles).toBe(bootstrapFiles);
  const { text } = await ask("/tide", {});
  expect(text).toContain("SOUL.md");
  expect(text).not.toMatch(/gateway-token|"cfg"|"deps"|"pluginConfig"/);
});

it("a route is served from the sandbox, and the gateway's token reaches it in no header and no parameter", async () => {
  const given = { authorization: `Bearer ${TOKEN}`, cookie: `t=${TOKEN}`, "x-token": TOKEN, "x-own": "1" };
  const { status, text } = await ask(`/tide?token=${TOKEN}&t=${TOKEN}&v=1`, given);
  expect(status).toBe(201);
  expect(JSON.parse(text)).toMatchObject({ url: "/tide?v=1", headers: { "x-own": "1" } });
  expect(text).not.toContain(TOKEN);
});

it("a command line runs in the sandbox with everything behind its name, and its exit code is the process's", async () => {
  const written: string[] = [];
  const [out, err] = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, "write").mockImplementation((text) => (written.push(String(text)), true)),
  );
  const { exitCode } = process;
  try {
    await cli(["Bergen"]);
    expect([written.join(""), process.exitCode]).toEqual(["high water in Bergen\n", 0]);
    await cli([]);
    expect(written.join("")).toContain("missing required argument 'port'");
    expect(process.exitCode).toBe(1);
  } finally {
    process.exitCode = exitCode;
    out!.mockRestore();
    err!.mockRestore();
  }
});

it("where OpenClaw only asks for commands there are command lines and nothing else, and its runtime is left alone", () => {
  const { api } = gateway("tide", {}, all);
  const registered: string[] = [];
  const note = (kind: string) => () => void registered.push(kind);
  const facts = { ...factsOf("tide", "/state", [hook("command:new")]), functions: [{ kind: "cli" as const, name: "tide", about: {} }] };
  const without: PropertyDescriptor = { get: () => expect.fail("there is no runtime in this mode") };
  const asked = { ...api, registrationMode: "cli-metadata", on: note("on"), registerHook: note("hook"), registerService: note("service") };
  shim(
    facts,
    Object.defineProperty({ ...asked, registerCli: note("cli"), registerGatewayMethod: note("method") }, "runtime", without),
    sdk,
  );
  expect(registered).toEqual(["cli"]);
});

const heard = () => fake.lines.find((line) => line.includes("agent event"))?.replaceAll("\\", "");

it("an agent's event reaches the plugin with the fields that are data, and no others", async () => {
  tell({ runId: "r", seq: 1, stream: "tool", ts: 2, data: { name: "exec" }, sessionKey: "main", config: { token: TOKEN }, send: () => {} });
  await expect.poll(heard).toContain('{"runId":"r","seq":1,"stream":"tool","ts":2,"data":{"name":"exec"},"sessionKey":"main"}');
  expect(heard()).not.toContain(TOKEN);
});
