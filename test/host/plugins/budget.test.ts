/** Who decides what a call may cost: operator per hook, operator per plugin, author, catalog; the host's maximum caps all. */
import { expect, it } from "vitest";
import { CATALOG } from "creel";
import { callBudget } from "../../../src/host/plugins/budget.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

const hook = CATALOG.message_sending;
const perHook = { timeouts: { message_sending: 1 } };
const perPlugin = { timeoutMs: 2 };
const author = { timeoutMs: 3 };

it.each([
  ["the operator's word for the hook", { ...perHook, ...perPlugin }, author, 1, "operator, for this hook"],
  ["the operator's word for the plugin", perPlugin, author, 2, "operator, for this plugin"],
  ["the author's wish", undefined, author, 3, "author"],
  ["the catalog", {}, {}, LIMITS.call.awaitedWallMs, "catalog"],
  ["the operator's word for another hook says nothing", { timeouts: { agent_end: 1 } }, author, 3, "author"],
] as const)("%s", (_, operator, wish, value, origin) => {
  expect(callBudget(hook, operator, wish).wallMs).toEqual({ value, origin });
});

it("nobody gets more than the host's maximum", () => {
  expect(callBudget(hook, { timeoutMs: 1e9, cpuMs: 1e9 }, {})).toEqual({
    wallMs: { value: LIMITS.call.maxWallMs, origin: "host maximum" },
    cpuMs: { value: LIMITS.call.maxCpuMs, origin: "host maximum" },
  });
});

it("CPU time is the operator's word for the hook, then for the plugin, then the author's up to a bound, then the host's", () => {
  const operator = { cpuMs: 7, budgets: { [hook.name]: { cpuMs: 9 } } };
  expect(callBudget(hook, operator, { cpuMs: 50 }).cpuMs).toEqual({ value: 9, origin: "operator, for this hook" });
  expect(callBudget(hook, { cpuMs: 7 }, { cpuMs: 50 }).cpuMs).toEqual({ value: 7, origin: "operator, for this plugin" });
  expect(callBudget(hook, undefined, { cpuMs: 50 }).cpuMs).toEqual({ value: 50, origin: "author" });
  expect(callBudget(hook, undefined, { cpuMs: 4_000 }).cpuMs).toEqual({ value: LIMITS.call.maxAuthorCpuMs, origin: "author" });
  expect(callBudget(hook, undefined, {}).cpuMs).toEqual({ value: LIMITS.call.cpuMs, origin: "catalog" });
});

it("each kind of hook has a wall budget of its own: nothing may wait for ever", () => {
  expect(callBudget(CATALOG["session:patch"], undefined, {}).wallMs.value).toBe(LIMITS.call.observeWallMs);
  expect(callBudget(CATALOG.tool_result_persist, undefined, {}).wallMs.value).toBe(LIMITS.sync.wallMs);
  for (const entry of Object.values(CATALOG)) expect(callBudget(entry, undefined, {}).wallMs.value).toBeGreaterThan(0);
});
