/** `audit.runs: "all"`: every run in which a plugin was called has a line, also those that passed and those that are alike. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { AuditLog } from "../../../src/state/audit-log.ts";
import { folder } from "../../support/files.ts";
import { open, plugin } from "../../support/host.ts";

it("every run is in the log, and without the setting only those that did not simply pass", { timeout: 60_000 }, async () => {
  // Twice as many alike as are recorded without the setting.
  const count = 4 * LIMITS.audit.runsPerWindow;
  const recorded = async (runs: "news" | "all"): Promise<readonly [string[], string[]]> => {
    const stateDir = join(folder({}), "state");
    const watcher = plugin(
      "watcher",
      `api.on("before_tool_call", (e) => e.toolName === "rm" ? { block: true, blockReason: "no" } : undefined);`,
    );
    const host = await open("thread", { config: { stateDir, audit: { runs } }, plugins: [watcher] });
    const made: string[] = [];
    for (let n = 0; n < count; n++)
      made.push((await host.run("before_tool_call", { toolName: n % 2 === 0 ? "ls" : "rm", params: {} })).runId);
    await host.close();
    const found: string[] = [];
    for await (const { runId } of new AuditLog(stateDir).runs()) found.unshift(runId);
    return [made, found];
  };
  const [made, all] = await recorded("all");
  expect(all).toEqual(made);
  const [others, news] = await recorded("news");
  const blocked = new Set(others.filter((_, n) => n % 2 === 1));
  expect(news.length).toBeGreaterThanOrEqual(LIMITS.audit.runsPerWindow);
  expect(news.filter((runId) => !blocked.has(runId))).toEqual([]);
});
