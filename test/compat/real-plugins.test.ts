/**
 * Plugins from npm, unmodified: what hooks.md recommends as fixtures of its registry. They are downloaded with the ordinary client;
 * where no registry is reached the tests are skipped and say so.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { beforeAll, expect, test, vi } from "vitest";
import { CATALOG } from "creel";
import type { HookName, Host } from "creel";
import { contract, open } from "../support/host.ts";
import type { Isolation } from "../support/host.ts";
import { download } from "../support/packages.ts";
import type { Downloaded } from "../support/packages.ts";
import { sampleContext } from "../../src/protocol/rules/samples.ts";
import { sampleEvent } from "../support/sample.ts";
import { serve } from "../support/server.ts";
import type { Answerer } from "../support/server.ts";

const PERMISSIONS = { allowConversationAccess: true, allowInstallDecisions: true, allowPromptInjection: true };

let found: Downloaded;
beforeAll(async () => {
  found = await download({
    dependencies: {
      "@openclaw/kitchen-sink": "0.3.0",
      "@cdot65/prisma-airs": "2.1.1",
      "@ollama/openclaw-web-search": "0.2.2",
      "@vainplex/nats-eventstore": "0.2.1",
      "openclaw-memory-alibaba-mysql": "0.2.6",
      "@mem0/openclaw-mem0": "1.0.16",
    },
    // The release it asks for is not in every mirror.
    overrides: { "@cdot65/prisma-airs-sdk": "0.34.0" },
  });
}, 150_000);

/** The folder of packages; skips the test where there is none. */
function packages(skip: (note: string) => never): string {
  return "root" in found ? found.root : skip(`no package registry is reached: ${found.unreached}`);
}

contract("plugins from npm", (isolation) => {
  test("@openclaw/kitchen-sink registers all its hooks, and answers each", async ({ skip }) => {
    const path = `${packages(skip)}/@openclaw/kitchen-sink`;
    await using host = await open(isolation, { plugins: [{ path, config: { personality: "conformance" }, hooks: PERMISSIONS }] });
    const [report] = host.plugins();
    expect(report).toMatchObject({ id: "openclaw-kitchen-sink-fixture", error: undefined, status: "ready", version: "0.3.0" });
    const source = readFileSync(`${path}/src/generated-hooks.js`, "utf8");
    const names = Array.from(source.matchAll(/api\.on\("(\w+)"/g), ([, name]) => name as HookName);
    expect(names.length).toBeGreaterThan(40);
    expect(report!.hooks.map(({ hook }) => hook).toSorted()).toEqual(names.toSorted());
    for (const name of names) {
      const { calls } = await host.run(name, sampleEvent(CATALOG[name]), sampleContext(CATALOG[name]));
      expect([name, calls.map(({ status, error }) => error?.message ?? status)]).toEqual([name, ["ok"]]);
    }
    // What it answers is what its own code says.
    expect((await host.run("resolve_exec_env", sampleEvent(CATALOG.resolve_exec_env) as never)).result).toMatchObject({
      KITCHEN_SINK_HOOK: "resolve_exec_env",
    });
    expect(await host.run("before_tool_call", { toolName: "kitchen_sink_text", params: { prompt: "block this" } })).toMatchObject({
      decision: "block",
    });
    expect(host.tools().map(({ name }) => name)).toEqual(["kitchen_sink_image_job", "kitchen_sink_text", "kitchen_sink_search"]);
    const searched = await host.call({ tool: "kitchen_sink_search" }, { query: "image" });
    expect(searched).toMatchObject({ status: "ok", error: undefined, value: expect.anything() });
    expect((await host.call({ command: "kitchen" }, "help")).status).toBe("ok");
    expect((await host.call({ method: "kitchen.status" })).value).toMatchObject({ ok: true, payload: { ok: true } });
    await vi.waitFor(() => expect(host.services()).toMatchObject([{ id: "kitchen-sink-service", status: "running" }]));
    // Registrars that this host has no use for are said once each, and so is what it answers beside what the hook asks; there is nothing else to say.
    const said = /^api\.register\w+ does nothing here|^"before_tool_call" has no result field /;
    const { diagnostics } = host.inspect(report!.id);
    expect(diagnostics.filter((line) => !said.test(line))).toEqual([]);
    expect(new Set(diagnostics).size).toBe(diagnostics.length);
  });

  test("@cdot65/prisma-airs scans through its one granted origin, in each of its four hooks", async ({ skip }) => {
    const root = packages(skip);
    await using server = await serve(verdict);
    await using host = await openPrisma(isolation, root, server.origin, server.origin);
    expect(
      host
        .plugins()[0]!
        .hooks.map(({ hook }) => hook)
        .toSorted(),
    ).toEqual(["after_tool_call", "before_prompt_build", "before_tool_call", "message_sending"].toSorted());
    const prompt = (text: string) => host.run("before_prompt_build", { prompt: text, messages: [] });
    expect((await prompt("hello")).result).toBeUndefined();
    expect((await prompt("an attack")).result?.prependSystemContext).toContain("CRITICAL SECURITY ALERT");
    expect((await host.run("message_sending", { to: "you", content: "an attack" }, { channelId: "chat" })).result?.content).toContain(
      "due to security policy",
    );
    const blocked = await host.run("before_tool_call", { toolName: "exec", params: { command: "attack" } });
    expect(blocked).toMatchObject({ decision: "block", by: "prisma-airs", reason: expect.stringContaining("Scan ID: scan-") });
    const audit = await host.run("after_tool_call", { toolName: "exec", params: {}, result: "done" });
    expect(audit.calls).toMatchObject([{ status: "ok" }]);
    expect(server.asked.map(({ method, url }) => `${method} ${url}`)).toEqual(Array(5).fill("POST /v1/scan/sync/request"));
    expect(server.asked.every(({ headers }) => headers["x-pan-token"] === "key-of-the-test")).toBe(true);
    const scanned = await host.call({ tool: "prisma_airs_scan" }, { prompt: "an attack" });
    expect(JSON.stringify(scanned.value)).toContain("block");
    expect((await host.call({ method: "prisma-airs.status" })).value).toMatchObject({ ok: true, payload: { status: "ready" } });
  });

  test("@cdot65/prisma-airs is refused any other origin: nobody is connected to, and its gate stays shut", async ({ skip }) => {
    const root = packages(skip);
    let connections = 0;
    const other = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const origin = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    try {
      for (const granted of [undefined, "https://service.example.com"]) {
        await using host = await openPrisma(isolation, root, origin, granted);
        // What it uses tries again, with growing pauses, for longer than a call may take.
        const { decision, calls } = await host.run("before_tool_call", { toolName: "exec", params: {} });
        expect({ decision, calls }).toMatchObject({ decision: "block", calls: [{ plugin: "prisma-airs", status: "timeout" }] });
      }
      expect(connections).toBe(0);
      await expect(fetch(origin)).rejects.toThrow("fetch failed");
      expect(connections).toBe(1);
    } finally {
      other.close();
    }
  });

  test("@ollama/openclaw-web-search registers its tools, which ask nobody who was not granted", async ({ skip }) => {
    const path = `${packages(skip)}/@ollama/openclaw-web-search`;
    await using host = await open(isolation, { plugins: [{ path }] });
    expect(host.tools()).toMatchObject([
      { plugin: "openclaw-web-search", name: "ollama_web_search", about: { parameters: { required: ["query"] } } },
      { plugin: "openclaw-web-search", name: "ollama_web_fetch", about: { parameters: { required: ["url"] } } },
    ]);
    expect(await host.call({ tool: "ollama_web_search" }, { query: "lobster" })).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("fetch from http://127.0.0.1:11434 is not granted to openclaw-web-search") },
    });
    expect(await host.call({ tool: "ollama_web_search" }, {})).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("query parameter is required") },
    });
  });
});

