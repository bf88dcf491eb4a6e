/** Facts 66 to 72: before_agent_run and before_agent_finalize. */
import { expect, it } from "vitest";
import type { Script } from "../support/actors.ts";
import { contract, statuses } from "../support/host.ts";
import { agentRun, finalize, pair, player } from "./stage.ts";

const revise = (reason: string) => `{ action: "revise", reason: "${reason}" }`;
const retry = (instruction: string) => `{ action: "revise", retry: { instruction: ${instruction} } }`;
const BLOCK = `return { outcome: "block", reason: "r" }`;

contract("facts: before_agent_run and before_agent_finalize", (isolation) => {
  const shared = pair(isolation, ["before_agent_run", "before_agent_finalize"], {
    plugins: [player("patient", ["before_agent_run"], { priority: -1, options: { timeoutMs: 500 } })],
  });
  const run = (script: Script) => shared.host.run("before_agent_run", agentRun(script));
  const end = async (a: string, b: string) =>
    (await shared.host.run("before_agent_finalize", finalize({ a: `return ${a}`, b: `return ${b}` }))).result;

  it("66. a pass and a block: blocked, by the second", async () => {
    expect(await run({ a: `return { outcome: "pass" }`, b: BLOCK })).toMatchObject({ decision: "block", by: "b", reason: "r" });
  });

  it("67. behind a block no handler is called", async () => {
    expect(statuses(await run({ a: BLOCK, b: BLOCK }))).toEqual(["a:ok", "b:skipped", "patient:skipped"]);
  });

  it("68. nothing returned lets it pass", async () => {
    expect(await run({ a: `return undefined` })).toMatchObject({ decision: "pass", result: undefined });
  });

  it("70. a handler that throws or hangs blocks", async () => {
    const thrown = await run({ a: `throw new Error("boom")` });
    expect(thrown).toMatchObject({ decision: "block", by: "a" });
    expect(thrown.reason).toMatch(/^before_agent_run handler of a failed: .*boom$/);
    const hung = await run({ patient: `async await new Promise(() => {})` });
    expect(hung).toMatchObject({ decision: "block", by: "patient" });
    expect(statuses(hung)).toEqual(["a:ok", "b:ok", "patient:timeout"]);
    const budgets = shared.host.inspect("a").hooks.map(({ hook, budget }) => [hook, budget.wallMs.value]);
    expect(budgets).toContainEqual(["before_agent_run", 15_000]);
  });

  it("71. finalize beats revise, revise beats continue, in either order, and reasons to revise are joined", async () => {
    expect(await end(revise("a"), revise("b"))).toEqual({ action: "revise", reason: "a\n\nb" });
    expect(await end(revise("a"), `{ action: "finalize" }`)).toEqual({ action: "finalize" });
    expect(await end(`{ action: "finalize" }`, revise("b"))).toEqual({ action: "finalize" });
    expect(await end(`{ action: "continue" }`, revise("b"))).toEqual({ action: "revise", reason: "b" });
    expect(await end(revise("a"), `{ action: "continue" }`)).toEqual({ action: "revise", reason: "a" });
  });

  it("72. retry instructions are trimmed, blank and malformed ones dropped, and the first valid one stands", async () => {
    expect(await end(retry(`" first "`), retry(`"second"`))).toEqual({ action: "revise", retry: { instruction: "first" } });
    for (const invalid of [`"  "`, "5", "null"])
      expect(await end(retry(invalid), retry(`"second"`))).toEqual({ action: "revise", retry: { instruction: "second" } });
  });
});
