/** An installed HOOK.md folder keeps its conditions: the review shows them, and they apply whenever a host loads it. */
import { describe, expect, it } from "vitest";
import type { CreelConfig } from "../../src/protocol/config/config.ts";
import { folder, QUICK } from "../support/files.ts";
import { open } from "../support/host.ts";
import { operator } from "../install/pipeline.ts";

function hookFolder(name: string, conditions: string): string {
  const front = `---\nname: ${name}\nmetadata: { openclaw: { events: ["command:new"], ${conditions} } }\n---\n`;
  return folder({ "HOOK.md": front, "handler.ts": "export default () => {};" }, QUICK);
}

const UNMET = {
  elsewhere: ["os: [plan9]", "the hook is for plan9"],
  programs: ["requires: { bins: [ffmpeg] }", "the hook requires ffmpeg, but a sandboxed hook cannot run programs"],
  variable: ["requires: { env: [TOKEN] }", "the hook requires TOKEN: set hooks.internal.entries.variable.env.TOKEN"],
  setting: ["requires: { config: [gateway.port] }", 'the hook requires the configuration "gateway.port", which is not set'],
} as const;

describe("an installed HOOK.md folder", () => {
  it("is not loaded where its conditions are not met, and says which; the review has said so; where they are, it is", async () => {
    const { install, state } = operator();
    for (const [name, [conditions, why]] of Object.entries(UNMET)) {
      const { review, entry } = await install(hookFolder(name, conditions), []);
      expect([entry!.id, review.remarks]).toEqual([`hook-${name}`, [expect.stringContaining(why)]]);
    }
    const plain = await install(hookFolder("plain", "always: true, requires: { bins: [ffmpeg] }"), []);
    expect(plain.review.remarks).toEqual([]);

    const seen = async (config: CreelConfig & Record<string, unknown>) => {
      await using host = await open("thread", { config: { stateDir: state.dir, plugins: { load: { lazy: false } }, ...config } });
      return Object.fromEntries(host.plugins().map(({ id, status, diagnostics }) => [id, [status, ...diagnostics]]));
    };
    expect(await seen({})).toEqual({
      "hook-plain": ["ready"],
      ...Object.fromEntries(Object.entries(UNMET).map(([name, [, why]]) => [`hook-${name}`, ["disabled", expect.stringContaining(why)]])),
    });
    const entries = { variable: { env: { TOKEN: "t" } }, plain: { enabled: false } };
    expect(await seen({ gateway: { port: 1 }, hooks: { internal: { entries } } })).toMatchObject({
      "hook-plain": ["disabled", "hooks.internal.entries.plain.enabled is false"],
      "hook-variable": ["ready"],
      "hook-setting": ["ready"],
      "hook-programs": ["disabled", expect.any(String)],
    });
  });
});
