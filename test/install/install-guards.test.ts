/** Installed plugins that listen to before_install are asked, and one that cannot be asked is a no. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { changePermissions } from "../../src/cli/plugins/change-permissions.ts";
import { folder, QUICK } from "../support/files.ts";
import { open } from "../support/host.ts";
import { listener, operator, pluginFolder } from "./pipeline.ts";

const GUARD = `export default (api) => {
  api.on("before_install", async ({ targetName, builtinScan, request, plugin }) => {
    if (targetName === "throws") throw new Error("broken");
    if (builtinScan.critical > 0) return { block: true, blockReason: "critical: " + builtinScan.findings[0].ruleId };
    await api.kv.set("seen", targetName);
    return { findings: [{ ruleId: "seen", severity: "info", file: "x", line: 1, message: [await api.kv.get("seen"), request.mode, plugin.hooks.join(), ...builtinScan.findings.map(({ ruleId, severity }) => ruleId + ":" + severity)].join(" ") }] };
  });
};`;

const DECIDES = { hooks: { allowInstallDecisions: true } };
const loads = (paths: string[], entries: Record<string, typeof DECIDES & { enabled?: boolean }> = { named: DECIDES }) => ({
  config: { sandbox: { walls: "none" as const }, plugins: { load: { paths }, entries } },
});

describe("a guard", () => {
  it("is asked with what the scan found, has its grants, and blocks; if it fails, that blocks, too", async () => {
    const { install, state } = operator();
    await install(pluginFolder({ id: "guard", permissions: { kv: { reason: "counts" } } }, GUARD), ["kv", "install"]);
    const good = await install(pluginFolder({ id: "good" }, listener("llm_input")));
    expect(good).toMatchObject({
      outcome: "installed",
      guards: ["guard"],
      findings: [{ severity: "info", message: "good install llm_input" }],
    });
    const alike = await install(pluginFolder({ id: "slack" }, listener("llm_input")));
    expect(alike.findings).toMatchObject([{ message: "slack install llm_input typosquat:warn" }]);
    await expect(install(pluginFolder({ id: "throws" }, listener("llm_input")))).rejects.toMatchObject({
      code: "ERR_INSTALL_BLOCKED",
      message: expect.stringContaining('the plugin "guard" refused the installation of "throws"') as string,
    });
    const escapes = `export default () => { [].constructor.constructor; };`;
    await expect(install(pluginFolder({ id: "escapes" }, escapes))).rejects.toThrow("critical: constructor-chain");
    expect([...(await state.read()).keys()]).toEqual(["good", "guard", "slack"]);
  });

  it("of plugins.load.paths is asked, too; without its tools and services; one that cannot be loaded might be a guard, and blocks", async () => {
    const { install, state } = operator();
    const service = `export default (api) => {
      let started = false;
      api.registerService({ id: "s", start() { started = true; } });
      api.on("before_install", ({ targetName }) => targetName === "bad" ? { block: true, blockReason: "named " + started } : undefined);
    };`;
    const named = pluginFolder({ id: "named" }, service);
    const other = pluginFolder({ id: "other" }, listener("session_end"));
    const hook = folder(
      { "HOOK.md": "---\nname: hears\nmetadata: { openclaw: { events: [command] } }\n---\n", "handler.ts": "export default () => {};" },
      QUICK,
    );
    const bad = pluginFolder({ id: "bad" }, listener("llm_input"));
    await expect(install(bad, [], loads([hook, other, named]))).rejects.toMatchObject({
      code: "ERR_INSTALL_BLOCKED",
      message: expect.stringContaining('the plugin "named" refused the installation of "bad": named false') as string,
    });
    const good = pluginFolder({ id: "good" }, listener("llm_input"));
    expect(await install(good, [], loads([hook, other, named]))).toMatchObject({ outcome: "installed", guards: ["named"] });
    expect(await install(bad, [], loads([other]))).toMatchObject({ outcome: "installed", guards: [] });
    const broken = pluginFolder({ id: "broken" }, `throw new Error("no");`);
    const next = pluginFolder({ id: "next" }, listener("llm_input"));
    await expect(install(next, [], loads([broken], { broken: DECIDES }))).rejects.toThrow(
      /"broken" refused the installation of "next": .*plugins\.load\.paths.*is unknown/,
    );
    await expect(install(next, [], loads(["./gone"]))).rejects.toThrow(/"\.\/gone" refused the installation of "next": .*cannot be read/);
    expect(await install(next, [], loads([broken], { broken: { ...DECIDES, enabled: false } }))).toMatchObject({
      outcome: "installed",
      guards: [],
    });
    expect([...(await state.read()).keys()]).toEqual(["bad", "good", "next"]);
  });

  it("that is installed and named is asked as it was named", async () => {
    const { install } = operator();
    await install(pluginFolder({ id: "guard" }, GUARD), ["install"]);
    const named = pluginFolder({ id: "guard" }, listener("session_end"));
    expect(await install(pluginFolder({ id: "throws" }, listener("llm_input")), [], loads([named], { guard: DECIDES }))).toMatchObject({
      outcome: "installed",
      guards: [],
    });
  });

  it("a yes to the review does not make a guard: it is granted by name, and the diagnostic names the key", async () => {
    const { install, state } = operator();
    const asked = { install: { reason: "looks at scans" } };
    const { review, entry } = await install(pluginFolder({ id: "guard", permissions: asked }, GUARD));
    expect(review.permissions).toMatchObject([
      { key: "install", from: "manifest", words: "refuse every later installation, even by failing" },
    ]);
    expect(entry!.permissions.allowInstallDecisions).toBe(false);
    const first = await install(pluginFolder({ id: "throws" }, listener("llm_input")));
    expect(first).toMatchObject({ outcome: "installed", guards: [], notAsked: ["guard"] });
    await using host = await open("thread", { config: { stateDir: state.dir, plugins: { load: { lazy: false } } } });
    expect(host.inspect("guard").diagnostics).toEqual([expect.stringContaining('"creel permissions grant guard install"')]);
    await changePermissions(state, "guard", "grant", ["install"]);
    await expect(install(pluginFolder({ id: "fine" }, `export default () => { [].constructor.constructor; };`))).rejects.toThrow(
      "critical",
    );
  });

  it("of a lock of an older Creel, which says nothing about installs, is not asked", async () => {
    const { install, state } = operator();
    await install(pluginFolder({ id: "guard" }, GUARD), ["install"]);
    const older = { allowConversationAccess: false, allowPromptInjection: false };
    await state.transaction((tx) => void tx.update("guard", { permissions: older }));
    expect(await install(pluginFolder({ id: "throws" }, listener("llm_input")))).toMatchObject({ guards: [], notAsked: ["guard"] });
  });

  it("that was not given the permission cannot keep anything out by being broken", async () => {
    const { install } = operator();
    const broken = pluginFolder({ id: "broken" }, `throw new Error("no");`);
    expect(await install(pluginFolder({ id: "next" }, listener("llm_input")), [], loads([broken, "./gone"], {}))).toMatchObject({
      outcome: "installed",
      guards: [],
    });
  });

  it("that was changed blocks; one that was disabled is not asked", async () => {
    const { install, state } = operator();
    const { entry } = await install(pluginFolder({ id: "guard" }, GUARD), ["install"]);
    const file = join(state.dir, "store", entry!.store, "bundle.js");
    chmodSync(file, 0o644);
    writeFileSync(file, "module.exports = () => {};");
    const root = pluginFolder({ id: "good" }, listener("llm_input"));
    await expect(install(root)).rejects.toThrow(`${file} differs from what was installed`);
    await state.transaction((tx) => void tx.update("guard", { enabled: false }));
    expect(await install(root)).toMatchObject({ outcome: "installed", guards: [] });
  });
});
