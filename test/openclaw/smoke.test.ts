/**
 * The shortest proof in a real OpenClaw gateway: a plugin is moved, the gateway is started, what the plugin does works, and its gate stays
 * shut when the gateway is killed or Creel is gone. Two starts, about a minute; live.test.ts has the rest. The titles are rows
 * of docs/reference/openclaw-live.md.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folder, write } from "../support/files.ts";
import { NO, whileForbidden } from "./support/gate-watch.ts";
import { Gateway, LONG } from "./support/gateway.ts";
import type { GatewayClient } from "./support/gateway-client.ts";
import { NATIVE } from "./support/native-plugins.ts";
import { openclawEntry } from "./support/openclaw-package.ts";
import { sandboxesOf } from "./support/sandbox-pids.ts";
import { waitFor } from "./support/wait-for.ts";

const entry = openclawEntry();
const MOVED = ["guard", "hog", "looper"] as const;
const call = (name: string): string => `use-tool:lobster_weight args=${JSON.stringify({ name })}`;

describe.skipIf(entry === undefined)("a plugin that was moved into the sandbox of a real OpenClaw gateway", { timeout: 2 * LONG }, () => {
  let gateway: Gateway;
  let client: GatewayClient;

  const weigh = (name: string) => gateway.invoke("lobster_weight", { name });
  const since = (mark: number): string => gateway.log.slice(mark);
  const shimDir = (): string => gateway.config.plugins.load!.paths!.find((path) => path.includes("/guard/"))!;
  const count = async (): Promise<string> => JSON.stringify(await gateway.invoke("loop_count", {}));
  /** Only a process of Node's has `process.binding`. */
  const place = async (): Promise<string> => ((await client.request("lobster.status")).where === "function" ? "native" : "sandboxed");

  beforeAll(async () => {
    if (entry === undefined) return;
    gateway = new Gateway(entry, folder({}));
    await gateway.prepare();
    for (const id of MOVED) write(join(gateway.root, "state/extensions", id), NATIVE[id]);
    gateway.edit(({ plugins }) => {
      const guard = { enabled: true, hooks: { allowConversationAccess: true }, config: { forbid: "forbidden" } };
      plugins.entries = { guard, hog: { enabled: true }, looper: { enabled: true } };
    });
    const { plugins } = JSON.parse((await gateway.creel("plan", "--json")).stdout) as { plugins: { digest: string }[] };
    const accepted = plugins.flatMap(({ digest }) => ["--accept", digest]);
    await gateway.creel("move", "--all", "--json", ...accepted, "--grant", "session:patch", "--unasked");
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

  it("a model calls the tool; the transcript has its result only as `tool_result_persist` left it", async () => {
    expect(await client.chat("agent:main:redact", call("eve"))).toContain("weight of eve: 3");
    const history = JSON.stringify(await client.request("chat.history", { sessionKey: "agent:main:redact" }));
    expect(history).toContain("weight of eve: 3 [redacted]");
    // The reply of the model, which saw the result before it was kept, is no tool result.
    expect(history).not.toMatch(/"toolResult"[^}]*s3cret/);
  });

  it("approvals are asked in the plugin's name by OpenClaw itself; the plugin hears what the user decided", async () => {
    for (const decision of ["allow-once", "deny"]) {
      const mark = gateway.log.length;
      const known = client.events.length;
      const turn = client.chat(`agent:main:ask-${decision}`, call("ask-me"));
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

  it("two sandboxed plugins ask about one call: it is blocked in the name of both, and nobody is asked", async () => {
    const known = client.events.length;
    const { ok, error } = await weigh("ask-me, and hog-asks");
    expect([ok, error?.message]).toEqual([false, expect.stringContaining('"hog" asks the user about this call, and "guard" asked')]);
    expect(client.events.slice(known).filter(({ event }) => event === "plugin.approval.requested")).toEqual([]);
  });

  it("a plugin that patches sessions in a loop ends after its own first patch", async () => {
    await client.request("sessions.patch", { key: "agent:main:commands", label: "start" });
    await waitFor(async () => ((await count()).includes("patches: 0") ? undefined : true), LONG, "the first patch");
    // A turn later a loop would have made dozens.
    await client.chat("agent:main:commands", "/lobster again");
    expect(await count()).toContain("patches: 1");
  });

  it("an endless loop in a hook: the call is blocked, and the gateway answers all the while", async () => {
    const hogged = weigh("hog-now");
    let answers = 0;
    const over = new AbortController();
    void hogged.finally(() => over.abort());
    while (!over.signal.aborted) {
      await client.request("lobster.status");
      answers += 1;
    }
    const { ok, error } = await hogged;
    expect(ok).toBe(false);
    expect(error?.message).toMatch(/CPU time|hog/);
    // Natively the gateway answers no one from then on.
    expect(answers).toBeGreaterThan(1);
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
    const { passed, refused } = await whileForbidden(gateway, () => gateway.start(), "shut");
    expect([passed, refused]).toEqual([[], 0]);
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

  it("`plugins.reload`: no call passes the gate, and the plugin itself refuses again afterwards", async () => {
    const { passed } = await whileForbidden(gateway, () => client.request("plugins.reload", { plugins: [{ pluginId: "guard" }] }));
    expect(passed).toEqual([]);
    expect(await place()).toBe("sandboxed");
  });
});
