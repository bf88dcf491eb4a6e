/**
 * Sandboxed plugins in a real OpenClaw gateway, moved there and back while it runs. The tests share one gateway and build on each other:
 * a start takes ten seconds on a quiet machine. OpenClaw is installed on demand; see support/openclaw-package.ts. The titles are the rows
 * of docs/reference/openclaw-live.md.
 */
// runs: creel openclaw plan
// runs: creel openclaw move guard
// runs: creel openclaw move guard --dry-run
// runs: creel openclaw status
// runs: creel openclaw doctor
// runs: creel openclaw back guard
// runs: exec creel openclaw policy
import { chmodSync, cpSync, existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { routeOf } from "../../src/openclaw/hook-names.ts";
import { readShim } from "../../src/openclaw/shim-files.ts";
import { CATALOG } from "creel";
import { folder, write } from "../support/files.ts";
import { NO, whileForbidden } from "./support/gate-watch.ts";
import { Gateway, LONG } from "./support/gateway.ts";
import type { PluginSettings } from "./support/gateway.ts";
import type { GatewayClient } from "./support/gateway-client.ts";
import { NATIVE } from "./support/native-plugins.ts";
import { openclawEntry } from "./support/openclaw-package.ts";
import { sandboxesOf } from "./support/sandbox-pids.ts";
import { waitFor } from "./support/wait-for.ts";

const entry = openclawEntry();
/** A real plugin from npm, with a handler for every hook. */
const KITCHEN_SINK = "openclaw-kitchen-sink-fixture";
const OTHERS = ["hog", "looper", "observer", KITCHEN_SINK];
/** It has a channel, see docs/guides/openclaw.md. */
const ONE_WAY = ["--one-way", KITCHEN_SINK];

interface Planned {
  readonly id: string;
  readonly state: string;
  readonly canMove: boolean;
  readonly digest: string;
}

describe.skipIf(entry === undefined)("a real OpenClaw gateway", { timeout: 2 * LONG }, () => {
  let gateway: Gateway;
  let client: GatewayClient;
  let entries: string;
  let plan: Planned[];
  let kitchenAnswer: string;

  const entriesOf = (): string => JSON.stringify(gateway.config.plugins.entries);
  const weigh = (name: string, more: object = {}) => gateway.invoke("lobster_weight", { name, ...more });
  const since = (mark: number): string => gateway.log.slice(mark);
  const isReady = (id: string, mark: number) =>
    waitFor(() => new RegExp(`"plugin":"${id}","status":"ready"`).exec(since(mark))?.[0], LONG, `${id} in the sandbox`);
  const accept = (...ids: string[]): string[] => ids.flatMap((id) => ["--accept", plan.find((one) => one.id === id)!.digest]);
  const shimOf = (id: string): string => gateway.config.plugins.load!.paths!.find((path) => path.includes(`/${id}/`))!;
  /** Only a process of Node's has `process.binding`. */
  const place = async (): Promise<string> => ((await client.request("lobster.status")).where === "function" ? "native" : "sandboxed");
  const count = async (): Promise<string> => JSON.stringify(await gateway.invoke("loop_count", {}));
  /** What kitchen-sink's tool and command say. */
  const kitchen = async (session: string): Promise<string> => {
    const { result } = await gateway.invoke("kitchen_sink_search", { query: "tide" });
    const { message } = JSON.parse(await client.chat(`agent:main:${session}`, "/kitchen-sink status")) as {
      message?: { content?: unknown };
    };
    return JSON.stringify([result, message?.content]);
  };
  /** What the observer was told, a line each. */
  const observed = async (): Promise<string> => `${((await client.request("observer.seen")) as { seen: string[] }).seen.join("\n")}\n`;
  const reconnect = async (): Promise<void> => {
    client.close();
    client = await gateway.client();
  };

  /** In the same process. */
  const restart = async (): Promise<void> => {
    const mark = gateway.log.length;
    await client.request("gateway.restart.request", { reason: "test", skipDeferral: true });
    await gateway.isReady(mark);
    await reconnect();
  };

  beforeAll(async () => {
    if (entry === undefined) return;
    gateway = new Gateway(entry, folder({}));
    await gateway.prepare();
    for (const [id, files] of Object.entries(NATIVE)) write(join(gateway.root, "state/extensions", id), files);
    cpSync(join(dirname(entry), "../@openclaw/kitchen-sink"), join(gateway.root, "state/extensions", KITCHEN_SINK), { recursive: true });
    const hooks = { allowConversationAccess: true, allowPromptInjection: true };
    gateway.edit(({ plugins }) => {
      plugins.entries = {
        guard: { enabled: true, hooks: { allowConversationAccess: true }, config: { forbid: "forbidden" } },
        looper: { enabled: true },
        hog: { enabled: true },
        observer: { enabled: true, hooks },
        [KITCHEN_SINK]: { enabled: true, hooks, config: { personality: "conformance" } },
      };
    });
    await gateway.start();
    client = await gateway.client();
  }, 2 * LONG);

  afterAll(async () => {
    client?.close();
    await gateway?.close();
    const { OPENCLAW_LOG } = process.env;
    if (OPENCLAW_LOG !== undefined && gateway) writeFileSync(OPENCLAW_LOG, gateway.log);
  });

  it("`plan` says what can be moved, and changes nothing", async () => {
    expect((await weigh("forbidden")).error?.message).toBe(NO);
    expect(await place()).toBe("native");
    kitchenAnswer = await kitchen("native");
    expect(kitchenAnswer).toContain("tide");
    const before = readFileSync(gateway.configFile, "utf8");
    plan = (JSON.parse((await gateway.creel("plan", "--json")).stdout) as { plugins: Planned[] }).plugins;
    const movable = { state: "native", canMove: true };
    expect(plan).toMatchObject(["guard", ...OTHERS].toSorted().map((id) => ({ id, ...movable, isOneWay: id === KITCHEN_SINK })));
    await gateway.creel("move", "guard", "--dry-run");
    expect(readFileSync(gateway.configFile, "utf8")).toBe(before);
  });

  it("`move` on the running gateway, killed in the middle and run again: no restart, no call passes the gate meanwhile, `plugins.entries` unchanged byte for byte", async () => {
    entries = entriesOf();
    const mark = gateway.log.length;
    const { passed, refused } = await whileForbidden(gateway, async () => {
      await gateway.reload(() => gateway.creelKilled("move", "guard", "--json", ...accept("guard")));
      expect(await place()).toBe("sandboxed");
      await gateway.creel("move", "guard", "--json", ...accept("guard"));
    });
    expect(passed).toEqual([]);
    expect(refused).toBeGreaterThan(10);
    expect(await place()).toBe("sandboxed");
    expect(entriesOf()).toBe(entries);
    expect(since(mark)).toMatch(/duplicate plugin id .*overridden by config plugin/);
    expect(since(mark)).not.toMatch(/\[gateway\]\S* \S*starting\.\.\./);
  });

  it("`move --all`: the others follow in one reload, with the grants that the operator names", async () => {
    const mark = gateway.log.length;
    await gateway.reload(() =>
      gateway.creel(
        "move",
        "--all",
        "--json",
        ...accept(...OTHERS),
        ...ONE_WAY,
        "--grant",
        "session:patch",
        "--grant",
        "install",
        "--unasked",
      ),
    );
    const { paths = [] } = gateway.config.plugins.load ?? {};
    expect(paths.map((path) => String(path.split("/").at(-2))).toSorted()).toEqual(["guard", ...OTHERS].toSorted());
    for (const id of OTHERS) await isReady(id, mark);
    expect(sandboxesOf(gateway.pid).length).toBeGreaterThan(0);
    expect(gateway.log.match(/creel: host \S+ open/g)?.length).toBe(1);
  });

  it("prompt context, a blocked run, a claimed message and a rewritten reply reach OpenClaw; so does the hook that it removed", async () => {
    await client.chat("agent:main:prompt", "what is the tide?");
    expect(gateway.modelRequests.at(-1)).toContain("the tide is in");
    expect(gateway.modelRequests.at(-1)).toContain("and the boats are out");
    const asked = gateway.modelRequests.length;
    expect(await client.chat("agent:main:ashore", "stay-ashore")).toContain("Stay ashore.");
    expect(await client.chat("agent:main:claim", "claim-me")).toContain("observer took it");
    expect(gateway.modelRequests.length).toBe(asked);
    expect(await client.chat("agent:main:commands", "/lobster observe-me")).toContain("lobster says: observe-me (observed)");
  });

  it("events that OpenClaw does not have are made from its own: sessions, tools, turns", async () => {
    const session = "agent:main:observed";
    await client.chat(session, 'use-tool:lobster_weight args={"name":"tide"}');
    await client.chat(session, "/new");
    const all = [
      "session:start",
      "before_agent_start",
      "beforeTurn",
      "tool:start",
      "tool:result",
      "afterTurn with its usage",
      "session:end stop",
    ];
    const missing = async () => {
      const seen = await observed();
      return all.filter((one) => !seen.includes(one));
    };
    await expect.poll(missing, { timeout: LONG }).toEqual([]);
  });

  it("kitchen-sink from npm: moved with all its hooks, its tool and command answer as natively; a turn, cron, /compact, /new and /reset bring no event that Creel refuses", async () => {
    const mark = gateway.log.length;
    expect(await kitchen("sandboxed")).toBe(kitchenAnswer);
    const moved = new Set(readShim(shimOf(KITCHEN_SINK))!.hooks.map(({ hook }) => hook));
    expect([...moved].toSorted()).toEqual(
      Object.keys(CATALOG)
        .filter((name) => routeOf(name) === "typed")
        .toSorted(),
    );
    const session = "agent:main:sink";
    expect(await client.chat(session, 'use-tool:lobster_weight args={"name":"sink"}')).toContain("weight of sink");
    const { id } = await client.request("cron.add", {
      name: "tide",
      schedule: { kind: "every", everyMs: 86_400_000 },
      sessionTarget: "main",
      wakeMode: "next-heartbeat",
      payload: { kind: "systemEvent", text: "the tide is in" },
    });
    await client.request("cron.run", { id, mode: "force" });
    await client.request("cron.remove", { id });
    // It has a handler for it, too, which leaves no trace.
    await expect.poll(observed, { timeout: LONG }).toContain("cron_changed");
    for (const text of ["/compact", "/new", "/reset"]) await client.chat(session, text);
    expect(since(mark)).not.toMatch(/is not valid|was not run|ERR_EVENT_INVALID/);
  });

  it("edited settings reach the sandbox, a disabled plugin leaves it; no call passes the gate while settings are taken over, or the plugin comes back", async () => {
    const change = (id: string, enabled: boolean, config?: Record<string, string>) => () =>
      gateway.edit(({ plugins }) => {
        const { [id]: one } = plugins.entries!;
        plugins.entries![id] = { ...one!, enabled, ...(config && { config }) };
      });
    const edited = await whileForbidden(gateway, async () => {
      // Another plugin is disabled: the sandbox that both share must keep this one.
      await gateway.reload(change("looper", false));
      await gateway.reload(change("guard", true, { forbid: "forbidden", note: "changed" }));
    });
    expect(edited.passed).toEqual([]);
    // Not watched: OpenClaw lets a call pass that has found the tool before the plugin was disabled, natively, too.
    await gateway.reload(change("guard", false));
    expect((await weigh("bob")).ok).toBe(false);
    const enabled = await whileForbidden(gateway, () => gateway.reload(change("guard", true)));
    expect(enabled.passed).toEqual([]);
    await gateway.reload(change("guard", true, { forbid: "verboten" }));
    expect((await weigh("verboten")).error?.message).toBe("guard says no to verboten");
    expect((await weigh("forbidden")).ok).toBe(true);
    await gateway.reload(() => gateway.edit(({ plugins }) => (plugins.entries = JSON.parse(entries) as Record<string, PluginSettings>)));
    expect((await weigh("forbidden")).error?.message).toBe(NO);
  });

  it("`plugins.reload` and an in-process restart of the gateway: no call passes the gate, the sandboxes of before are gone, as many are left", async () => {
    const mark = gateway.log.length;
    const before = sandboxesOf(gateway.pid);
    expect(before.length).toBeGreaterThan(0);
    const { passed } = await whileForbidden(gateway, async () => {
      await client.request("plugins.reload", { plugins: [{ pluginId: "guard" }] });
      await restart();
    });
    expect(passed).toEqual([]);
    expect(since(mark).match(/creel: host \S+ open/g)?.length).toBe(1);
    const areReplaced = (): true | undefined => {
      const now = sandboxesOf(gateway.pid);
      return (now.length === before.length && !now.some((pid) => before.includes(pid))) || undefined;
    };
    await waitFor(areReplaced, LONG, "the end of the sandboxes of before");
  });

  it("a start after `kill -9` of the gateway: the gate is shut from the first answer on, one host is open, no sandbox of before is left", async () => {
    const mark = gateway.log.length;
    const before = sandboxesOf(gateway.pid);
    await gateway.isSettled();
    await gateway.kill("SIGKILL");
    const { passed } = await whileForbidden(gateway, () => gateway.start());
    expect(passed).toEqual([]);
    await reconnect();
    expect(await place()).toBe("sandboxed");
    expect(since(mark).match(/creel: host \S+ open/g)?.length).toBe(1);
    expect(before.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  });

  it("OpenClaw loads a shim in less than 100 ms: it finds nothing to copy", () => {
    const loads = [...gateway.log.matchAll(/\[plugin-load-profile\] phase=(\S+) plugin=(\S+) elapsedMs=([\d.]+).* source=(\S+)/g)];
    const shims = loads.filter(([, , , , source]) => source!.includes("/creel/openclaw/"));
    expect([...new Set(shims.map(([, , plugin]) => plugin!))].toSorted()).toEqual(["guard", ...OTHERS].toSorted());
    // Each was loaded several times.
    for (const phase of ["full", "full:register", "discovery", "discovery:register"])
      for (const id of ["guard", ...OTHERS]) {
        const times = shims.filter((one) => one[1] === phase && one[2] === id).map((one) => Number(one[3]));
        expect([phase, id, median(times) < 100]).toEqual([phase, id, true]);
      }
  });

  it("`back` on the running gateway: native answers without a restart, no call passes the gate meanwhile, the settings as they were", async () => {
    expect((await gateway.creel("doctor")).stdout).toMatch(/ok\s*$/);
    expect((await gateway.creel("status")).stdout).toMatch(/guard 1\.0\.0 sandboxed/);
    const { passed } = await whileForbidden(gateway, () => gateway.reload(() => gateway.creel("back", "guard")));
    expect(passed).toEqual([]);
    expect((await weigh("forbidden")).error?.message).toBe(NO);
    expect(await place()).toBe("native");
    await gateway.reload(() => gateway.creel("back", "hog", "looper", "observer"));
    expect(await count()).toContain("patches: 0");
    // OpenClaw goes on with the shim of a plugin with a channel, see docs/guides/openclaw.md.
    const { stdout } = await gateway.creel("back", "--all");
    expect(stdout).toMatch(new RegExp(`${KITCHEN_SINK} is native again in the configuration, but it has a channel`));
    expect(entriesOf()).toBe(entries);
    expect(gateway.config.plugins.load?.paths ?? []).toEqual([]);
  });

  it("`policy` as `security.installPolicy`: OpenClaw refuses to install natively what the sandbox can run", async () => {
    write(gateway.root, { "policy/policy": gateway.policyScript(), ...prefixed("fresh", NATIVE.hog) });
    const command = join(gateway.root, "policy/policy");
    chmodSync(command, 0o700);
    const exec = { source: "exec", command, timeoutMs: 120_000, passEnv: ["PATH", "HOME"], trustedDirs: [dirname(command)] };
    gateway.edit((config) => Object.assign(config, { security: { installPolicy: { enabled: true, targets: ["plugin"], exec } } }));
    const refused = await gateway.openclaw("plugins", "install", join(gateway.root, "fresh"), "--force").then(
      ({ stdout, stderr }) => `installed: ${stdout}${stderr}`,
      (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
    );
    expect(refused).toMatch(/blocked by policy/);
    expect(refused).toContain(`creel openclaw move ${join(gateway.root, "fresh")}`);
    expect(globSync("**/fresh*", { cwd: join(gateway.root, "state/extensions") })).toEqual([]);
  });

  it("what Creel relies on is there: gateway protocol 4 for a backend without a device, and OpenClaw's index of plugins", () => {
    expect(client.hello).toMatchObject({ protocol: 4 });
    expect(gateway.machineState("plugins.installedIndex")).toMatch(/guard/);
  });

  it("every command of the guide was run", () => {
    const guide = readFileSync(join(import.meta.dirname, "../../docs/guides/openclaw.md"), "utf8");
    const fences = [...guide.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, text]) => text!.trim().split("\n"));
    const commands = fences.filter((line) => line.startsWith("creel openclaw"));
    expect(commands.length).toBeGreaterThan(4);
    for (const command of commands) expect(gateway.commands).toContain(command);
  });
});

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function prefixed(dir: string, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`${dir}/${name}`, text.replaceAll('"hog"', '"fresh"')]));
}
