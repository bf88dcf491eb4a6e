/** A host that runs is told what the commands change, and says what it made of it: no restart, and no version that does not work. */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openHost } from "creel";
import type { Host } from "creel";
import type { Served } from "../../src/serve/server.ts";
import { creelHere } from "../support/cli-in-process.ts";
import { pluginFolder } from "../install/pipeline.ts";
import { folder, QUICK, write } from "../support/files.ts";
import { silent } from "../support/host.ts";
import { putInstalled } from "../support/installed.ts";
import { served } from "../support/serve.ts";

const home = folder({ "creel.json": JSON.stringify({ stateDir: "state", sandbox: { spare: false, walls: "none" } }) }, QUICK);
const config = join(home, "creel.json");
const notes = join(home, "state", "serving");
const says = (what: string, more = "") =>
  `export default (api) => { api.on("message_sending", async (event) => ({ content: event.content + " ${what}" })); ${more} };`;
const manifest = (version: string) => ({ id: "weather", version, permissions: { kv: { reason: "towns" } } });

const creel = (...args: string[]) => creelHere(...args, "--config", config);

/** Says yes to what it is shown. */
const accept = async (...args: string[]) => {
  const digest = /--accept (sha256-[^\s"]+)/.exec((await creel(...args)).err)?.[1];
  return creel(...args, "--accept", digest ?? "none");
};

describe("a running host", () => {
  const root = pluginFolder(manifest("1.0.0"), says("one"));
  let server: Served;
  let remote: Host;
  beforeAll(async () => {
    await putInstalled(join(home, "state"), "other", `export default (api) => api.on("agent_end", () => {});`);
    server = await served({ config });
    remote = await openHost({ connect: server.socket, logger: silent });
  });
  afterAll(async () => {
    await remote.close();
    await server.close();
  });

  const said = async () => (await remote.run("message_sending", { to: "x", content: "it says" }, { channelId: "chat" })).result?.content;
  it("takes in what is installed, and a newer version of it", async () => {
    const installed = await accept("install", root);
    expect(installed.out).toContain("running host loaded version 1.0.0\n");
    expect(installed.out).not.toContain("started again");
    expect(await said()).toBe("it says one");
    write(root, { "creel.plugin.json": JSON.stringify(manifest("1.1.0")), "index.ts": says("two") });
    expect((await accept("update", "weather")).out).toContain("running host loaded version 1.0.0 → 1.1.0\n");
    expect(await said()).toBe("it says two");
    expect(server.host.inspect("weather")).toMatchObject({ version: "1.1.0", status: "ready", error: undefined });
  });

  it("says to `creel inspect` in which lane the plugin is there, and why", async () => {
    const place = { status: "ready", lane: 0, lanePlacement: "shares message_sending with no other plugin" };
    expect((await creel("inspect", "weather")).out).toContain(`Running\n  host ${process.pid}: ready, lane 0: ${place.lanePlacement}\n`);
    const { running } = JSON.parse((await creel("inspect", "weather", "--json")).out) as { running: object[] };
    expect(running).toEqual([{ pid: process.pid, socket: server.socket, ...place, error: null }]);
  });

  it("goes on with the version it has when the new one does not load there, and says why", async () => {
    // When it was looked at, without grants, it was fine.
    const broken = `const isGranted = await api.kv.get("x").then(() => true, () => false); if (isGranted) throw new Error("not with a store");`;
    write(root, {
      "creel.plugin.json": JSON.stringify(manifest("1.2.0")),
      "index.ts": says("three", broken).replace("(api) =>", "async (api) =>"),
    });
    expect((await accept("update", "weather")).out).toContain(
      "! running host keeps the old version: the plugin failed while loading: not with a store\n",
    );
    expect(await said()).toBe("it says two");
    expect(server.host.inspect("weather")).toMatchObject({ version: "1.1.0", status: "ready", error: { code: "ERR_PLUGIN_LOAD" } });
    // With fewer grants it loads.
    expect((await creel("permissions", "revoke", "weather", "kv")).out).toContain("running host loaded version 1.1.0 → 1.2.0\n");
    expect(server.host.inspect("weather").kv).toBeUndefined();
    expect(await said()).toBe("it says three");
  });

  it("is told of enable and disable, and of uninstall", async () => {
    expect((await creel("disable", "weather")).out).toBe("weather is disabled\n  running host stopped the plugin\n");
    expect(await said()).toBeUndefined();
    const { running } = JSON.parse((await creel("enable", "weather", "--json")).out) as { running: unknown };
    expect(running).toEqual([{ pid: process.pid, socket: server.socket, status: "ready", version: "1.2.0" }]);
    expect(await said()).toBe("it says three");
    expect((await creel("uninstall", "weather")).out).toContain("running host stopped the plugin");
    expect(server.host.plugins().map(({ id }) => id)).toEqual(["other"]);
    await expect(remote.reload("weather")).rejects.toMatchObject({ code: "ERR_PLUGIN_UNKNOWN" });
  });

  it("a note that a killed host has left is taken away, and one that is nonsense is passed over", async () => {
    writeFileSync(join(notes, "dead.json"), JSON.stringify({ socket: server.socket, pid: 2 ** 22 + 1 }));
    writeFileSync(join(notes, "nonsense.json"), "{");
    const { out } = await creel("disable", "other");
    expect(out.match(/running host/g)).toHaveLength(1);
    expect([existsSync(join(notes, "dead.json")), readdirSync(notes).length]).toEqual([false, 2]);
  });

  it("that has ended is not told any more", async () => {
    await server.close();
    expect((await creel("disable", "other", "--json")).out).toBe(`${JSON.stringify({ id: "other", enabled: false }, undefined, 2)}\n`);
  });
});