// It never comes to a cell, so that how those are kept makes no difference.
test("what needs machine code is refused, with a sentence; what needs sockets is not", async ({ skip }) => {
  const root = packages(skip);
  await using host = await open("process", {
    allowFailed: true,
    config: { plugins: { strict: true } },
    plugins: ["@vainplex/nats-eventstore", "openclaw-memory-alibaba-mysql", "@mem0/openclaw-mem0"].map((name) => ({
      path: `${root}/${name}`,
    })),
  });
  const told = host.plugins().map(({ id, status, error }) => ({ id, status, code: error?.code, first: error?.message }));
  expect(told).toMatchObject([
    { id: "nats-eventstore", status: "ready" },
    { id: "openclaw-memory-alibaba-mysql", status: "ready" },
    { id: "openclaw-mem0", status: "failed", code: "ERR_PLUGIN_ABSENT" },
  ]);
  expect(told[2]!.first).toMatch(/"better-sqlite3" is a native addon, and machine code cannot be kept inside the sandbox; use api.kv/);
});

function openPrisma(isolation: Isolation, root: string, endpoint: string, granted: string | undefined): Promise<Host> {
  return open(isolation, {
    plugins: [
      {
        path: `${root}/@cdot65/prisma-airs`,
        config: { api_key: "key-of-the-test", profile_name: "default" },
        env: { PANW_AI_SEC_API_ENDPOINT: endpoint },
        // The first call compiles half a megabyte, on whatever machine this is.
        hooks: { ...PERMISSIONS, cpuMs: 2_000, timeoutMs: granted === endpoint ? 15_000 : 1_000 },
        grants: granted === undefined ? {} : { fetch: [granted] },
      },
    ],
  });
}

/** Stands in for the scanner: whatever mentions an attack is one. */
const verdict: Answerer = ({ body }, response) => {
  const isAttack = body.includes("attack");
  const answer = {
    report_id: "report",
    scan_id: `scan-${(asked += 1)}`,
    category: isAttack ? "malicious" : "benign",
    action: isAttack ? "block" : "allow",
    timeout: false,
    error: false,
    errors: [],
    prompt_detected: { injection: isAttack },
    response_detected: { toxic_content: isAttack },
  };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
};
let asked = 0;
