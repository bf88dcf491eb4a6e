/**
 * A sandbox process behind a wrapper is started through processes in between. They must not matter: whichever dies, all die at
 * once; the unit says how Node ended; its memory is Node's, not the wrapper's; and the descriptors are the ones that were declared.
 */
import { constants, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { WRAPPERS } from "../../../../src/host/supervisor/launch/wrappers.ts";
import { openShmChannel } from "../../../../src/host/supervisor/launch/shm-files.ts";
import { capabilities, probeWalls } from "../../../../src/host/supervisor/launch/probe.ts";
import { startProcessUnit } from "../../../../src/host/supervisor/launch/process-unit.ts";
import type { LaneUnit } from "../../../../src/host/supervisor/unit.ts";
import { spawnSandbox } from "../../../../src/host/supervisor/launch/spawn.ts";
import { wallsWanted } from "../../../../src/host/supervisor/launch/plan.ts";
import type { WallsPlan } from "../../../../src/host/supervisor/launch/plan.ts";
import { pack } from "../../../../src/transport/frames.ts";
import { CONTROL_FD, inheritedCount, shmFds } from "../../../../src/transport/inherited-fds.ts";
import { PROTOCOL_VERSION } from "../../../../src/protocol/messages/host-lane.ts";
import { isAlive } from "../../../support/process.ts";
import { familyOf } from "../../../support/walls.ts";

const LANES = 2;

/** A unit whose lanes have answered. */
async function start(plan: WallsPlan): Promise<LaneUnit & { readonly family: number[]; readonly node: number }> {
  const unit = startProcessUnit(LANES, plan);
  await Promise.all(
    unit.links.map((link) => {
      const ready = new Promise((resolve) => link.onFrames(resolve));
      link.send([pack({ kind: "hello", version: PROTOCOL_VERSION, rules: {} }, "({})")]);
      return ready;
    }),
  );
  const family = familyOf(unit.pid!);
  return { ...unit, family, node: family.at(-1)! };
}

/** Processes that are left. The kernel may take a moment to remove ended ones. */
async function survivors(family: readonly number[]): Promise<number[]> {
  await vi.waitUntil(() => !family.some(isAlive), { timeout: 1_000, interval: 1 }).catch(() => {});
  return family.filter(isAlive);
}

/** How a process has a descriptor open: to read, to write, or both. */
/** Descriptors of the shared-memory files of all lanes. */
function shmFdsOf(lanes: number): number[] {
  return Array.from({ length: lanes }, (_, lane) => shmFds(lane, lanes)).flatMap(({ readers, writers }) => [...readers, ...writers]);
}

function accessOf(pid: number, fd: number): number {
  const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, "latin1"))![1]!;
  return Number.parseInt(flags, 8) & (constants.O_WRONLY | constants.O_RDWR);
}

/** Run in the place of a sandbox: descriptor 3 is the host's file, 4 its own. */
const SCRIBBLE = `
  const fs = require("node:fs");
  const tried = (act) => {
    try {
      return act();
    } catch (error) {
      return error.code;
    }
  };
  const hosts = [3, 4].map((fd) => tried(() => fs.writeSync(fd, "x")));
  const much = [5, 6].map((fd) => tried(() => fs.writeSync(fd, Buffer.alloc(4 * 1024 * 1024))));
  const more = [5, 6].map((fd) => tried(() => fs.writeSync(fd, "x")));
  process.stdout.write(JSON.stringify({ hosts, much, more }));
`;

