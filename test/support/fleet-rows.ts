/** The failures of a fleet that a gateway must survive: `scripts/fleet-failures.ts` prints what came of them, test/fleet/failures.test.ts judges it. */
import { setTimeout as sleep } from "node:timers/promises";
import { openHost } from "creel";
import type { Figures, Fleet } from "./fleet-failures.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

export type Row = (fleet: Fleet) => Promise<Figures>;

/** On one fleet of three hosts, one after the other. Each leaves it as it was. */
export const ROWS: readonly Row[] = [
  (fleet) => fleet.attack({ failure: "nothing", gates: 100, everyMs: 10, holdMs: 50, fail: async () => {} }),
  (fleet) =>
    fleet.attack({
      failure: "host stopped for 4 s",
      gates: 200,
      everyMs: 20,
      holdMs: 50,
      fail: async () => {
        await sleep(500);
        fleet.signal("one", "SIGSTOP");
        await sleep(4_000);
        fleet.signal("one", "SIGCONT");
      },
    }),
  (fleet) =>
    fleet.attack({
      failure: "host in a black hole for 3 s",
      gates: 180,
      everyMs: 20,
      holdMs: 50,
      fail: async () => {
        await sleep(500);
        fleet.hostProxies.get("two")!.hole(true);
        await sleep(3_000);
        fleet.hostProxies.get("two")!.hole(false);
      },
    }),
  (fleet) =>
    fleet.attack({
      failure: "server killed, back after 0.3 s",
      gates: 150,
      everyMs: 20,
      holdMs: 50,
      fail: async () => {
        await sleep(500);
        await fleet.nats.kill();
        await sleep(300);
        await fleet.nats.restart();
      },
    }),
  (fleet) =>
    fleet.attack({
      failure: "server away for 4 s",
      gates: 250,
      everyMs: 20,
      holdMs: 50,
      fail: async () => {
        await sleep(500);
        await fleet.nats.kill();
        await sleep(4_000);
        await fleet.nats.restart();
      },
    }),
  (fleet) =>
    fleet.attack({
      failure: "gateway in a black hole for 3 s",
      gates: 200,
      everyMs: 20,
      holdMs: 50,
      fail: async () => {
        await sleep(500);
        fleet.proxy.hole(true);
        await sleep(3_000);
        fleet.proxy.hole(false);
      },
    }),
  (fleet) =>
    fleet.attack({
      failure: "gateway cut off (RST) for 3 s",
      gates: 200,
      everyMs: 20,
      holdMs: 50,
      fail: async () => {
        await sleep(500);
        await fleet.proxy.cut(3_000);
      },
    }),
  // The receiver answers late: the host dies after it has told, and does not know that it has.
  async (fleet) => {
    fleet.events.answerMs = 300;
    const figures = await fleet.attack({
      failure: "host killed, 60 gates of 1 s and 60 events in flight",
      gates: 60,
      everyMs: 0,
      holdMs: 1_000,
      fail: async () => {
        await sleep(400);
        await fleet.kill("one");
      },
      mend: () => fleet.startHost("one"),
    });
    fleet.events.answerMs = 0;
    return figures;
  },
  async (fleet) => {
    await using gateway = await openHost({ connect: fleet.socketOf("three"), logger: silent });
    return await fleet.attack({
      failure: "creel serve killed, its gateway on the socket",
      gates: 60,
      everyMs: 5,
      holdMs: 200,
      gateway,
      fail: async () => {
        await sleep(150);
        await fleet.kill("three");
      },
      mend: () => fleet.startHost("three"),
    });
  },
  (fleet) =>
    fleet.attack({
      failure: "poison: the handler throws at 30 events",
      gates: 60,
      everyMs: 10,
      holdMs: 20,
      fail: async () => {
        for (let n = 0; n < 30; n++) fleet.events.emit(fleet.gateway, "poison");
      },
    }),
];

/** On a fleet of three hosts whose durable events go through the servers. */
export const SERVER_ROWS: readonly Row[] = [
  (fleet) =>
    fleet.attack({
      failure: "events through the servers: two hosts and the server killed",
      gates: 210,
      everyMs: 20,
      holdMs: 20,
      events: 5,
      // The gateway has them kept one after the other.
      settleMs: 120_000,
      fail: async () => {
        await sleep(500);
        await fleet.kill("one");
        await sleep(1_000);
        await fleet.nats.kill();
        await sleep(500);
        await fleet.nats.restart();
        await fleet.startHost("one");
        await fleet.kill("two");
      },
      mend: () => fleet.startHost("two"),
    }),
];

/** On a fleet of two hosts whose clocks are an hour ahead and behind. */
export const SKEWED_ROWS: readonly Row[] = [
  (fleet) => fleet.attack({ failure: "clocks ± 1 h", gates: 60, everyMs: 10, holdMs: 50, fail: async () => {} }),
  (fleet) =>
    fleet.attack({
      failure: "bomb: an event that fills the memory of its plugin",
      gates: 400,
      everyMs: 20,
      holdMs: 20,
      fail: async () => {
        await sleep(500);
        fleet.events.emit(fleet.gateway, "bomb");
      },
    }),
];
