/** Into the sandbox, on a gateway that runs. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { NO, whileForbidden } from "../support/gate-watch.ts";
import { KITCHEN_SINK, OTHERS } from "../support/live-scene.ts";
import type { LiveScene } from "../support/live-scene.ts";
import { sandboxesOf } from "../support/sandbox-pids.ts";

export function moves(of: () => LiveScene): void {
  it("`plan` says what can be moved, and changes nothing", async () => {
    const scene = of();
    const { gateway } = scene;
    expect((await scene.weigh("forbidden")).error?.message).toBe(NO);
    expect(await scene.place()).toBe("native");
    scene.nativeKitchen = await scene.kitchen("native");
    for (const part of ["tide", "blocked kitchen_sink_search", KITCHEN_SINK, "tool approval"]) expect(scene.nativeKitchen).toContain(part);
    const before = readFileSync(gateway.configFile, "utf8");
    scene.plan = (JSON.parse((await gateway.creel("plan", "--json")).stdout) as { plugins: LiveScene["plan"] }).plugins;
    expect(scene.plan).toMatchObject(["guard", ...OTHERS].toSorted().map((id) => ({ id, state: "native", canMove: true })));
    await gateway.creel("move", "guard", "--dry-run");
    expect(readFileSync(gateway.configFile, "utf8")).toBe(before);
    scene.entries = scene.entriesNow();
  });

  it("pin 9: `move` on the running gateway, killed in the middle and run again: no restart, no call passes the gate meanwhile, `plugins.entries` unchanged byte for byte", async () => {
    const scene = of();
    const { gateway } = scene;
    const mark = gateway.log.length;
    const words = ["move", "guard", "--json", ...scene.accept("guard")];
    const { passed, refused } = await whileForbidden(gateway, async () => {
      await gateway.reload(() => gateway.creelKilled(...words));
      expect(await scene.place()).toBe("sandboxed");
      await gateway.creel(...words);
    });
    expect(passed).toEqual([]);
    expect(refused).toBeGreaterThan(10);
    expect(await scene.place()).toBe("sandboxed");
    expect(scene.entriesNow()).toBe(scene.entries);
    expect(scene.since(mark)).toMatch(/duplicate plugin id .*overridden by config plugin/);
    expect(scene.since(mark)).not.toMatch(/\[gateway\]\S* \S*starting\.\.\./);
  });

  it("`move --all`: the others follow in one reload, with the grants that the operator names", async () => {
    const scene = of();
    const { gateway } = scene;
    const mark = gateway.log.length;
    const flags = ["--json", "--grant", "session:patch", "--grant", "install", "--unasked"];
    await gateway.reload(() => gateway.creel("move", "--all", ...scene.accept(...OTHERS), ...flags));
    const { paths = [] } = gateway.config.plugins.load ?? {};
    expect(paths.map((path) => String(path.split("/").at(-2))).toSorted()).toEqual(["guard", ...OTHERS].toSorted());
    for (const id of OTHERS) await scene.isReady(id, mark);
    expect(sandboxesOf(gateway.pid).length).toBeGreaterThan(0);
    expect(scene.hostsSince(0)).toBe(1);
  });
}
