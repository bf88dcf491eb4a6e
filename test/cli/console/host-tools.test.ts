/** `creel/console/tools`: a gateway that embeds Creel gives its own console what `creel console` has. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { openHost } from "creel";
import { serveConsole } from "creel/console";
import { hostTools } from "creel/console/tools";
import { operator, pluginFolder } from "../../install/pipeline.ts";
import { folder, QUICK } from "../../support/files.ts";
import { plugin, silent } from "../../support/host.ts";

const GUARD = `export default (api) => {
  api.on("before_tool_call", async (event) => {
    const isGranted = await api.kv.set("x", 1).then(() => true, () => false);
    return event.params.bad ? { block: true, blockReason: "granted: " + isGranted } : undefined;
  });
};`;

it("the tools of an embedded host grant and revoke in it at once, and replay with the plugins that the gateway names", async () => {
  const config = join(
    folder(
      { "creel.json": JSON.stringify({ stateDir: "state", record: { enabled: true }, sandbox: { walls: "none", spare: false } }) },
      QUICK,
    ),
    "creel.json",
  );
  const source = pluginFolder({ id: "guard", permissions: { kv: { reason: "remembers" } } }, GUARD);
  await operator(join(config, "../state")).install(source, ["kv"]);
  const plugins = [plugin("asker", `api.on("before_tool_call", (event) => (event.params.ask ? { block: true } : undefined));`)];
  await using host = await openHost({ isolation: "thread", lanes: 1, logger: silent, config, plugins });
  const tools = await hostTools(host, { config, plugins, isolation: "thread" });
  const reasonOf = async () => (await host.run("before_tool_call", { toolName: "exec", params: { bad: true } })).reason;

  expect(await reasonOf()).toBe("granted: true");
  await tools.changePermission("revoke", "guard", "kv");
  expect(await reasonOf()).toBe("granted: false");
  expect(await tools.refused("guard")).toMatchObject([{ key: "kv" }]);
  await tools.changePermission("grant", "guard", "kv");
  expect(await reasonOf()).toBe("granted: true");

  const { runId } = await host.run("before_tool_call", { toolName: "exec", params: { ask: true } });
  await expect.poll(() => tools.recorded(runId), { timeout: 10_000 }).toBeDefined();
  expect((await tools.bisect(runId)).plugins).toEqual(["asker"]);
  expect(await tools.reviewUpdate("guard")).toMatchObject({ outcome: "unchanged" });

  // The console takes them as they are.
  await using server = await serveConsole(host, { logger: silent, tools, tokenFile: join(config, "../token") });
  expect(server.newAddress()).toContain("#");
});

it("a host without a state folder has no such tools", async () => {
  await using host = await openHost({
    isolation: "thread",
    lanes: 1,
    logger: silent,
    config: { sandbox: { walls: "none", spare: false } },
  });
  await expect(hostTools(host)).rejects.toMatchObject({ code: "ERR_INSTALL_NO_STATE" });
});
