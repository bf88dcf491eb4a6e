/**
 * Sandboxed plugins in a real OpenClaw gateway, moved there and back while it runs. The tests share one gateway and build on each other:
 * a start takes ten seconds. OpenClaw is installed on demand; see support/openclaw-package.ts. The titles are the rows of
 * docs/reference/openclaw-live.md.
 */
import { chmodSync, cpSync, existsSync, globSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { write } from "../support/files.ts";
import { whileForbidden } from "./support/gate-watch.ts";
import { Gateway } from "./support/gateway.ts";
import type { GatewayClient } from "./support/gateway-client.ts";
import { NATIVE } from "./support/native-plugins.ts";
import { openclawEntry } from "./support/openclaw-package.ts";
import { sandboxesOf } from "./support/sandbox-pids.ts";
import { waitFor } from "./support/wait-for.ts";

const entry = openclawEntry();
/** Busy machines take ten times as long. */
const LONG = 240_000;
const KITCHEN_SINK = "openclaw-kitchen-sink-fixture";

interface Planned {
  readonly id: string;
  readonly state: string;
  readonly canMove: boolean;
  readonly digest: string;
}

describe.skipIf(entry === undefined)("a real OpenClaw gateway", { timeout: LONG }, () => {
  let gateway: Gateway;
  let client: GatewayClient;
  let entries: string;
  let plan: Planned[];

  const entriesOf = (): string => JSON.stringify(gateway.config.plugins.entries);
  const weigh = (name: string, more: object = {}) => gateway.invoke("lobster_weight", { name, ...more });
  const since = (mark: number): string => gateway.log.slice(mark);
  /** Resolves when the gateway has taken a change over that was made since the log had so many characters. */
  const applied = (mark: number) =>
    waitFor(
      () => {
        const failed = /config reload failed: .*/.exec(since(mark))?.[0];
        if (failed !== undefined) throw new Error(failed);
        return /hot reload applied/.exec(since(mark))?.[0];
      },
      LONG,
      "the reload",
    );
  const isReady = (id: string, mark: number) =>
    waitFor(() => new RegExp(`"plugin":"${id}","status":"ready"`).exec(since(mark))?.[0], LONG, `${id} in the sandbox`);
  const digestOf = (id: string): string => plan.find((one) => one.id === id)!.digest;
  /** Only a process of Node's has `process.binding`. */
  const place = async (): Promise<string> => ((await client.request("lobster.status")).where === "function" ? "native" : "sandboxed");
  const count = async (): Promise<string> => JSON.stringify(await gateway.invoke("loop_count", {}));
  const reconnect = async (): Promise<void> => {
    client.close();
    client = await gateway.client();
  };

  beforeAll(async () => {
    if (entry === undefined) return;
    gateway = new Gateway(entry);
    await gateway.prepare();
    for (const [id, files] of Object.entries(NATIVE)) write(join(gateway.root, "state/extensions", id), files);
    cpSync(join(dirname(entry), "../@openclaw/kitchen-sink"), join(gateway.root, "kitchen-sink"), { recursive: true });
    const config = gateway.config;
    const hooks = { allowConversationAccess: true, allowPromptInjection: true };
    config.plugins.entries = {
      guard: { enabled: true, hooks: { allowConversationAccess: true }, config: { forbid: "forbidden" } },
      looper: { enabled: true },
      hog: { enabled: true },
      [KITCHEN_SINK]: { enabled: true, hooks },
    };
    write(gateway.root, { "state/openclaw.json": JSON.stringify(config, undefined, 2) });
    await gateway.start();
    client = await gateway.client();
  }, LONG);

  afterAll(async () => {
    client?.close();
    await gateway?.close();
  });

  it("`plan` says what can be moved, and changes nothing", async () => {
    expect((await weigh("forbidden")).error?.message).toBe("guard says no to forbidden");
    expect(await place()).toBe("native");
    const before = readFileSync(gateway.configFile, "utf8");
    plan = (JSON.parse((await gateway.creel("plan", "--json")).stdout) as { plugins: Planned[] }).plugins;
    const movable = { state: "native", canMove: true };
    expect(plan).toMatchObject(["guard", "hog", "looper"].map((id) => ({ id, ...movable })));
    expect(readFileSync(gateway.configFile, "utf8")).toBe(before);
  });

  it("`move` on the running gateway: no restart, no call passes the gate meanwhile, `plugins.entries` unchanged byte for byte", async () => {
    entries = entriesOf();
    const mark = gateway.log.length;
    const { passed, refused } = await whileForbidden(gateway, async () => {
      await gateway.creel("move", "guard", "--dry-run");
      await gateway.creel("move", "guard", "--json", "--accept", digestOf("guard"));
      await applied(mark);
    });
    expect(passed).toEqual([]);
    expect(refused).toBeGreaterThan(10);
    expect(await place()).toBe("sandboxed");
    expect(entriesOf()).toBe(entries);
    expect(since(mark)).toMatch(/duplicate plugin id .*overridden by config plugin/);
  });

  it("block, parameter rewrite, tool, command and RPC method answer as natively", async () => {
    expect(await place()).toBe("sandboxed");
    expect((await weigh("forbidden")).error?.message).toBe("guard says no to forbidden");
    expect(JSON.stringify(await weigh("bob"))).toContain("weight of bob: 3 s3cret");
    expect(JSON.stringify(await weigh("rewrite-me"))).toContain("weight of rewritten: 3");
    expect(await client.chat("agent:main:commands", "/lobster hello")).toContain("lobster says: hello");
  });

  it("synchronous redaction: the transcript has the tool's result only as `tool_result_persist` left it", async () => {
    expect(await place()).toBe("sandboxed");
    await client.chat("agent:main:redact", 'use-tool:lobster_weight args={"name":"eve"}');
    const history = JSON.stringify(await client.request("chat.history", { sessionKey: "agent:main:redact" }));
    expect(history).toContain("weight of eve: 3 [redacted]");
    // The reply of the model, which saw the result before it was kept, is no tool result.
    expect(history).not.toMatch(/"toolResult"[^}]*s3cret/);
  });

  it("approvals are asked in the plugin's name by OpenClaw itself; the plugin hears what the user decided", async () => {
    expect(await place()).toBe("sandboxed");
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

  it("`move --all`: the others follow, with the grants that the operator names", async () => {
    const mark = gateway.log.length;
    const accept = ["hog", "looper"].flatMap((id) => ["--accept", digestOf(id)]);
    await gateway.creel("move", "--all", "--json", ...accept, "--grant", "session:patch", "--unasked");
    await applied(mark);
    const { paths = [] } = gateway.config.plugins.load ?? {};
    expect(paths.map((path) => String(path.split("/").at(-2))).toSorted()).toEqual(["guard", "hog", "looper"]);
    // Each move is a change of its own.
    for (const id of ["hog", "looper"]) await isReady(id, mark);
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
    const waits: number[] = [];
    const over = new AbortController();
    void hogged.finally(() => over.abort());
    while (!over.signal.aborted) {
      const startMs = performance.now();
      await client.request("lobster.status");
      waits.push(performance.now() - startMs);
    }
    const { ok, error } = await hogged;
    expect(ok).toBe(false);
    expect(error?.message).toMatch(/CPU time|hog/);
    expect(waits.length).toBeGreaterThan(0);
    expect(Math.max(...waits)).toBeLessThan(5_000);
  });

  it("kitchen-sink from npm: moved with its hooks; a turn, /compact, /new and /reset bring no event that Creel refuses", async () => {
    const mark = gateway.log.length;
    const dry = JSON.parse((await gateway.creel("move", "./kitchen-sink", "--dry-run", "--json")).stdout) as {
      plugins: { digest: string }[];
    };
    await gateway.creel("move", "./kitchen-sink", "--json", "--accept", dry.plugins[0]!.digest);
    await applied(mark);
    await isReady(KITCHEN_SINK, mark);
    expect(await client.chat("agent:main:sink", 'use-tool:lobster_weight args={"name":"sink"}')).toContain("weight of sink");
    for (const text of ["/compact", "/new", "/reset"]) await client.chat("agent:main:sink", text);
    expect(since(mark)).not.toMatch(/is not valid|was not run|ERR_EVENT_INVALID/);
    const back = gateway.log.length;
    await gateway.creel("back", KITCHEN_SINK);
    await applied(back);
  });

  it("edited settings reach the sandbox; no call passes the gate while they are taken over", async () => {
    const set = (path: string, value: string) => gateway.openclaw("config", "set", path, value);
    const first = gateway.log.length;
    const { passed } = await whileForbidden(gateway, async () => {
      // Another plugin is disabled: the sandbox that both share must keep this one.
      await set("plugins.entries.looper.enabled", "false");
      await applied(first);
      const second = gateway.log.length;
      await set("plugins.entries.guard.config.note", "changed");
      await applied(second);
    });
    expect(passed).toEqual([]);
    const third = gateway.log.length;
    await set("plugins.entries.guard.config.forbid", "verboten");
    await applied(third);
    expect((await weigh("verboten")).error?.message).toBe("guard says no to verboten");
    expect((await weigh("forbidden")).ok).toBe(true);
    const last = gateway.log.length;
    write(gateway.root, {
      "state/openclaw.json": JSON.stringify(
        { ...gateway.config, plugins: { ...gateway.config.plugins, entries: JSON.parse(entries) } },
        undefined,
        2,
      ),
    });
    await applied(last);
    expect((await weigh("forbidden")).ok).toBe(false);
  });

  it("`plugins.reload` and an in-process restart of the gateway: no call passes the gate, one sandbox is left", async () => {
    const mark = gateway.log.length;
    const { passed } = await whileForbidden(gateway, async () => {
      await client.request("plugins.reload", { plugins: [{ pluginId: "guard" }] });
      await client.request("gateway.restart.request", { reason: "test", skipDeferral: true });
      await waitFor(() => (/\[gateway\]\S*\s\S*ready\s*\S*$/m.test(since(mark)) ? true : undefined), LONG, "the restart");
    });
    expect(passed).toEqual([]);
    await reconnect();
    expect((await weigh("forbidden")).error?.message).toBe("guard says no to forbidden");
    expect(since(mark).match(/creel: host \S+ open/g)?.length).toBe(1);
  });

  it("`kill -9` of the gateway leaves no sandbox; without Creel's files the gates stay shut from the first answer on", async () => {
    const shim = gateway.config.plugins.load!.paths!.find((path) => path.includes("/guard/"))!;
    const sandboxes = sandboxesOf(gateway.pid);
    expect(sandboxes.length).toBeGreaterThan(0);
    await gateway.kill("SIGKILL");
    await waitFor(() => (sandboxes.some((pid) => existsSync(`/proc/${pid}`)) ? undefined : true), 30_000, "the end of the sandbox");
    renameSync(join(shim, "shim.json"), join(shim, "shim.json.away"));
    const { passed } = await whileForbidden(gateway, () => gateway.start());
    expect(passed).toEqual([]);
    await reconnect();
    expect((await gateway.invoke("sessions_list", {})).error?.message).toContain("before_tool_call hook failed");
    expect(gateway.log).toContain("its gates stay shut");
    const drifted = await gateway.creel("status").catch((error: { stdout: string }) => error);
    expect(drifted.stdout).toContain("its shim cannot be read");
    renameSync(join(shim, "shim.json.away"), join(shim, "shim.json"));
    await client.request("plugins.reload", { plugins: [{ pluginId: "guard" }] });
    expect((await weigh("forbidden")).error?.message).toBe("guard says no to forbidden");
    expect((await weigh("bob")).ok).toBe(true);
    expect(await place()).toBe("sandboxed");
  });

  it("`back` on the running gateway: native answers without a restart, no call passes the gate meanwhile, the settings as they were", async () => {
    expect((await gateway.creel("doctor")).stdout).toMatch(/ok\s*$/);
    const mark = gateway.log.length;
    const { passed } = await whileForbidden(gateway, async () => {
      await gateway.creel("back", "guard");
      await applied(mark);
    });
    expect(passed).toEqual([]);
    expect(await place()).toBe("native");
    const rest = gateway.log.length;
    await gateway.creel("back", "--all");
    await applied(rest);
    expect(entriesOf()).toBe(entries);
    expect(gateway.config.plugins.load?.paths ?? []).toEqual([]);
    await waitFor(() => (sandboxesOf(gateway.pid).length === 0 ? true : undefined), LONG, "the end of the sandbox");
  });

  it("`policy` as `security.installPolicy`: OpenClaw refuses to install natively what the sandbox can run", async () => {
    write(gateway.root, { "policy/policy": gateway.policyScript(), ...prefixed("fresh", NATIVE.hog) });
    const command = join(gateway.root, "policy/policy");
    chmodSync(command, 0o700);
    const exec = { source: "exec", command, timeoutMs: 30_000, passEnv: ["PATH", "HOME"], trustedDirs: [dirname(command)] };
    const policy = { enabled: true, targets: ["plugin"], exec };
    await gateway.openclaw("config", "set", "security.installPolicy", JSON.stringify(policy), "--strict-json");
    const refused = await gateway.openclaw("plugins", "install", join(gateway.root, "fresh"), "--force").then(
      ({ stdout, stderr }) => `installed: ${stdout}${stderr}`,
      (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
    );
    expect(refused).toMatch(/blocked by policy/);
    expect(refused).toContain("creel openclaw move");
    expect(globSync("**/fresh*", { cwd: join(gateway.root, "state/extensions") })).toEqual([]);
  });

  it("every command of the guide was run", () => {
    const guide = readFileSync(join(import.meta.dirname, "../../docs/guides/openclaw.md"), "utf8");
    const fences = [...guide.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, text]) => text!.trim().split("\n"));
    const commands = fences.filter((line) => line.startsWith("creel openclaw"));
    expect(commands.length).toBeGreaterThan(4);
    for (const command of commands) expect(gateway.commands).toContain(command);
  });
});

function prefixed(dir: string, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`${dir}/${name}`, text.replaceAll('"hog"', '"fresh"')]));
}
