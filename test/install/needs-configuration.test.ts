/** A plugin that throws while it registers because it is not configured can be installed, and its review says what it needs. */
import { describe, expect, it } from "vitest";
import { examine } from "../../src/cli/check/examine.ts";
import { sampleConfigs } from "../../src/install/review/sample-config.ts";
import { openHost } from "../../src/sdk/open-host.ts";
import { silentLogger } from "../../src/host/report/silent-logger.ts";
import { operator, pluginFolder } from "./pipeline.ts";

const schema = {
  type: "object",
  required: ["baseUrl"],
  properties: { baseUrl: { type: "string", format: "uri" }, agents: { type: "object", additionalProperties: { type: "string" } } },
};
const needy = `export default (api) => {
  if (!api.pluginConfig.baseUrl) throw new Error("baseUrl is missing");
  api.on("llm_input", () => {});
};`;

describe("a plugin that is not configured", () => {
  it("is installed, with the hooks that it will register and a remark; a host loads it once it is configured", async () => {
    const { install, state } = operator();
    const { outcome, review } = await install(pluginFolder({ id: "needy", configSchema: schema }, needy));
    expect([outcome, review.hooks.map(({ hook }) => hook)]).toEqual(["installed", ["llm_input"]]);
    expect(review.remarks[0]).toBe(
      "it needs configuration, and does not load before plugins.entries.needy.config has it (what it registers was seen with sample values): the plugin failed while loading: baseUrl is missing",
    );
    const config = (own: object) => ({
      stateDir: state.dir,
      sandbox: { spare: false },
      plugins: { load: { lazy: false }, entries: { needy: { hooks: { allowConversationAccess: true }, config: own } } },
    });
    for (const [own, status] of [
      [{}, "failed"],
      [{ baseUrl: "https://a.example/" }, "ready"],
    ] as const) {
      await using host = await openHost({
        isolation: "thread",
        lanes: 1,
        allowFailed: true,
        logger: silentLogger,
        config: config(own) as never,
      });
      expect(host.inspect("needy").status).toBe(status);
    }
  });

  it("creel check says what it needs, and finds no problem", async () => {
    const { problems, remarks, hooks } = await examine(pluginFolder({ id: "needy", configSchema: schema }, needy), "none");
    expect([problems, hooks]).toEqual([[], [{ hook: "llm_input", priority: 0 }]]);
    expect(remarks[0]).toContain("it needs configuration");
  });

  it("one that throws whatever its configuration is stays refused, and nothing is installed", async () => {
    const { install, state } = operator();
    const broken = pluginFolder({ id: "broken", configSchema: schema }, `export default () => { throw new Error("never"); };`);
    await expect(install(broken)).rejects.toMatchObject({
      code: "ERR_INSTALL_REGISTER",
      message: expect.stringContaining("plugins.entries.broken.config.baseUrl is missing") as string,
    });
    expect((await state.read()).size).toBe(0);
  });

  it("a plugin without a configSchema that throws is refused: nobody can know what it wants", async () => {
    await expect(operator().install(pluginFolder({ id: "needy" }, needy))).rejects.toMatchObject({ code: "ERR_INSTALL_REGISTER" });
  });
});

describe("sample configurations", () => {
  it("have first what is required, then everything, and keep what the operator set", () => {
    expect(sampleConfigs({ schema }, {})).toEqual([
      { baseUrl: "https://sample.invalid/" },
      { baseUrl: "https://sample.invalid/", agents: { sample: "sample" } },
    ]);
    expect(sampleConfigs({ schema }, { baseUrl: "mine" })).toEqual([{ baseUrl: "mine", agents: { sample: "sample" } }]);
    expect(sampleConfigs(undefined, {})).toEqual([]);
  });

  it("of a schema without end have an end", () => {
    const properties: Record<string, unknown> = {};
    for (let at = 0; at < 40; at += 1) properties[`p${at}`] = { type: "object", properties };
    expect(JSON.stringify(sampleConfigs({ schema: { type: "object", properties } }, {})).length).toBeLessThan(500_000);
  });
});
