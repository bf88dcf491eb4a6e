/** The stall detector stops a turn by the CPU time of its thread, not by the clock on the wall. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, it, onTestFinished, vi } from "vitest";
import { startStallDetector } from "../../../src/sandbox/process/stall-detector.ts";
import { LANE_STATUS_BYTES, LaneStatus, STOPPER_FIELDS as AT } from "../../../src/transport/lane-status.ts";
import type { Grown, StalledTurn } from "../../../src/protocol/messages/host-lane.ts";

const BUDGET_MS = 10;

/** A thread inside a turn that does this. */
async function turnThat(does: string) {
  const memory = new SharedArrayBuffer(LANE_STATUS_BYTES);
  const source = `const { parentPort } = require("node:worker_threads");
    parentPort.postMessage(Number(/(\\d+)$/.exec(require("node:fs").readlinkSync("/proc/thread-self"))[1]));
    setImmediate(() => { ${does} });`;
  const worker = new Worker(source, { eval: true });
  const [thread] = (await once(worker, "message")) as [number];
  const status = new LaneStatus(memory, thread);
  const reports: (StalledTurn | Grown)[] = [];
  const detector = startStallDetector([memory], (seen) => reports.push(seen), { isSteady: true });
  onTestFinished(async () => {
    detector.stop();
    await worker.terminate();
  });
  const stopped = (): number => new Float64Array(memory, 0, AT.STOPPER_SIGNAL / 2)[AT.STOP]!;
  return { status, reports, stopped };
}

it.runIf(process.platform === "linux")("a turn that has used its CPU time is stopped, and the host is told", async () => {
  const { status, reports, stopped } = await turnThat("for (;;);");
  // The mark is of this thread's clock, so it is far ahead of the other's: only what the detector sees counts.
  status.enter(1, 60_000, BUDGET_MS);
  await vi.waitFor(() => expect(stopped()).toBe(1), { timeout: 20_000 });
  await vi.waitFor(() => expect(reports.at(-1)).toMatchObject({ turn: 1, isStopped: true }), { timeout: 20_000 });
  expect(status.isSteady).toBe(true);
});

it.runIf(process.platform === "linux")(
  "a turn that waits for its CPU, or has no budget, is not stopped, however long it takes",
  async () => {
    const waits = await turnThat("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);");
    const free = await turnThat("for (;;);");
    waits.status.enter(1, 60_000, BUDGET_MS);
    free.status.enter(1, 60_000);
    await vi.waitFor(() => expect(Math.min(...[waits, free].map(({ reports }) => reports.length))).toBeGreaterThan(5), { timeout: 20_000 });
    expect(waits.stopped()).toBe(0);
    expect(free.stopped()).toBe(0);
    expect(waits.reports.at(-1)).not.toHaveProperty("isStopped");
  },
);
