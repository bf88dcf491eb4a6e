/** A configuration that is read without its schema is the same as with it. */
import { expect, it } from "vitest";
import { readConfig } from "../../src/discovery/config-file.ts";
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
