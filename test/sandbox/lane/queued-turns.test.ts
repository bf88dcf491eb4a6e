/** Turns that no call starts: which cell goes first, and which turns wait. */
import { expect, it } from "vitest";
import { QueuedTurns } from "../../../src/sandbox/lane/queued-turns.ts";
import type { TurnQueue } from "../../../src/sandbox/lane/queued-turns.ts";
import { movedClock } from "../../support/clock.ts";

const clock = movedClock();

class Line {
  readonly ran: string[] = [];
  woken = 0;
  readonly awaited = new Set<number>();
  readonly turns = new QueuedTurns(() => (this.woken += 1));

  queue(): TurnQueue {
    return this.turns.queue((call) => this.awaited.has(call));
  }

  /** Turns that take so long by the clock. */
  add(queue: TurnQueue, name: string, ms: number, count = 1, call?: number): void {
    const run = (): void => {
      clock.nowMs += ms;
      this.ran.push(name);
    };
    for (let at = 0; at < count; at++) queue.add({ call, run });
  }

  serveAll(limit = Infinity): string[] {
    for (let at = 0; at < limit && this.turns.serve(clock.nowMs) !== undefined; at++);
    return this.ran.splice(0);
  }
}

it("cells whose turns take equally long alternate, however many turns one of them has", () => {
  const line = new Line();
  const [a, b] = [line.queue(), line.queue()];
  line.add(a, "a", 10, 5);
  line.add(b, "b", 10, 2);
  expect(line.serveAll()).toEqual(["a", "b", "a", "b", "a", "a", "a"]);
  expect(line.turns.isEmpty).toBe(true);
});

it("a cell with long turns waits until the others have had as much time", () => {
  const line = new Line();
  const [evil, good] = [line.queue(), line.queue()];
  line.add(evil, "evil", 80, 3);
  line.add(good, "good", 1, 20);
  expect(line.serveAll(21)).toEqual(["evil", ...Array.from({ length: 20 }, () => "good")]);
});

it("a cell that joins later neither waits for time that others took before, nor makes up for time it did not use", () => {
  const line = new Line();
  const [old, late] = [line.queue(), line.queue()];
  line.add(old, "old", 100, 50);
  line.serveAll(40);
  line.add(late, "late", 100, 5);
  expect(line.serveAll(6).filter((name) => name === "old")).toHaveLength(3);
});

it("cells whose turns take no measurable time still alternate", () => {
  const line = new Line();
  const [a, b] = [line.queue(), line.queue()];
  line.add(a, "a", 0, 100);
  line.add(b, "b", 0, 1);
  expect(line.serveAll(3)).toContain("b");
});

it("a paused cell runs only turns of pending calls, and the others in order when it is resumed", () => {
  const line = new Line();
  const queue = line.queue();
  line.awaited.add(7);
  queue.setPaused(true);
  line.add(queue, "timer", 1, 1, 0);
  line.add(queue, "answer of a call", 1, 1, 7);
  line.add(queue, "calls that have waited", 1);
  line.add(queue, "interval", 1, 1, 3);
  expect(line.serveAll()).toEqual(["answer of a call", "calls that have waited"]);
  expect(line.turns.isEmpty).toBe(true);
  queue.setPaused(false);
  expect(line.serveAll()).toEqual(["timer", "interval"]);
});

it("after a cell is gone none of its turns run, parked or not, even if it is resumed", () => {
  const line = new Line();
  const [gone, stays] = [line.queue(), line.queue()];
  gone.setPaused(true);
  line.add(gone, "parked", 1, 1, 3);
  line.serveAll();
  line.add(gone, "waiting", 1);
  line.add(stays, "stays", 1);
  gone.clear();
  gone.setPaused(false);
  expect(line.serveAll()).toEqual(["stays"]);
});

it("wakes the lane once, when the first turn is queued", () => {
  const line = new Line();
  const queue = line.queue();
  line.add(queue, "x", 1, 3);
  expect(line.woken).toBe(1);
  line.serveAll();
  line.add(queue, "x", 1);
  expect(line.woken).toBe(2);
});
