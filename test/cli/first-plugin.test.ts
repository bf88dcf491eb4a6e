/** The plugin that the demo tells people to write works as printed, and a broken one is reported instead of hidden. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { FIRST_PLUGIN } from "../../src/cli/demo/first-plugin.ts";
import { creel } from "../support/creel.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "creel-first-plugin-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function saved(name: string, source: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, source);
  return path;
}

it("plays the plugin it printed, in the same turn", async () => {
  const { code, stdout } = await creel(["demo", "--plugin", await saved(FIRST_PLUGIN.file, FIRST_PLUGIN.source)]);
  expect(code).toBe(0);
  for (const line of FIRST_PLUGIN.source.trimEnd().split("\n")) expect(stdout).toContain(line);
  expect(stdout).toMatch(/sign-off +message_sending +lane \d/);
  expect(stdout).toMatch(/\+ The newest is .*\[redacted: GitHub token\]\. \(via creel\)/);
});

it("says why a plugin did not load and where, plays on, and exits with 1", async () => {
  const path = await saved("broken.ts", 'export default () => {\n  throw new Error("not today");\n};\n');
  const { code, stdout } = await creel(["demo", "--plugin", path]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/ERR_PLUGIN_LOAD: .*not today.*broken\.ts:2:/);
  expect(stdout).toContain("reply out");
});

it("shows a plugin on a hook that the rest of the cast does not listen to", async () => {
  const source = 'export default (api) => api.on("tool_result_persist", (event) => { event.message.content += " (seen)"; });';
  const { code, stdout } = await creel(["demo", "--plugin", await saved("seen.ts", source)]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/seen +set message/);
  expect(stdout).toContain("the first release (seen)");
});

it("refuses a path that is not there with a sentence that says what to do", async () => {
  const { code, stderr } = await creel(["demo", "--plugin", join(folder, "nowhere")]);
  expect(code).toBe(1);
  expect(stderr).toContain("nowhere");
  expect(stderr).toContain("Fix:");
});
