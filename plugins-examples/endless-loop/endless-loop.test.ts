/** What the host owes everybody else when a handler never returns. */
import { CATALOG, openHost } from "creel";
import type { Host } from "creel";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

const preflight = fileURLToPath(new URL("../tool-preflight", import.meta.url));
const neighbour = { id: "neighbour", source: "export default (api) => api.on('message_sending', (e) => ({ content: e.content + '!' }))" };

describe.each(["thread", "process"] as const)("endless-loop, %s isolation", (isolation) => {
  let host: Host;
  const requestApproval = vi.fn<() => Promise<"allow-once">>(async () => "allow-once");

  beforeAll(async () => {
    host = await openHost({
      isolation,
      // One lane: the neighbours share the very thread that loops.
      lanes: 1,
      plugins: [{ path: preflight }, { path: import.meta.dirname }, neighbour],
      gateway: { requestApproval },
      logger: pino({ level: "silent" }),
    });
  });
  afterAll(() => host.close());
  beforeEach(() => host.release("endless-loop"));

  const search = () =>
    host.run("before_tool_call", { toolName: "web_search", params: { query: "lobster traps" } }, { toolName: "web_search" });

  it("is stopped by its CPU budget and named in the outcome, and the tool call is blocked", async () => {
    expect(CATALOG.before_tool_call.failure).toBe("closed");
    const outcome = await search();
    expect(outcome).toMatchObject({ decision: "block", by: "endless-loop" });
    expect(outcome.reason).toContain("endless-loop");
    const call = outcome.calls.find(({ plugin }) => plugin === "endless-loop");
    expect(call).toMatchObject({ status: "cpu", error: { code: "ERR_CALL_CPU" } });
    const budgetMs = host.inspect("endless-loop").hooks[0]!.budget.cpuMs.value;
    expect(call?.wallMs).toBeGreaterThanOrEqual(budgetMs);
  });

  it("does not undo what other plugins answered before it, and nobody is asked about a call that is blocked anyway", async () => {
    requestApproval.mockClear();
    const outcome = await search();
    expect(outcome.calls).toMatchObject([
      { plugin: "tool-preflight", status: "ok" },
      { plugin: "endless-loop", status: "cpu" },
    ]);
    expect(requestApproval).not.toHaveBeenCalled();
  });

  it("leaves its neighbour in the same lane answering right after", async () => {
    await search();
    const outcome = await host.run("message_sending", { to: "user", content: "hello" }, { channelId: "demo" });
    expect(outcome).toMatchObject({ decision: "pass", result: { content: "hello!" }, calls: [{ plugin: "neighbour", status: "ok" }] });
  });

  it("gets a fresh cell after each time it was stopped", async () => {
    const before = host.inspect("endless-loop").replacements;
    await search();
    await vi.waitFor(() => expect(host.inspect("endless-loop").replacements).toBe(before + 1));
  });

  it("is not called any more after three times, and its gate stays shut in its name", async () => {
    for (let time = 0; time < 3; time++) expect((await search()).calls[1]?.status).toBe("cpu");
    const outcome = await search();
    expect(outcome.calls[1]).toMatchObject({ plugin: "endless-loop", status: "quarantined", wallMs: 0, cpuMs: 0 });
    expect(outcome).toMatchObject({ decision: "block", by: "endless-loop" });
  });
});
