/**
 * The shortest proof in a real OpenClaw gateway: a plugin is moved, the gateway is started, what the plugin does works, and its gate stays
 * shut when the gateway is killed or Creel is gone. Two starts, so it fits into `npm test`; live.test.ts has the rest. The titles are rows
 * of docs/reference/openclaw-live.md.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folder, write } from "../support/files.ts";
import { whileForbidden } from "./support/gate-watch.ts";
import { Gateway, LONG } from "./support/gateway.ts";
import type { GatewayClient } from "./support/gateway-client.ts";
import { NATIVE } from "./support/native-plugins.ts";
import { openclawEntry } from "./support/openclaw-package.ts";
import { sandboxesOf } from "./support/sandbox-pids.ts";
import { waitFor } from "./support/wait-for.ts";

const entry = openclawEntry();
const NO = "guard says no to forbidden";

describe.skipIf(entry === undefined)("a plugin that was moved into the sandbox of a real OpenClaw gateway", { timeout: 2 * LONG }, () => {
  let gateway: Gateway;
  let client: GatewayClient;

  const weigh = (name: string) => gateway.invoke("lobster_weight", { name });
  const since = (mark: number): string => gateway.log.slice(mark);
  const shimDir = (): string => gateway.config.plugins.load!.paths![0]!;
  /** Only a process of Node's has `process.binding`. */
  const place = async (): Promise<string> => ((await client.request("lobster.status")).where === "function" ? "native" : "sandboxed");

  beforeAll(async () => {
    if (entry === undefined) return;
    gateway = new Gateway(entry, folder({}));
    await gateway.prepare();
    write(join(gateway.root, "state/extensions/guard"), NATIVE.guard);
    gateway.edit(({ plugins }) => {
      plugins.entries = { guard: { enabled: true, hooks: { allowConversationAccess: true }, config: { forbid: "forbidden" } } };
    });
    const { plugins } = JSON.parse((await gateway.creel("plan", "--json")).stdout) as { plugins: { digest: string }[] };
    await gateway.creel("move", "guard", "--json", "--accept", plugins[0]!.digest);
    await gateway.start();
    client = await gateway.client();
  }, 2 * LONG);

  afterAll(async () => {
    client?.close();
    await gateway?.close();
  });

  it("block, parameter rewrite, tool, command and RPC method answer as natively; one host is open", async () => {
    expect((await weigh("forbidden")).error?.message).toBe(NO);
    expect(JSON.stringify(await weigh("bob"))).toContain("weight of bob: 3 s3cret");
    expect(JSON.stringify(await weigh("rewrite-me"))).toContain("weight of rewritten: 3");
    expect(await client.chat("agent:main:commands", "/lobster hello")).toContain("lobster says: hello");
    expect(await place()).toBe("sandboxed");
    expect(gateway.log.match(/creel: host \S+ open/g)?.length).toBe(1);
  });

  it("synchronous redaction: the transcript has the tool's result only as `tool_result_persist` left it", async () => {
    await client.chat("agent:main:redact", 'use-tool:lobster_weight args={"name":"eve"}');
    const history = JSON.stringify(await client.request("chat.history", { sessionKey: "agent:main:redact" }));
    expect(history).toContain("weight of eve: 3 [redacted]");
    // The reply of the model, which saw the result before it was kept, is no tool result.
    expect(history).not.toMatch(/"toolResult"[^}]*s3cret/);
  });

  it("approvals are asked in the plugin's name by OpenClaw itself; the plugin hears what the user decided", async () => {
    for (const decision of ["allow-once", "deny"]) {
      const mark = gateway.log.length;
      const known = client.events.length;
      const turn = client.chat(`agent:main:ask-${decision}`, 'use-tool:lobster_weight args={"name":"ask-me"}');
      const asked = await waitFor(
        () => client.events.slice(known).find(({ event }) => event === "plugin.approval.requested")?.payload,
        LONG,
        "the question",
      );
      expect(asked.request).toMatchObject({ pluginId: "guard", title: "May it?", description: "guard asks", severity: "warning" });
      await client.request("plugin.approval.resolve", { id: asked.id, decision });
      expect(await turn).toContain(decision === "deny" ? "Denied by user" : "weight of asked: 3");
      await waitFor(() => new RegExp(`guard heard ${decision}`).exec(since(mark))?.[0], LONG, "the plugin's onResolution");
    }
  });

  it("`kill -9` of the gateway leaves no sandbox; when the bridge's file is missing, the gates stay shut from the first answer on", async () => {
    const facts = join(shimDir(), "shim.json");
    const whole = readFileSync(facts, "utf8");
    const sandboxes = sandboxesOf(gateway.pid);
    expect(sandboxes.length).toBeGreaterThan(0);
    await gateway.isSettled();
    await gateway.kill("SIGKILL");
    await waitFor(() => (sandboxes.some((pid) => existsSync(`/proc/${pid}`)) ? undefined : true), LONG, "the end of the sandbox");
    writeFileSync(facts, JSON.stringify({ ...JSON.parse(whole), bridge: join(gateway.root, "gone.js") }));
    const { passed } = await whileForbidden(gateway, () => gateway.start());
    expect(passed).toEqual([]);
    client.close();
    client = await gateway.client();
    expect((await gateway.invoke("sessions_list", {})).error?.message).toContain("before_tool_call hook failed");
    expect(gateway.log).toContain("its gates stay shut");
    const drifted = await gateway.creel("status").catch((error: { stdout: string }) => error);
    expect(drifted.stdout).toContain("gone.js is missing, its gates are shut");
    writeFileSync(facts, whole);
    await client.request("plugins.reload", { plugins: [{ pluginId: "guard" }] });
    expect((await weigh("forbidden")).error?.message).toBe(NO);
    expect((await weigh("bob")).ok).toBe(true);
    expect(await place()).toBe("sandboxed");
  });
});
