/** What the kernel says about a thread: waiting for a lock is not the sleep of a parked thread. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, it, onTestFinished, vi } from "vitest";
import { readStat, threadTime } from "../../../src/sandbox/process/thread-clock.ts";

/** Starts a thread that reports its id and then runs this code. */
async function threadThat(does: string): Promise<number> {
  const source = `const { parentPort } = require("node:worker_threads");
    parentPort.postMessage(Number(/(\\d+)$/.exec(require("node:fs").readlinkSync("/proc/thread-self"))[1]));
    setImmediate(() => { ${does} });`;
  const worker = new Worker(source, { eval: true });
  onTestFinished(async () => void (await worker.terminate()));
  const [thread] = (await once(worker, "message")) as [number];
  return thread;
}

it.runIf(process.platform === "linux")("a thread that waits for a lock is idle, but not in a timed sleep", async () => {
  const thread = await threadThat(`Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`);
  let last = -1;
  await vi.waitFor(() => {
    const { cpuMs } = threadTime(thread)!;
    const isIdle = cpuMs === last;
    last = cpuMs;
    expect(isIdle).toBe(true);
  });
  expect(threadTime(thread)).toMatchObject({ cpuMs: last, isAsleep: false });
});

it.runIf(process.platform === "linux")("a busy thread uses CPU time and touches memory", async () => {
  const thread = await threadThat(
    `const all = []; for (;;) { all.push(new Uint8Array(4096).fill(1)); if (all.length > 10_000) all.length = 0; }`,
  );
  const before = threadTime(thread)!;
  await vi.waitFor(() => expect(threadTime(thread)!.touchedBytes).toBeGreaterThan(before.touchedBytes + 1_000_000), { timeout: 10_000 });
  expect(threadTime(thread)!.cpuMs).toBeGreaterThan(before.cpuMs);
});

it("a thread cannot forge its state by its name", () => {
  const stat = `7 (x) S 9 9) R ${Array.from({ length: 40 }, (_, at) => at + 4).join(" ")}`;
  expect(readStat(stat)).toEqual({ state: "R", touchedBytes: 10 * 4_096, rssBytes: 24 * 4_096 });
});
