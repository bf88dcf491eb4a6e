/** Busy-polling: for how long a side polls, how much of that may be wasted, and that the event loop turns meanwhile. */
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { LIMITS } from "../../src/protocol/limits.ts";
import type * as busyPoll from "../../src/transport/busy-poll.ts";
import type { Link } from "../../src/transport/link.ts";
import { movedClock } from "../support/clock.ts";

type Module = typeof busyPoll;

const { idleMs, wastedShare, cpuPressure } = LIMITS.poll;
/** What a poll takes by the test's clock, and the longest spin between two turns of the event loop. */
const POLL_MS = 0.0025;
const SPIN_MS = 0.01;

/** The module as on a machine with so many CPUs, whatever this one has. */
async function withCpus(count: number): Promise<Module> {
  vi.resetModules();
  vi.doMock("node:os", () => ({ availableParallelism: () => count }));
  return import("../../src/transport/busy-poll.ts");
}

let module: Module;
beforeAll(async () => {
  module = await withCpus(2);
});
afterAll(() => vi.doUnmock("node:os"));

const clock = movedClock();

/** A link on which something arrives with a given poll. */
class PlayedLink implements Link {
  polls = 0;
  arrivesAt = Infinity;
  isPeer = true;
  started = 0;
  stopped = 0;
  arrived: () => void = () => {};
  onFrames(): void {}
  onEnd(): void {}
  send(): void {}
  close(): void {}
  poll(): boolean {
    this.polls += 1;
    clock.nowMs += POLL_MS;
    if (this.polls < this.arrivesAt) return false;
    this.arrivesAt = Infinity;
    this.arrived();
    return true;
  }
  isPeerPolling(): boolean {
    return this.isPeer;
  }
  startPolling(): void {
    this.started += 1;
  }
  stopPolling(): void {
    this.stopped += 1;
  }
}

/** Waits until a poller has stopped. False: it had not started. */
async function ended(poller: { readonly isOn: boolean }): Promise<boolean> {
  if (!poller.isOn) return false;
  while (poller.isOn) await turn();
  return true;
}

describe("a gateway that has sent a call", () => {
  class Gateway {
    pending = 1;
    readonly link = new PlayedLink();
    readonly poller;

    constructor({ ReplyPoller } = module) {
      this.poller = new ReplyPoller(() => this.pending);
      this.link.arrived = () => (this.pending -= 1);
    }

    /** Sends a call, and polls for its reply. False: it did not poll. */
    call(arrivesAt = Infinity): Promise<boolean> {
      this.pending = 1;
      this.link.polls = 0;
      this.link.arrivesAt = arrivesAt;
      this.poller.start(this.link);
      return ended(this.poller);
    }
  }

  it("polls until the reply has come, and not once more", async () => {
    const gateway = new Gateway();
    const arrivesAt = Math.floor((0.8 * idleMs) / POLL_MS);
    expect(await gateway.call(arrivesAt)).toBe(true);
    expect(gateway.link.polls).toBe(arrivesAt);
    expect([gateway.link.started, gateway.link.stopped]).toEqual([1, 1]);
  });

  it("does not poll at all for a reply that the event loop brought first", async () => {
    const gateway = new Gateway();
    const call = gateway.call();
    gateway.pending = 0;
    expect(await call).toBe(true);
    expect(gateway.link.polls).toBe(0);
  });

  it("stops when no reply has come in time", async () => {
    const gateway = new Gateway();
    const startMs = clock.nowMs;
    expect(await gateway.call()).toBe(true);
    expect(clock.nowMs - startMs).toBeGreaterThanOrEqual(idleMs);
    expect(clock.nowMs - startMs).toBeLessThanOrEqual(idleMs + SPIN_MS + POLL_MS);
    expect(gateway.link.stopped).toBe(1);
  });

  it("stops at once when the lane is gone", async () => {
    const gateway = new Gateway();
    const call = gateway.call();
    gateway.poller.stop();
    expect(await call).toBe(true);
    expect(gateway.link.polls * POLL_MS).toBeLessThanOrEqual(SPIN_MS + POLL_MS);
  });

  it("does not poll for a lane that does not poll, nor with a single CPU", async () => {
    const gateway = new Gateway();
    gateway.link.isPeer = false;
    expect(await gateway.call()).toBe(false);
    expect(await new Gateway(await withCpus(1)).call()).toBe(false);
  });

  it("lets the event loop turn between two short spins", async () => {
    const gateway = new Gateway();
    const polls: number[] = [];
    let isOn = true;
    const others = (): void => {
      polls.push(gateway.link.polls);
      if (isOn) setImmediate(others);
    };
    setImmediate(others);
    await gateway.call();
    isOn = false;
    const waits = polls.slice(1).map((count, at) => count - polls[at]!);
    expect(Math.max(...waits) * POLL_MS).toBeLessThanOrEqual(SPIN_MS + POLL_MS);
  });

  it("wastes no more than its share of time on replies that come late, however many calls there are", async () => {
    const gateway = new Gateway();
    const startMs = clock.nowMs;
    let polled = 0;
    while (clock.nowMs < startMs + 2_000) {
      if (await gateway.call()) polled += 1;
      else clock.nowMs += 0.5;
    }
    expect((polled * idleMs) / 2_000).toBeLessThanOrEqual(wastedShare + 0.01);
    expect((polled * idleMs) / 2_000).toBeGreaterThan(wastedShare * 0.7);
  });

  it("wastes a bounded time, though it keeps sending calls to a lane that answers none", async () => {
    const gateway = new Gateway();
    const startMs = clock.nowMs;
    const poll = gateway.link.poll.bind(gateway.link);
    gateway.link.poll = () => {
      gateway.poller.start(gateway.link);
      return poll();
    };
    await gateway.call();
    expect(clock.nowMs - startMs).toBeLessThanOrEqual(10 * idleMs + SPIN_MS + POLL_MS);
  });

  it("polls every time if a reply is late only now and then", async () => {
    const gateway = new Gateway();
    for (let at = 0; at < 1_000; at++) {
      // One late reply in fifty milliseconds.
      expect(await gateway.call(at % 10 === 0 ? Infinity : 1)).toBe(true);
      clock.nowMs += 5;
    }
  });
});

