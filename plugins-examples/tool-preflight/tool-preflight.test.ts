/** The real plugin in the real sandbox: who is asked, what the answer means, and that other tools are left alone. */
import { openHost } from "creel";
import type { ApprovalDecision, ApprovalQuestion, Host } from "creel";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

describe.each(["thread", "process"] as const)("tool-preflight, %s isolation", (isolation) => {
  let host: Host;
  let asked: ApprovalQuestion[];
  let answer: ApprovalDecision | null;

  beforeAll(async () => {
    host = await openHost({
      isolation,
      lanes: 1,
      plugins: [{ path: import.meta.dirname }],
      gateway: {
        requestApproval: async (question) => {
          asked.push(question);
          return answer;
        },
      },
      logger: pino({ level: "silent" }),
    });
  });
  beforeEach(() => {
    asked = [];
    answer = "allow-once";
  });
  afterAll(() => host.close());

  const call = (toolName: string, params: Record<string, unknown>) => host.run("before_tool_call", { toolName, params }, { toolName });

  it("loads without diagnostics and listens to before_tool_call with priority 50", () => {
    const report = host.inspect("tool-preflight");
    expect(report).toMatchObject({ status: "ready", name: "Tool Preflight", version: "1.0.0", diagnostics: [] });
    expect(report.hooks).toMatchObject([{ hook: "before_tool_call", priority: 50 }]);
  });

  it("has no opinion about tools other than web_search", async () => {
    const outcome = await call("read_file", { path: "a.txt" });
    expect(outcome).toMatchObject({ decision: "pass", result: undefined });
    expect(asked).toEqual([]);
  });

  it("asks the user with the query before a web search, and lets an allowed one run", async () => {
    const outcome = await call("web_search", { query: "lobster traps" });
    expect(asked).toMatchObject([
      {
        pluginId: "tool-preflight",
        title: "Run web search",
        description: "Allow search query: lobster traps",
        params: { query: "lobster traps" },
      },
    ]);
    expect(outcome).toMatchObject({ decision: "pass", approval: { pluginId: "tool-preflight", resolution: "allow-once" } });
  });

  it("blocks a search that the user denies", async () => {
    answer = "deny";
    const outcome = await call("web_search", { query: "lobster traps" });
    expect(outcome).toMatchObject({ decision: "block", by: "tool-preflight", approval: { resolution: "deny" } });
  });

  it("blocks a search that nobody answers for", async () => {
    answer = null;
    const outcome = await call("web_search", { query: "lobster traps" });
    expect(outcome).toMatchObject({ decision: "block", by: "tool-preflight", approval: { resolution: "timeout" } });
  });

  it("asks about a very long query too, shortened, instead of failing on it", async () => {
    const outcome = await call("web_search", { query: "q".repeat(10_000) });
    expect(outcome.decision).toBe("pass");
    expect(asked[0]?.description).toMatch(/^Allow search query: q{400}…$/);
  });
});
