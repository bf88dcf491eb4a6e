/** The plugins that the guides speak of, as their authors would publish them. */
import type { Registry } from "../../support/registry.ts";

const toolGuard = (deploy: string, more = "") => `import type { PluginApi } from "creel/plugin";

export default (api: PluginApi) => {
  api.on(
    "before_tool_call",
    async (event) => {
      const command = String(event.params.command ?? "");
      if (command.startsWith("deploy")) {
        const answer = await fetch("https://policy.example.com/v1", { method: "POST", body: command });
${deploy}
      }
      if (!command.includes("rm -rf")) return undefined;
      await api.kv.set("blocked", Number((await api.kv.get("blocked")) ?? 0) + 1);
      return { block: true, blockReason: "rm -rf is not for agents" };
    },
    { priority: 50 },
  );
  api.on("llm_input", () => {});
${more}};
`;

const manifest = (version: string, env?: object) => ({
  id: "tool-guard",
  name: "Tool Guard",
  version,
  description: "Keeps agents from commands that are not for them.",
  permissions: {
    conversation: { reason: "learns which tools are talked about" },
    fetch: [
      { origin: "https://policy.example.com", pathPrefix: "/v1", methods: ["POST"], reason: "asks your policy server about deployments" },
    ],
    kv: { reason: "counts what it has blocked" },
    ...env,
  },
});

/** Versions 1.0.0, 1.1.0 and 2.0.0, of which the last asks for more. */
const TOOL_GUARD: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "1.0.0": {
    "creel.plugin.json": JSON.stringify(manifest("1.0.0")),
    "index.ts": toolGuard(`        if (!answer.ok) return { block: true, blockReason: "the policy server says no" };`),
  },
  "1.1.0": {
    "creel.plugin.json": JSON.stringify(manifest("1.1.0")),
    "index.ts": toolGuard(`        if (answer.status === 403) return { block: true, blockReason: "the policy server says no" };
        if (!answer.ok) return { block: true, blockReason: "the policy server is away" };`),
  },
  "2.0.0": {
    "creel.plugin.json": JSON.stringify(manifest("2.0.0", { env: [{ name: "DEPLOY_TOKEN", reason: "signs deployments" }] })),
    "index.ts": toolGuard(
      `        if (!answer.ok) return { block: true, blockReason: process.env.DEPLOY_TOKEN ? "no" : "no token" };`,
      `  api.on("message_sending", () => {});\n`,
    ),
  },
};

export async function publishToolGuard(registry: Registry, version: string): Promise<void> {
  await registry.publish({ name: "tool-guard", version }, TOOL_GUARD[version]);
}

/** It keeps its thread for ever. */
export const SHAKY = {
  "package.json": JSON.stringify({ name: "shaky", version: "1.0.0", type: "module" }),
  "creel.plugin.json": JSON.stringify({ id: "shaky" }),
  "index.js": `export default (api) => { api.on("message_received", () => { for (;;); }); };\n`,
};

const WEATHER_MANIFEST = { id: "weather", version: "1.2.3", permissions: { kv: { reason: "remembers the last forecast" } } };
export const WEATHER = {
  "creel.plugin.json": JSON.stringify(WEATHER_MANIFEST),
  "index.js": `export default (api) => { api.on("message_sending", () => {}); };\n`,
};

/** Asks before a command runs. */
export const ASKS = {
  "guard/creel.plugin.json": JSON.stringify({ id: "guard" }),
  "guard/index.js": `export default (api) => {
  api.on("before_tool_call", () => ({
    requireApproval: { title: "Run a command", description: "It changes files outside the workspace.", severity: "warning", timeoutMs: 120000 },
  }));
};
`,
};

/** Never ends, so that its events are given up. */
export const LOOPER = {
  "biller/creel.plugin.json": JSON.stringify({ id: "biller" }),
  "biller/index.js": `export default (api) => { api.on("session:end", () => { for (;;); }); };\n`,
};
