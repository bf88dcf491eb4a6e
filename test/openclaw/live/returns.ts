/** Out of the sandbox again, and what watches over it. */
import { chmodSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { write } from "../../support/files.ts";
import { LONG } from "../support/gateway.ts";
import { NO, whileForbidden } from "../support/gate-watch.ts";
import type { LiveScene } from "../support/live-scene.ts";
import { NATIVE } from "../support/native-plugins.ts";
import { sandboxesOf } from "../support/sandbox-pids.ts";
import { waitFor } from "../support/wait-for.ts";

export function returns(of: () => LiveScene): void {
  it("`back` on the running gateway: native answers without a restart, kitchen-sink's as before its move, no call passes the gate meanwhile, `plugins.entries` unchanged byte for byte", async () => {
    const scene = of();
    const { gateway } = scene;
    const [doctor, status] = await Promise.all([gateway.creel("doctor"), gateway.creel("status")]);
    expect(doctor.stdout).toMatch(/ok\s*$/);
    expect(status.stdout).toMatch(/guard 1\.0\.0 sandboxed/);
    const { passed } = await whileForbidden(gateway, () => gateway.reload(() => gateway.creel("back", "guard")));
    expect(passed).toEqual([]);
    expect((await scene.weigh("forbidden")).error?.message).toBe(NO);
    expect(await scene.place()).toBe("native");
    // The last paths: without any, OpenClaw asks its index, which was made at the start and knows the shims.
    await gateway.reload(() => gateway.creel("back", "--all"));
    expect(gateway.config.plugins.load?.paths ?? []).toEqual([]);
    expect(await scene.loops()).toBe(0);
    await waitFor(() => (sandboxesOf(gateway.pid).length === 0 ? true : undefined), LONG, "the end of the sandboxes");
    expect(await scene.kitchen("native-again")).toBe(scene.nativeKitchen);
    expect(scene.entriesNow()).toBe(scene.entries);
  });

  it("pin 10: `policy` as `security.installPolicy`: OpenClaw refuses to install natively what the sandbox can run", async () => {
    const { gateway } = of();
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

  it("pin 10: what Creel relies on is there: gateway protocol 4 for a backend without a device, and OpenClaw's index of plugins", () => {
    const { client, gateway } = of();
    expect(client.hello).toMatchObject({ protocol: 4 });
    expect(gateway.machineState("plugins.installedIndex")).toMatch(/guard/);
  });

  it("every command of the guide was run", () => {
    const guide = readFileSync(join(import.meta.dirname, "../../../docs/guides/openclaw.md"), "utf8");
    const fences = [...guide.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, text]) => text!.trim().split("\n"));
    const commands = fences.filter((line) => line.startsWith("creel openclaw"));
    expect(commands.length).toBeGreaterThan(4);
    const run = [...of().gateway.commands];
    for (const command of commands) expect(run).toContain(command);
    // Those within sentences, such as `creel openclaw move --all`, have other flags and names in tests; OpenClaw itself runs `policy`, see above.
    const named = [...guide.matchAll(/`(creel openclaw \w+(?: --all)?)/g)].map(([, start]) => start!);
    const others = new Set(named.filter((start) => start !== "creel openclaw policy"));
    expect([...others].filter((start) => !run.some((command) => command.startsWith(start)))).toEqual([]);
    expect(others.size).toBeGreaterThan(3);
  });
}

function prefixed(dir: string, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`${dir}/${name}`, text.replaceAll('"hog"', '"fresh"')]));
}
