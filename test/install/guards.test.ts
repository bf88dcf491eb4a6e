/** Installed plugins that listen to before_install are asked, and one that cannot be asked is a no. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { folder, QUICK } from "../support/files.ts";
import { listener, operator, pluginFolder } from "./pipeline.ts";

const GUARD = `export default (api) => {
  api.on("before_install", async ({ targetName, builtinScan, request, plugin }) => {
    if (targetName === "throws") throw new Error("broken");
    if (builtinScan.critical > 0) return { block: true, blockReason: "critical: " + builtinScan.findings[0].ruleId };
    await api.kv.set("seen", targetName);
    return { findings: [{ ruleId: "seen", severity: "info", file: "x", line: 1, message: [await api.kv.get("seen"), request.mode, plugin.hooks.join(), ...builtinScan.findings.map(({ ruleId, severity }) => ruleId + ":" + severity)].join(" ") }] };
  });
};`;

const loads = (paths: string[], entries = {}) => ({
  config: { sandbox: { walls: "none" as const }, plugins: { load: { paths }, entries } },
});

describe("a guard", () => {
  it("is asked with what the scan found, has its grants, and blocks; if it fails, that blocks, too", async () => {
    const { install, state } = operator();
    await install(pluginFolder({ id: "guard", permissions: { kv: { reason: "counts" } } }, GUARD));
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
      message: expect.stringContaining('the plugin "guard" does not let "throws" be installed') as string,
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
      message: expect.stringContaining('the plugin "named" does not let "bad" be installed: named false') as string,
    });
    const good = pluginFolder({ id: "good" }, listener("llm_input"));
    expect(await install(good, [], loads([hook, other, named]))).toMatchObject({ outcome: "installed", guards: ["named"] });
    expect(await install(bad, [], loads([other]))).toMatchObject({ outcome: "installed", guards: [] });
    const broken = pluginFolder({ id: "broken" }, `throw new Error("no");`);
    const next = pluginFolder({ id: "next" }, listener("llm_input"));
    await expect(install(next, [], loads([broken]))).rejects.toThrow(
      /"broken" does not let "next" be installed: .*plugins\.load\.paths.*cannot be known/,
    );
    await expect(install(next, [], loads(["./gone"]))).rejects.toThrow(/"\.\/gone" does not let "next" be installed: .*cannot be read/);
    expect(await install(next, [], loads([broken], { broken: { enabled: false } }))).toMatchObject({ outcome: "installed", guards: [] });
    expect([...(await state.read()).keys()]).toEqual(["bad", "good", "next"]);
  });

  it("that is installed and named is asked as it was named", async () => {
    const { install } = operator();
    await install(pluginFolder({ id: "guard" }, GUARD), []);
    const named = pluginFolder({ id: "guard" }, listener("session_end"));
    const config = { sandbox: { walls: "none" as const }, plugins: { load: { paths: [named] } } };
    expect(await install(pluginFolder({ id: "throws" }, listener("llm_input")), [], { config })).toMatchObject({
      outcome: "installed",
      guards: [],
    });
  });

  it("that was changed blocks; one that was disabled is not asked", async () => {
    const { install, state } = operator();
    const { entry } = await install(pluginFolder({ id: "guard" }, GUARD));
    const file = join(state.dir, "store", entry!.store, "bundle.js");
    chmodSync(file, 0o644);
    writeFileSync(file, "module.exports = () => {};");
    const root = pluginFolder({ id: "good" }, listener("llm_input"));
    await expect(install(root)).rejects.toThrow(`${file} differs from what was installed`);
    await state.transaction((tx) => void tx.update("guard", { enabled: false }));
    expect(await install(root)).toMatchObject({ outcome: "installed", guards: [] });
  });
});
