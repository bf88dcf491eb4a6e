/** Subscriptions: of each list that is given a fact must have one. */
import { describe, expect, it } from "vitest";
import { matchesFilter } from "../../src/serve/event-filter.ts";
import type { Call } from "creel";

const call: Call = { plugin: "p", priority: 0, status: "timeout", wallMs: 1, cpuMs: 1 };
const fact = { runId: "r", hook: "agent_end", call };
const run = {
  wallMs: 1,
  outcome: { runId: "r", hook: "agent_end", decision: "pass", result: undefined, by: undefined, reason: undefined, calls: [call] },
} as const;
const log = { plugin: "p", level: "warn", text: "x", runId: undefined } as const;

describe("what a subscription wants", () => {
  it.each([
    [{}, [true, true, true, true]],
    [{ plugins: ["p"] }, [true, true, true, false]],
    [{ plugins: ["q"] }, [false, false, false, false]],
    [{ plugins: ["q", "p"], hooks: ["agent_end"] }, [true, true, false, false]],
    [{ hooks: ["message_sent"] }, [false, false, false, false]],
    [{ statuses: ["timeout"] }, [true, false, false, false]],
    [{ statuses: ["pass", "warn"] }, [false, true, true, false]],
    [{ plugins: [] }, [false, false, false, false]],
  ])("%j: call, run, log, restart %j", (wanted, expected) => {
    const chain = { rootRunId: "r", depth: 0, path: [], runIds: [] };
    const restart = { why: "it died", lanes: [0], culprit: undefined };
    expect([
      matchesFilter(wanted, "call", { ...fact, chain }),
      matchesFilter(wanted, "run", { ...run, activateMs: 0, chain }),
      matchesFilter(wanted, "log", log),
      matchesFilter(wanted, "restart", restart),
    ]).toEqual(expected);
  });
});