describe("a lane that has answered", () => {
  class Lane {
    pressure = 1;
    readonly link = new PlayedLink();
    readonly poller;
    beforeStop = 0;

    constructor({ RequestPoller } = module) {
      this.poller = new RequestPoller(
        this.link,
        () => this.pressure,
        () => {
          this.beforeStop += this.link.stopped === this.beforeStop ? 1 : NaN;
        },
      );
      this.link.arrived = () => this.poller.start(clock.nowMs);
    }

    /** Serves two requests in quick succession, and polls for more. False: it did not poll. */
    burst(arrivesAt = Infinity): Promise<boolean> {
      this.link.polls = 0;
      this.link.arrivesAt = arrivesAt;
      clock.nowMs += idleMs;
      this.poller.start(clock.nowMs);
      this.poller.start(clock.nowMs);
      return ended(this.poller);
    }
  }

  it("polls for the next request, says so before and after, and finishes what it put off", async () => {
    const lane = new Lane();
    const startMs = clock.nowMs + idleMs;
    expect(await lane.burst()).toBe(true);
    expect(clock.nowMs - startMs).toBeGreaterThanOrEqual(idleMs);
    expect(clock.nowMs - startMs).toBeLessThanOrEqual(idleMs + SPIN_MS + POLL_MS);
    expect([lane.link.started, lane.link.stopped, lane.beforeStop]).toEqual([1, 1, 1]);
  });

  it("polls for as long again after each request", async () => {
    const lane = new Lane();
    const startMs = clock.nowMs + idleMs;
    const arrivesAt = Math.floor((0.8 * idleMs) / POLL_MS);
    await lane.burst(arrivesAt);
    expect(clock.nowMs - startMs).toBeGreaterThanOrEqual(arrivesAt * POLL_MS + idleMs);
    expect([lane.link.started, lane.link.stopped]).toEqual([1, 1]);
  });

  it("does not poll after a single request, on a busy machine, or with a single CPU", async () => {
    const lane = new Lane();
    for (let at = 0; at < 10; at++) {
      clock.nowMs += idleMs;
      lane.poller.start(clock.nowMs);
      expect(lane.poller.isOn).toBe(false);
    }
    lane.pressure = cpuPressure;
    expect(await lane.burst()).toBe(false);
    expect(await new Lane(await withCpus(1)).burst()).toBe(false);
    expect([lane.link.polls, lane.link.started]).toEqual([0, 0]);
  });

  it("wastes no more than its share of time on requests that do not come", async () => {
    const lane = new Lane();
    const startMs = clock.nowMs;
    let polled = 0;
    while (clock.nowMs < startMs + 2_000) if (await lane.burst()) polled += 1;
    expect((polled * idleMs) / 2_000).toBeLessThanOrEqual(wastedShare + 0.01);
    expect((polled * idleMs) / 2_000).toBeGreaterThan(wastedShare * 0.7);
  });

  it("lets the event loop turn under a stream of requests", async () => {
    const lane = new Lane();
    const startMs = clock.nowMs + idleMs;
    lane.link.arrived = () => {
      lane.poller.start(clock.nowMs);
      if (clock.nowMs < startMs + 5 * idleMs) lane.link.arrivesAt = lane.link.polls + 1;
    };
    let turns = 0;
    const burst = lane.burst(1);
    while (lane.poller.isOn) {
      turns += 1;
      await turn();
    }
    expect(await burst).toBe(true);
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  it("stops at once when the lane ends", async () => {
    const lane = new Lane();
    const burst = lane.burst();
    lane.poller.stop();
    expect(await burst).toBe(true);
    expect(lane.link.polls * POLL_MS).toBeLessThanOrEqual(SPIN_MS + POLL_MS);
  });
});
