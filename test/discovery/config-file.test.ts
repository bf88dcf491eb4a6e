/** A configuration that is read without its schema is the same as with it. */
import { expect, it } from "vitest";
import { readConfig, sandboxOf } from "../../src/discovery/config-file.ts";
import { creelConfig } from "../../src/protocol/config/config.ts";

it.each([
  {},
  { stateDir: ".creel" },
  { $schema: "x", stateDir: "/srv/state" },
  { stateDir: "" },
  { stateDir: 3 },
  { stateDir: null },
  { $schema: 1 },
  { stateDir: ".creel", plugins: { enabled: false } },
  { stateDir: ".creel", plugins: [] },
  [],
  ["stateDir"],
])("%j is read as the schema of creel.json says", async (config) => {
  const parsed = creelConfig.safeParse(config);
  const read = await readConfig(config).catch((error: { code: string }) => error.code);
  expect(read).toEqual(parsed.success ? parsed.data : "ERR_CONFIG_INVALID");
});

it.each([
  [{ plugin: { load: { paths: ["./guard"] } } }, "plugin", "plugins"],
  [{ plugins: { entries: { guard: { requird: true } } } }, "plugins.entries.guard.requird", "required"],
  [
    { plugins: { entries: { guard: { hooks: { allowConversationAcess: true } } } } },
    "plugins.entries.guard.hooks.allowConversationAcess",
    "allowConversationAccess",
  ],
  [{ hooks: { internal: { enable: false } } }, "hooks.internal.enable", "enabled"],
])("a key that is one letter away from a known one is refused: %j", async (config, field, near) => {
  await expect(readConfig(config)).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
    params: { field, detail: `there is no such key; did you mean "${near}"?` },
  });
});

it("OpenClaw's own keys are left alone, and so is what a plugin gets as its configuration", async () => {
  const openclaw = {
    agents: {},
    auth: {},
    bindings: [],
    browser: {},
    canvasHost: {},
    channels: {},
    commands: {},
    cron: {},
    gateway: {},
    logging: {},
    messages: {},
    models: {},
    session: {},
    skills: {},
    talk: {},
    tools: {},
    ui: {},
    update: {},
    web: {},
    wizard: {},
    plugins: {
      allow: [],
      deny: [],
      slots: {},
      installs: {},
      entries: { memory: { subagent: {}, llm: {}, apiKey: "x", config: { plugin: 1, requird: 2 } } },
    },
    hooks: {
      enabled: true,
      path: "/hooks",
      token: "x",
      presets: [],
      mappings: [],
      gmail: {},
      internal: { handlers: [], installs: {}, entries: { tidy: { evn: 1 } } },
    },
  };
  await expect(readConfig(openclaw)).resolves.toBeDefined();
});

const SANDBOXES: readonly unknown[] = [
  {},
  { walls: "auto" },
  { walls: "required", jitless: true, memoryMb: 128, spare: false },
  { memoryMb: 65_536 },
  { walls: "on" },
  { walls: null },
  { jitless: "yes" },
  { memoryMb: 127 },
  { memoryMb: 65_537 },
  { memoryMb: Infinity },
  { memoryMb: "512" },
  { spare: 1 },
  { wall: "auto" },
  { toString: "auto" },
  null,
  [],
  ["auto"],
  "auto",
];

it.each(SANDBOXES.map((sandbox) => ({ sandbox })))(
  "what is said about the sandbox is used without the schema only if the schema takes it: %j",
  (config) => {
    expect(sandboxOf(config)).toEqual(creelConfig.safeParse(config).data?.sandbox);
  },
);
