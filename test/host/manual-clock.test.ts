/** The clock of an author's test, on the host's side: what it does about lanes that go, or lie. */
import { expect, it } from "vitest";
import { ManualClock } from "../../src/host/manual-clock.ts";
import { LaneMessages } from "../../src/host/supervisor/lane-messages.ts";

const services = { pending: 0, requests: 0 };
const schedule = { isWorking: false, running: 0, rounds: 0 };

function clockWith(post: (clock: ManualClock) => void, isReady = true): ManualClock {
  const clock = new ManualClock(1_000);
  clock.join({ lanes: [{ index: 0, isReady, waiting: 0, post: () => post(clock) }], services, schedule });
  return clock;
}

it("does not wait for a lane that is lost, nor for one that is not there", async () => {
  const lost = clockWith((clock) => clock.lost([0]));
  await lost.advance(10);
  expect(lost.now()).toBe(1_010);
  await clockWith(() => {}, false).advance(10);
});

it("never goes back, whatever a lane says is due next", async () => {
  let asked = 0;
  const clock = clockWith((own) => own.said(0, ++asked < 5 ? 3 : undefined));
  const times: number[] = [];
  clock.setTimer(50, () => times.push(clock.now()));
  await clock.advance(100);
  expect([times, clock.now()]).toEqual([[1_050], 1_100]);
});

it("calls timers in the order of their times, those that timers set as well, and none that was cancelled", async () => {
  const clock = clockWith((own) => own.said(0, undefined));
  const rung: string[] = [];
  clock.setTimer(20, () => rung.push(`b ${clock.now()}`));
  clock.setTimer(10, () => {
    rung.push(`a ${clock.now()}`);
    clock.setTimer(5, () => rung.push(`c ${clock.now()}`));
  });
  clock.setTimer(12, () => rung.push("never"))();
  await Promise.all([clock.advance(15), clock.advance(15)]);
  expect(rung).toEqual(["a 1010", "c 1015", "b 1020"]);
  expect(clock.now()).toBe(1_030);
});

it("is a fault of a lane that tells the time to a host which has no such clock", () => {
  const messages = new LaneMessages({ clock: undefined } as never);
  expect(() => messages.receive({ index: 0 } as never, { kind: "clock", sizes: [] }, [])).toThrow("a time that the host did not ask for");
});
