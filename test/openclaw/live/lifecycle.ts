/** What a gateway does with its plugins while it runs, and how it ends: the gate stays shut, one host is open, no sandbox is left. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { NO, whileForbidden } from "../support/gate-watch.ts";
import { LONG } from "../support/gateway.ts";
import type { PluginSettings } from "../support/gateway.ts";
import { OTHERS } from "../support/live-scene.ts";
import type { LiveScene } from "../support/live-scene.ts";
import { sandboxesOf } from "../support/sandbox-pids.ts";
import { waitFor } from "../support/wait-for.ts";

export function lifecycle(of: () => LiveScene): void {
  it("pin 5: edited settings reach the sandbox, a disabled plugin leaves it; no call passes the gate while settings are taken over, or the plugin comes back", async () => {
    const scene = of();
    const { gateway } = scene;
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
    expect((await scene.weigh("bob")).ok).toBe(false);
    const enabled = await whileForbidden(gateway, () => gateway.reload(change("guard", true)));
    expect(enabled.passed).toEqual([]);
    await gateway.reload(change("guard", true, { forbid: "verboten" }));
    expect((await scene.weigh("verboten")).error?.message).toBe("guard says no to verboten");
    expect((await scene.weigh("forbidden")).ok).toBe(true);
    const before = JSON.parse(scene.entries) as Record<string, PluginSettings>;
    await gateway.reload(() => gateway.edit(({ plugins }) => (plugins.entries = before)));
    expect((await scene.weigh("forbidden")).error?.message).toBe(NO);
  });

  it("pin 5: `plugins.reload` and an in-process restart of the gateway: no call passes the gate, the sandboxes of before are gone, as many are left", async () => {
    const scene = of();
    const { gateway } = scene;
    const mark = gateway.log.length;
    const before = sandboxesOf(gateway.pid);
    expect(before.length).toBeGreaterThan(0);
    const reloaded = await whileForbidden(gateway, () => scene.reload("guard"));
    expect([reloaded.passed, await scene.place()]).toEqual([[], "sandboxed"]);
    const restarted = await whileForbidden(gateway, () => scene.restart());
    expect(restarted.passed).toEqual([]);
    expect(scene.hostsSince(mark)).toBe(1);
    const areReplaced = (): true | undefined => {
      const now = sandboxesOf(gateway.pid);
      return (now.length === before.length && !now.some((pid) => before.includes(pid))) || undefined;
    };
    await waitFor(areReplaced, LONG, "the end of the sandboxes of before");
  });

  it("pin 7: a plugin that patches sessions in a loop ends after its own first patch", async () => {
    const scene = of();
    const before = await scene.loops();
    await scene.client.request("sessions.patch", { key: "agent:main:commands", label: "start" });
    await waitFor(async () => ((await scene.loops()) === before ? undefined : true), LONG, "the first patch");
    // A turn later a loop would have made dozens.
    await scene.client.chat("agent:main:commands", "/lobster again");
    expect(await scene.loops()).toBe(before + 1);
  });

  it("pins 5 and 6: `kill -9` of the gateway leaves no sandbox; when the bridge's file is missing, the gates stay shut from the first answer on, and `status` says why", async () => {
    const scene = of();
    const { gateway } = scene;
    const facts = join(scene.shimOf("guard"), "shim.json");
    const whole = readFileSync(facts, "utf8");
    const sandboxes = sandboxesOf(gateway.pid);
    expect(sandboxes.length).toBeGreaterThan(0);
    await gateway.isSettled();
    await gateway.kill("SIGKILL");
    await waitFor(() => (sandboxes.some((pid) => existsSync(`/proc/${pid}`)) ? undefined : true), LONG, "the end of the sandboxes");
    writeFileSync(facts, JSON.stringify({ ...JSON.parse(whole), bridge: join(gateway.root, "gone.js") }));
    const { passed, refused } = await whileForbidden(gateway, () => gateway.start(), "shut");
    expect([passed, refused]).toEqual([[], 0]);
    await scene.reconnect();
    expect((await gateway.invoke("sessions_list", {})).error?.message).toContain("before_tool_call hook failed");
    expect(gateway.log).toContain("its gates stay shut");
    const drifted = await gateway.creel("status").catch((error: { stdout: string }) => error);
    expect(drifted.stdout).toContain("gone.js is missing, its gates are shut");
    writeFileSync(facts, whole);
    await scene.reload("guard");
    expect((await scene.weigh("forbidden")).error?.message).toBe(NO);
    expect((await scene.weigh("bob")).ok).toBe(true);
    expect(await scene.place()).toBe("sandboxed");
  });

  it("pin 5: a start after `kill -9` of the gateway: the gate is shut from the first answer on, one host is open, no sandbox of before is left", async () => {
    const scene = of();
    const { gateway } = scene;
    const mark = gateway.log.length;
    const before = sandboxesOf(gateway.pid);
    await gateway.isSettled();
    await gateway.kill("SIGKILL");
    const { passed } = await whileForbidden(gateway, () => gateway.start());
    expect(passed).toEqual([]);
    await scene.reconnect();
    expect(await scene.place()).toBe("sandboxed");
    expect(scene.hostsSince(mark)).toBe(1);
    expect(before.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  });

  it("pin 8: OpenClaw loads a shim in less than 100 ms: it finds nothing to copy", () => {
    const loads = [...of().gateway.log.matchAll(/\[plugin-load-profile\] phase=(\S+) plugin=(\S+) elapsedMs=([\d.]+).* source=(\S+)/g)];
    const shims = loads.filter(([, , , , source]) => source!.includes("/creel/openclaw/"));
    expect([...new Set(shims.map(([, , plugin]) => plugin!))].toSorted()).toEqual(["guard", ...OTHERS].toSorted());
    // Each was loaded several times. The quickest tells: others waited for a CPU, and copying takes a second each time.
    for (const phase of ["full", "full:register", "discovery", "discovery:register"])
      for (const id of ["guard", ...OTHERS]) {
        const times = shims.filter((one) => one[1] === phase && one[2] === id).map((one) => Number(one[3]));
        expect([phase, id, Math.min(...times) < 100]).toEqual([phase, id, true]);
      }
  });
}
