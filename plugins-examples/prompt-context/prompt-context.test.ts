/** The real plugin in the real sandbox: what it adds, for whom, and that it needs to be allowed to. */
import { openHost } from "creel";
import type { Host } from "creel";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

describe.each(["thread", "process"] as const)("prompt-context, %s isolation", (isolation) => {
  let host: Host;
  const config = { rules: ["Answer in French."], agents: { support: ["Never promise a refund."] } };
  const open = (hooks: Record<string, boolean>) =>
    openHost({ isolation, lanes: 1, plugins: [{ path: import.meta.dirname, config, hooks }], logger: pino({ level: "silent" }) });

  beforeAll(async () => {
    host = await open({ allowConversationAccess: true });
  });
  afterAll(() => host.close());

  const build = async (agentId: string) =>
    (await host.run("before_prompt_build", { prompt: "Where is my parcel?", messages: [] }, { agentId })).result;

  it("adds the date before the message and the rules after the system prompt", async () => {
    expect(host.inspect("prompt-context")).toMatchObject({ status: "ready", diagnostics: [] });
    expect(await build("main")).toEqual({
      prependContext: expect.stringMatching(/^Today is \d{4}-\d{2}-\d{2}\.$/),
      appendSystemContext: "House rules:\n- Answer in French.",
    });
  });

  it("adds an agent's own rules for that agent alone", async () => {
    expect((await build("support"))?.appendSystemContext).toBe("House rules:\n- Answer in French.\n- Never promise a refund.");
    expect((await build("constructor"))?.appendSystemContext).toBe("House rules:\n- Answer in French.");
  });

  it("is not called without permission, and the operator is told which key to set", async () => {
    await using refused = await open({});
    expect(refused.has("before_prompt_build")).toBe(false);
    expect(refused.inspect("prompt-context").diagnostics.join()).toContain("plugins.entries.prompt-context.hooks.allowConversationAccess");
  });
});
