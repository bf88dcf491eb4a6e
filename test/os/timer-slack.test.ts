/** Timers that may fire late: those of what is started meanwhile, and no others. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { withTimerSlack } from "../../src/os/timer-slack.ts";
import { LIMITS } from "../../src/protocol/limits.ts";

const SLACK = LIMITS.sandbox.timerSlackMs * 1e6;

/** Nanoseconds, of the thread that asks: the kernel tells it of no other. */
const OWN_SLACK = `Number(fs.readFileSync("/proc/" + fs.readlinkSync("/proc/thread-self").split("/").at(-1) + "/timerslack_ns", "latin1"))`;

function own(): number {
  return Number(readFileSync(`/proc/${readlinkSync("/proc/thread-self").split("/").at(-1)}/timerslack_ns`, "latin1"));
}

describe.runIf(process.platform === "linux")("what is started with slack clocks", () => {
  it("has them, if it is a process, and so has what that starts", async () => {
    const child = withTimerSlack(() => spawn("sh", ["-c", "cat /proc/self/timerslack_ns; sh -c 'cat /proc/self/timerslack_ns'"]));
    const [said] = await Promise.all([child.stdout.setEncoding("utf8").toArray(), once(child, "exit")]);
    expect(said.join("").trim().split("\n").map(Number)).toEqual([SLACK, SLACK]);
  });

  it("has them, if it is a thread, and so has what that starts", async () => {
    const inner = `const fs = require("node:fs"); require("node:worker_threads").parentPort.postMessage(${OWN_SLACK})`;
    const outer = `
      const fs = require("node:fs");
      const { parentPort, Worker } = require("node:worker_threads");
      new Worker(${JSON.stringify(inner)}, { eval: true }).on("message", (inner) => parentPort.postMessage([${OWN_SLACK}, inner]));
    `;
    const worker = withTimerSlack(() => new Worker(outer, { eval: true }));
    onTestFinished(async () => void (await worker.terminate()));
    expect(await once(worker, "message")).toEqual([[SLACK, SLACK]]);
  });

  it("is started by a thread that has its own clock back afterwards, and whose later children do not have them", () => {
    const before = own();
    expect(before).not.toBe(SLACK);
    expect(withTimerSlack(own)).toBe(SLACK);
    expect(own()).toBe(before);
    expect(Number(spawnSync("cat", ["/proc/self/timerslack_ns"], { encoding: "utf8" }).stdout)).toBe(before);
  });

  it("may be started by any thread of the process, with that thread's clock", async () => {
    const starter = `
      const fs = require("node:fs");
      const own = () => ${OWN_SLACK};
      import(require("node:worker_threads").workerData).then(({ withTimerSlack }) =>
        require("node:worker_threads").parentPort.postMessage([own(), withTimerSlack(own), own()]));
    `;
    const module = new URL("../../src/os/timer-slack.ts", import.meta.url).href;
    const before = own();
    const worker = new Worker(starter, { eval: true, workerData: module });
    expect(await once(worker, "message")).toEqual([[before, SLACK, before]]);
  });

  it("leaves the thread its own clock when the start fails, and says why it failed", () => {
    const before = own();
    const error = new Error("it did not start");
    expect(() =>
      withTimerSlack(() => {
        throw error;
      }),
    ).toThrow(error);
    expect(own()).toBe(before);
  });

  it("may start others inside, and the outermost gives the thread its clock back", () => {
    const before = own();
    expect(withTimerSlack(() => [withTimerSlack(own), own()])).toEqual([SLACK, SLACK]);
    expect(own()).toBe(before);
  });
});

/** As if on another system, or in a container that shows less. */
async function without(missing: RegExp): Promise<typeof withTimerSlack> {
  const refusing =
    (act: (path: string, ...rest: string[]) => unknown) =>
    (path: string, ...rest: string[]): unknown => {
      if (missing.test(path)) throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
      return act(path, ...rest);
    };
  vi.resetModules();
  vi.doMock("node:fs", () => ({
    readFileSync: refusing(readFileSync as never),
    readlinkSync: refusing(readlinkSync as never),
    writeFileSync: refusing(writeFileSync as never),
  }));
  onTestFinished(() => {
    vi.doUnmock("node:fs");
  });
  return (await import("../../src/os/timer-slack.ts")).withTimerSlack;
}

describe("where there are no such clocks", () => {
  it.each([
    ["the thread has no name of its own", /thread-self/],
    ["the file is not there", /timerslack_ns/],
  ])("something is just started: %s", async (_, missing) => {
    const start = vi.fn<() => string>(() => "started");
    expect((await without(missing))(start)).toBe("started");
    expect(start).toHaveBeenCalledOnce();
  });
});
