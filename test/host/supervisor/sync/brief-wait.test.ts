/** A caller that blocks for a moment has its answer before the event loop turns; waits in vain end, and cost a share of the time. */
import { setImmediate } from "node:timers/promises";
import { afterEach, expect, it, vi } from "vitest";
import type { CoreHost } from "../../../../src/host/host.ts";
import { BriefWait } from "../../../../src/host/supervisor/sync/brief-wait.ts";
import { LIMITS } from "../../../../src/protocol/limits.ts";
import { open, plugin } from "../../../support/host.ts";

afterEach(() => void vi.restoreAllMocks());

const { briefMs } = LIMITS.sync;
const BODY = `
  api.on("before_tool_call", async (event) => {
    if (event.params.late) await new Promise((resolve) => setTimeout(resolve, 50));
    return { params: { ...event.params, seen: true } };
  });`;

it("the answer of a process is there before the event loop turns, and one that takes longer comes as if nobody had waited", async () => {
  await using host = (await open("process", { plugins: [plugin("guard", BODY)] })) as CoreHost & AsyncDisposable;
  const call = async (params: Record<string, unknown>): Promise<"at once" | "later"> => {
    const loop = setImmediate("later" as const);
    const running = host.run("before_tool_call", { toolName: "exec", params }, { toolName: "exec" });
    host.waitBriefly();
    const first = await Promise.race([running.then(() => "at once" as const), loop]);
    expect((await running).result).toEqual({ params: { ...params, seen: true } });
    return first;
  };
  expect(await call({ late: true })).toBe("later");
  // On a busy machine the lane may have to wait for a CPU for longer than a caller blocks.
  const seen: string[] = [];
  while (seen.length < 200 && !seen.includes("at once")) seen.push(await call({ n: seen.length }));
  expect(seen).toContain("at once");
});

it("in vain it waits ten times in a row, and then for a share of the time", () => {
  let nowMs = 1_000_000;
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  let waits = 0;
  const wait = new BriefWait({
    waitForAnswer(ms) {
      waits += 1;
      nowMs += ms;
      return false;
    },
  });
  for (let call = 0; call < 100; call++) wait.wait();
  expect(waits).toBe(10);
  nowMs += 1_000;
  for (let call = 0; call < 1_000; call++) {
    wait.wait();
    nowMs += 1;
  }
  // The share of these two seconds.
  expect((waits - 10) * briefMs).toBeLessThanOrEqual(2_000 * LIMITS.poll.wastedShare + 10 * briefMs);
  expect(waits).toBeGreaterThan(20);
});

it("a wait that brings the answer costs nothing of that share", () => {
  let waits = 0;
  const wait = new BriefWait({ waitForAnswer: () => (waits += 1) > 0 });
  for (let call = 0; call < 1_000; call++) wait.wait();
  expect(waits).toBe(1_000);
});