describe.each([...WRAPPERS, "none"] as const)("a sandbox process, wrapper: %s", (wrapper) => {
  let plan: WallsPlan;
  let isFenced: boolean;
  beforeAll(async () => {
    const tools = Object.fromEntries(
      Object.entries(capabilities().tools).filter(([tool]) => tool === wrapper || !WRAPPERS.some((one) => one === tool)),
    );
    plan = await probeWalls({ ...capabilities(), tools }, wallsWanted());
    isFenced = plan.wrappers > 0;
  });

  it("stands, or the plan says why not", ({ annotate }) => {
    const { isOn, why } = plan.layers.find(({ name }) => name === "network")!;
    expect(isOn).toBe(isFenced);
    if (isOn) return;
    expect(why).toMatch(/\w/);
    void annotate(`tested without a wrapper: ${why}`);
  });

  it.each([
    ["the process that was started", 0],
    ["the wrapper", 1],
    ["the first process behind the wrapper", 2],
    ["Node", -1],
  ])("ends as a whole when %s is killed", async (_, at) => {
    const unit = await start(plan);
    expect(unit.family).toHaveLength(isFenced ? 4 : 1);
    process.kill(unit.family.at(at) ?? unit.node, "SIGKILL");
    await unit.ended;
    expect(await survivors(unit.family)).toEqual([]);
    await unit.close();
  });

  it.each([0, 2, 5, 10, 20, 60])("ends as a whole when the unit is killed after %i ms, while it is starting", async (ms) => {
    const unit = startProcessUnit(LANES, plan);
    // Not to wait for anything: to strike at another moment of the start each time.
    await sleep(ms);
    const family = familyOf(unit.pid!);
    unit.kill();
    await unit.ended;
    expect(await survivors(family)).toEqual([]);
    await unit.close();
  });

  it.each(["SIGSEGV", "SIGABRT", "SIGKILL"] as const)("says that %s ended Node", async (signal) => {
    const unit = await start(plan);
    process.kill(unit.node, signal);
    expect(await unit.ended).toContain(`ended by ${signal}`);
    await unit.close();
  });

  it("tells Node's memory, and nothing once it is gone", async () => {
    const unit = await start(plan);
    const bytes = unit.rssBytes!()!;
    const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${unit.node}/status`, "utf8"))![1]);
    expect(bytes / 1024 / kilobytes).toBeGreaterThan(0.9);
    expect(bytes / 1024 / kilobytes).toBeLessThan(1.1);
    await unit.close();
    expect(unit.rssBytes!()).toBeUndefined();
  });

  it("has the declared descriptors from outside, and no others", async () => {
    const unit = await start(plan);
    const fds = shmFdsOf(LANES);
    const others = readdirSync(`/proc/${unit.node}/fd`).filter((fd) => Number(fd) > fds.at(-1)!);
    // What it makes for itself: event queues, clocks of its threads, the load average, pipes of which it holds both ends. What leads nowhere was
    // closed that way.
    const targets = others
      .map((fd) => readlinkSync(`/proc/${unit.node}/fd/${fd}`))
      .filter(
        (target) => !/^anon_inode:|\/dev\/null$|^(?:\/\w+)?\/proc\/(?:loadavg|\d+\/task\/\d+\/(?:stat|schedstat|syscall))$/.test(target),
      );
    const ends = Map.groupBy(targets, (target) => target);
    expect([...ends].filter(([target, held]) => !(target.startsWith("pipe:") && held.length === 2))).toEqual([]);
    await unit.close();
  });

  it("has four shared-memory files per lane, without names: two to read and two to write", async () => {
    const unit = await start(plan);
    const fds = shmFdsOf(LANES);
    expect(fds[0]).toBe(CONTROL_FD + inheritedCount(LANES));
    const files = fds.map((fd) => readlinkSync(`/proc/${unit.node}/fd/${fd}`));
    expect(files.filter((file) => !/^\/dev\/shm\/creel-[\da-f]{32} \(deleted\)$/.test(file))).toEqual([]);
    expect(new Set(files).size).toBe(4 * LANES);
    const { O_RDONLY, O_WRONLY } = constants;
    const access = Array.from({ length: LANES }, () => [O_RDONLY, O_RDONLY, O_WRONLY, O_WRONLY]);
    expect(fds.map((fd) => accessOf(unit.node, fd))).toEqual(access.flat());
    await unit.close();
  });

  it("cannot write the host's shared-memory files, nor fill the machine's memory with its own", async () => {
    const shm = openShmChannel()!;
    onTestFinished(() => shm.close());
    // What the kernel keeps, whatever Node would allow.
    const bare = { ...plan, args: plan.args.filter((arg) => !/^--(?:permission|allow-)/.test(arg)) };
    const { child } = spawnSandbox(bare, ["--eval", SCRIBBLE], ["ignore", "pipe", "ignore", ...shm.lane.readers, ...shm.lane.writers]);
    const said = await child.stdout!.setEncoding("utf8").toArray();
    expect(JSON.parse(said.join(""))).toEqual({
      hosts: ["EBADF", "EBADF"],
      much: [1024 * 1024, 1024 * 1024],
      more: ["EFBIG", "EFBIG"],
    });
  });
});
