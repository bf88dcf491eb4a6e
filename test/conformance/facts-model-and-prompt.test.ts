/** Facts 53 to 57, 60, 61 and 63 to 65: hooks before the model and the prompt. */
import { expect, it } from "vitest";
import { agentEnd, ask, prompt } from "../support/actors.ts";
import type { Script } from "../support/actors.ts";
import { contract, statuses } from "../support/host.ts";
import { agentStart, modelResolve, pair, player } from "./stage.ts";

const all = (name: string) =>
  `return { systemPrompt: "${name}", prependContext: "${name}", appendContext: "${name}", prependSystemContext: "${name}", appendSystemContext: "${name}" }`;

contract("facts: model and prompt", (isolation) => {
  const shared = pair(isolation, ["before_model_resolve", "before_prompt_build", "before_agent_start", "agent_end"], {
    plugins: [
      player("first", ["before_model_resolve"], { priority: 100 }),
      player("late", ["before_prompt_build"], { priority: 20, options: { timeoutMs: 500 } }),
      player("authorized", ["before_prompt_build"], { options: { requiresToolAuthority: true } }),
    ],
  });
  const build = (script: Script, ctx?: { toolAuthority: unknown }) => shared.host.run("before_prompt_build", prompt(script), ctx);

  const allowed = async (value: string) =>
    (await build({ a: `return { toolsAllow: ["read", "exec"] }`, b: `return { toolsAllow: ${value} }` })).result?.toolsAllow;

  it("53. model and provider each come from the first handler that names one", async () => {
    const script = { a: `return { modelOverride: "m1" }`, b: `return { modelOverride: "m2", providerOverride: "p2" }` };
    const { result } = await shared.host.run("before_model_resolve", modelResolve(script));
    expect(result).toEqual({ modelOverride: "m1", providerOverride: "p2" });
  });

  it("54. behind one that throws, the higher priority still wins", async () => {
    const script = {
      first: `throw new Error("no")`,
      a: `return { modelOverride: "high" }`,
      b: `return { modelOverride: "low" }`,
    };
    expect((await shared.host.run("before_model_resolve", modelResolve(script))).result).toEqual({ modelOverride: "high" });
  });

  it("56. the first system prompt stands, and contexts are joined by a blank line", async () => {
    expect((await build({ a: all("A"), b: all("B") })).result).toEqual({
      systemPrompt: "A",
      prependContext: "A\n\nB",
      appendContext: "A\n\nB",
      prependSystemContext: "A\n\nB",
      appendSystemContext: "A\n\nB",
    });
  });

  it("57. toolsAllow is intersected, and anything but a list of texts allows none", async () => {
    expect(await allowed(`["read"]`)).toEqual(["read"]);
    for (const value of ["[]", "null", `["read", 1]`]) expect(await allowed(value)).toEqual([]);
  });

  it("60. messages changed in place do not change the caller's", async () => {
    const event = { ...prompt({ a: `event.messages[0].text = "changed"` }), messages: [{ text: "orig" }] };
    await shared.host.run("before_prompt_build", event);
    expect(event.messages).toEqual([{ text: "orig" }]);
  });

  it("61. the result of a handler past its budget is discarded, and the next one's kept", async () => {
    const outcome = await build({
      late: `async await new Promise((resolve) => (state.release = resolve)); return { systemPrompt: "late" }`,
      b: `return { systemPrompt: "b" }`,
    });
    expect(await ask(shared.host, "late", "(state.release(), true)")).toBe(true);
    expect(outcome.result).toEqual({ systemPrompt: "b" });
    expect(statuses(outcome)).toContain("late:timeout");
  });

  it("63. handlers that require tool authority run in the phase that has it, alone, and only their contexts count", async () => {
    const script = { authorized: all("authorized"), a: all("a") };
    expect((await build(script)).result?.systemPrompt).toBe("a");
    const outcome = await build(script, { toolAuthority: { fingerprint: "f", allows: () => true, assertActive: () => {} } });
    expect(outcome.result).toEqual({ prependContext: "authorized", appendContext: "authorized" });
    expect(statuses(outcome)).toEqual(["late:skipped", "a:skipped", "b:skipped", "authorized:ok"]);
  });

  it("64. before_agent_start: contexts are joined, model and system prompt are the first", async () => {
    const script = {
      a: `return { prependContext: "A", modelOverride: "A" }`,
      b: `return { prependContext: "B", modelOverride: "B", systemPrompt: "B" }`,
    };
    const { result } = await shared.host.run("before_agent_start", agentStart(script));
    expect(result).toEqual({ prependContext: "A\n\nB", modelOverride: "A", systemPrompt: "B" });
  });

  it("65. a missing runId of before_agent_start and agent_end is the context's", async () => {
    const note = `state.runIds = [...(state.runIds ?? []), event.runId]`;
    await shared.host.run("before_agent_start", agentStart({ a: note }), { runId: "of the context" });
    await shared.host.run("agent_end", agentEnd({ a: note }), { runId: "of the context" });
    await shared.host.run("agent_end", { ...agentEnd({ a: note }), runId: "its own" }, { runId: "of the context" });
    expect(await ask(shared.host, "a", "state.runIds")).toEqual(["of the context", "of the context", "its own"]);
  });
});
