/** Hooks that need the operator's permission are refused at registration, with the key to set; never silently. */
import { expect, it } from "vitest";
import { agentEnd } from "../support/actors.ts";
import { CATALOG } from "creel";
import { sampleContext, sampleEvent } from "../../src/protocol/rules/samples.ts";
import { contract, open, plugin, recorder } from "../support/host.ts";

const BOTH = `api.on("agent_end", () => {}); api.on("before_prompt_build", () => ({ prependContext: "x" })); api.on("message_sending", () => {});`;

contract("permissions", (isolation) => {
  it("a hook that reads conversations is refused without allowConversationAccess, and the key is named", async () => {
    const { logger, lines } = recorder();
    await using host = await open(isolation, { logger, plugins: [plugin("nosy", BOTH)] });
    const { status, diagnostics, hooks } = host.inspect("nosy");
    expect(status).toBe("ready");
    expect(diagnostics).toEqual([
      '"agent_end" reads conversations: it needs the permission "conversation" (in OpenClaw\'s words, plugins.entries.nosy.hooks.allowConversationAccess)',
      '"before_prompt_build" reads conversations: it needs the permission "conversation" (in OpenClaw\'s words, plugins.entries.nosy.hooks.allowConversationAccess)',
    ]);
    expect(hooks.map(({ hook }) => hook)).toEqual(["message_sending"]);
    expect(host.has("agent_end")).toBe(false);
    expect((await host.run("agent_end", agentEnd({}))).calls).toEqual([]);
    expect(lines.filter(({ message }) => message === "a registration was not accepted").map(({ fields }) => fields.diagnostic)).toEqual(
      diagnostics,
    );
  });

  it("allowConversationAccess in the configuration allows it", async () => {
    await using host = await open(isolation, {
      plugins: [plugin("nosy", BOTH)],
      config: { plugins: { entries: { nosy: { hooks: { allowConversationAccess: true } } } } },
    });
    expect(host.inspect("nosy").diagnostics).toEqual([]);
    expect(host.has("agent_end")).toBe(true);
  });

  it("allowPromptInjection false refuses hooks that change prompts, and nothing else", async () => {
    await using host = await open(isolation, {
      plugins: [plugin("nosy", BOTH, { hooks: { allowConversationAccess: true, allowPromptInjection: false } })],
    });
    expect(host.inspect("nosy").diagnostics).toEqual([
      '"before_prompt_build" changes prompts, which plugins.entries.nosy.hooks.allowPromptInjection forbids',
    ]);
    expect(host.has("agent_end")).toBe(true);
    expect(host.has("before_prompt_build")).toBe(false);
  });

  it("before_install is refused without allowInstallDecisions, and the key is named", async () => {
    const guard = `api.on("before_install", () => ({ block: true })); api.on("message_sending", () => {});`;
    await using host = await open(isolation, { plugins: [plugin("judge", guard)] });
    expect(host.inspect("judge").diagnostics).toEqual([
      '"before_install" can refuse every later installation: it needs the permission "install"; for an installed plugin, run "creel permissions grant judge install"',
    ]);
    // Its hook fails closed by the catalog: that nobody decides there is said in every run.
    const event = sampleEvent(CATALOG.before_install) as never;
    expect(await host.run("before_install", event, sampleContext(CATALOG.before_install) as never)).toMatchObject({
      decision: "pass",
      calls: [{ plugin: "judge", status: "failed", error: { code: "ERR_CALL_REFUSED" } }],
    });
    await using allowed = await open(isolation, { plugins: [plugin("judge", guard, { hooks: { allowInstallDecisions: true } })] });
    expect([allowed.inspect("judge").diagnostics, allowed.has("before_install")]).toEqual([[], true]);
  });

  it("only true is a permission", async () => {
    await expect(
      open(isolation, { plugins: [plugin("nosy", BOTH, { hooks: { allowConversationAccess: "yes" as never } })] }),
    ).rejects.toThrow("allowConversationAccess");
  });
});
