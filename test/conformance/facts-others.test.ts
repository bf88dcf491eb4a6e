/** Facts 87 to 92: installation, subagents, environments, evaluations, budgets of observers. */
import { expect, it } from "vitest";
import type { Script } from "../support/actors.ts";
import { contract, plugin, statuses } from "../support/host.ts";
import { install, pair, player, spawning } from "./stage.ts";

const file = { path: "SKILL.md", content: "", encoding: "utf8" as const, sha256: "", sizeBytes: 0 };
const proposal = (script: Script) => ({
  proposal: { id: "p", revision: 1, revisionSha256: "", kind: "create" as const },
  skill: { name: "s", skillKey: "s", description: "d" },
  candidate: { skillMd: file, files: [], treeSha256: "" },
  reason: "manual" as const,
  do: script,
});

contract("facts: others", (isolation) => {
  const on = ["before_install", "subagent_spawning", "resolve_exec_env", "skill_proposal_evaluate"];
  const shared = pair(isolation, on, {
    plugins: [
      player("c", ["skill_proposal_evaluate"], { priority: -1 }),
      plugin("endless", `api.on("agent_end", () => new Promise(() => {}), { timeoutMs: 40 });`, {
        hooks: { allowConversationAccess: true },
      }),
    ],
  });
  const spawn = (script: Script) => shared.host.run("subagent_spawning", spawning(script));

  it("87. a handler of before_install that throws blocks the installation", async () => {
    const outcome = await shared.host.run("before_install", install({ a: `throw new Error("boom")` }));
    expect(outcome).toMatchObject({ decision: "block", by: "a", reason: expect.stringContaining("boom") });
  });

  it("89. subagent_spawning: the first error sticks while later handlers still run; readiness is any handler's", async () => {
    const failed = await spawn({ a: `return { status: "error", error: "e" }`, b: `return { status: "ok", threadBindingReady: true }` });
    expect(failed.result).toEqual({ status: "error", error: "e" });
    expect(statuses(failed)).toEqual(["a:ok", "b:ok"]);
    const ready = await spawn({
      a: `return { status: "ok", threadBindingReady: true }`,
      b: `return { status: "ok", threadBindingReady: false }`,
    });
    expect(ready.result).toEqual({ status: "ok", threadBindingReady: true });
  });

  it("90. resolve_exec_env: a later handler overrides single variables", async () => {
    const script = { a: `return { X: "1", Y: "1" }`, b: `return { Y: "2" }` };
    const { result } = await shared.host.run("resolve_exec_env", { toolName: "exec" as const, host: "gateway" as const, do: script });
    expect(result).toEqual({ X: "1", Y: "2" });
  });

  it("91. skill_proposal_evaluate: a result, nothing and a throw are outcomes of their own, in order", async () => {
    const { result } = await shared.host.run(
      "skill_proposal_evaluate",
      proposal({ a: `return { decision: "pass" }`, c: `throw new Error("boom")` }),
      { workspaceDir: "/work" },
    );
    expect(result).toEqual([
      { pluginId: "a", status: "completed", result: { decision: "pass" } },
      { pluginId: "b", status: "skipped" },
      { pluginId: "c", status: "error", error: "the handler threw: boom" },
    ]);
  });

  it("92. an observer that is slower than its timeoutMs is given up", async () => {
    const { calls } = await shared.host.run("agent_end", { messages: [], success: true });
    expect(calls).toMatchObject([{ plugin: "endless", status: "timeout", error: { message: "the handler did not settle within 40 ms" } }]);
  });
});
