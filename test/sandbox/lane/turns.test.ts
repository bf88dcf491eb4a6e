/** A lane serves one long turn per turn of its event loop, and reads its links in between. Real cells; the tests check the order of events. */
import { expect, it } from "vitest";
import { opening, post, RealLane, route, run, spin } from "../../support/real-lane.ts";

const ANSWERS = `api.on("message_sending", () => ({ content: "heard" }));`;
const GUARDS = `api.on("before_message_write", () => ({ block: true }));`;

/** What the lane sent before this. */
function before(lane: RealLane, what: string): string[] {
  expect(lane.said).toContain(what);
  return lane.said.slice(0, lane.said.indexOf(what));
}

const isTick = (line: string): boolean => line.endsWith("says tick");

it("of several long timers that are due at the same time, only one runs before a call is served", async () => {
  await using lane = await RealLane.start();
  await lane.open(1, `for (let i = 0; i < 6; i++) setTimeout(() => { ${spin()} console.log("tick"); }, 20);`);
  await lane.open(2, ANSWERS);
  lane.main.tell(route(1, [2]));
  await lane.until("1 says tick");
  lane.main.tell(run(7, 1));
  await lane.until("1 says tick", 6);
  expect(before(lane, "7 is ok").filter(isTick)).toHaveLength(1);
});

it("responses to one cell that arrive in one batch are not served in a row", async () => {
  await using lane = await RealLane.start();
  const asks = `for (let i = 0; i < 6; i++) api.session.get("k" + i).then(() => { ${spin()} console.log("tick"); });`;
  await lane.open(1, `setTimeout(() => { ${asks} }, 1);`);
  await lane.open(2, ANSWERS);
  lane.main.tell(route(1, [2]));
  await lane.until("1 asks 6");
  lane.main.tell(...[1, 2, 3, 4, 5, 6].map((request) => post({ kind: "response", cell: 1, request, ok: true }, "null")));
  await lane.until("1 says tick");
  lane.main.tell(run(7, 1));
  await lane.until("1 says tick", 6);
  expect(before(lane, "7 is ok").filter(isTick)).toHaveLength(1);
});

it("a cell with many timers does not delay a cell with few", async () => {
  await using lane = await RealLane.start();
  await lane.open(1, `for (let i = 0; i < 8; i++) setTimeout(() => { ${spin()} console.log("tick"); }, 20);`);
  await lane.open(2, `for (let i = 0; i < 4; i++) setTimeout(() => { console.log("quick"); }, 20);`);
  await lane.until("1 says tick", 8);
  const last = lane.said.lastIndexOf("2 says quick");
  expect(lane.count("2 says quick")).toBe(4);
  expect(lane.said.slice(0, last).filter(isTick).length).toBeLessThanOrEqual(2);
});

it("a run that the host blocks on waits for one turn of a batch, not for the whole batch", async () => {
  await using lane = await RealLane.start();
  await lane.open(1, `api.on("message_sending", () => { ${spin()} });`);
  await lane.open(2, GUARDS);
  lane.main.tell(route(1, [1]));
  lane.main.tell(run(1, 1), run(2, 1), run(3, 1), run(4, 1));
  // The loop has not turned: only the first was begun.
  expect(lane.said.filter((line) => line.includes(" is "))).toEqual(["1 is ok"]);
  lane.main.tell(run(5, 1));
  lane.sync.tell(route(2, [2], "sync"), run(9, 2));
  await lane.until("5 is ok");
  expect(lane.said.filter((line) => line.includes(" is "))).toEqual(["1 is ok", "9 is ok", "2 is ok", "3 is ok", "4 is ok", "5 is ok"]);
});

it.each([["chain"], ["fan"]] as const)("a %s yields after each long handler, and is answered in full", async (mode) => {
  await using lane = await RealLane.start();
  for (const cell of [1, 2, 3]) await lane.open(cell, `api.on("message_sending", () => { ${spin()} });`);
  await lane.open(4, GUARDS);
  lane.main.tell(route(1, [1, 2, 3], mode), run(1, 1));
  lane.sync.tell(route(2, [4], "sync"), run(9, 2));
  await lane.until("1 is ok");
  expect(lane.said.filter((line) => line.includes(" is "))).toEqual(["1 is ok so far", "9 is ok", "1 is ok so far", "1 is ok"]);
});

it("a run that yielded and is cancelled meanwhile calls no further handler", async () => {
  await using lane = await RealLane.start();
  for (const cell of [1, 2]) await lane.open(cell, `api.on("message_sending", () => { ${spin()} console.log("ran"); });`);
  lane.main.tell(route(1, [1, 2]), route(2, [1]));
  lane.main.tell(run(1, 1), run(2, 2));
  lane.main.tell(post({ kind: "cancel", id: 1 }));
  await lane.until("2 is ok");
  await lane.until("1 says ran", 2);
  expect(lane.count("2 says ran")).toBe(0);
});

it("a cancelled run is answered without a result when its turn is over, and one that was answered is not answered again", async () => {
  await using lane = await RealLane.start();
  await lane.open(1, `api.on("message_sending", () => new Promise(() => {}));`);
  await lane.open(2, ANSWERS);
  lane.main.tell(route(1, [1]), route(2, [2]));
  lane.main.tell(run(1, 1), run(2, 2));
  await lane.until("2 is ok");
  lane.main.tell(post({ kind: "cancel", id: 1 }), post({ kind: "cancel", id: 2 }), run(3, 2));
  await lane.until("3 is ok");
  expect(lane.said.filter((line) => line.startsWith("1 is"))).toEqual(["1 is "]);
  expect(lane.count("2 is ok")).toBe(1);
});

it("calls that came while a plugin was loading are made in order, with one long call per turn of the loop", async () => {
  await using lane = await RealLane.start();
  await lane.open(2, GUARDS);
  lane.main.tell(route(1, [1]));
  lane.main.tell(
    opening(1, `api.on("message_sending", () => { ${spin()} }); return new Promise((resolve) => setTimeout(resolve, 20));`),
    run(1, 1),
    run(2, 1),
    run(3, 1),
  );
  await lane.until("opened 1");
  lane.sync.tell(route(2, [2], "sync"), run(9, 2));
  lane.main.tell(run(4, 1));
  await lane.until("4 is ok");
  expect(lane.said.filter((line) => line.includes(" is "))).toEqual(["1 is ok", "9 is ok", "2 is ok", "3 is ok", "4 is ok"]);
});

it("a paused cell runs no timers; when it is resumed, each interval fires once, however often it was due", async () => {
  await using lane = await RealLane.start();
  await lane.open(1, `setInterval(() => console.log("interval"), 1); setTimeout(() => console.log("once"), 30);`, { isPaused: true });
  // Another cell's clock says that their time has come.
  await lane.open(2, `setTimeout(() => console.log("later"), 80);`);
  await lane.until("2 says later");
  expect(lane.said.filter((line) => line.startsWith("1 says"))).toEqual([]);
  lane.main.tell(post({ kind: "pause", cell: 1, isPaused: false }), post({ kind: "pause", cell: 1, isPaused: true }));
  await lane.open(3, `setTimeout(() => console.log("later"), 80);`);
  await lane.until("3 says later");
  lane.main.tell(post({ kind: "pause", cell: 1, isPaused: false }));
  await lane.until("1 says once");
  // At most one for each time it was resumed, before what was due after it.
  expect(before(lane, "1 says once").filter((line) => line === "1 says interval").length).toBeLessThanOrEqual(2);
});

it("a paused cell loads its plugin, and its calls get their timers and responses", async () => {
  await using lane = await RealLane.start();
  const handler = `await new Promise((resolve) => setTimeout(resolve, 5)); await api.session.get("k");`;
  const body = `api.on("message_sending", async () => { ${handler} }); return new Promise((resolve) => setTimeout(resolve, 5));`;
  await lane.open(1, body, { isPaused: true });
  lane.main.tell(route(1, [1]), run(1, 1));
  await lane.until("1 asks 1");
  lane.main.tell(post({ kind: "response", cell: 1, request: 1, ok: true }, "null"));
  await lane.until("1 is ok");
  expect(lane.count("1 is ok")).toBe(1);
});

it("when a cell is dropped, its queued turns are dropped, and a call that waited for one is answered", async () => {
  await using lane = await RealLane.start();
  const asks = `api.on("message_sending", async () => { await api.session.get("k"); console.log("never"); });`;
  await lane.open(1, `${asks} setTimeout(() => console.log("never"), 20);`);
  lane.main.tell(route(1, [1]), run(1, 1));
  await lane.until("1 asks 1");
  lane.main.tell(post({ kind: "response", cell: 1, request: 1, ok: true }, "null"), post({ kind: "drop", cell: 1 }));
  await lane.until("1 is crashed");
  await lane.open(2, `setTimeout(() => console.log("later"), 60);`);
  await lane.until("2 says later");
  expect(lane.said).not.toContain("1 says never");
});

it("the CPU time of a cell is reported even if it only runs timers", async () => {
  await using lane = await RealLane.start();
  await lane.open(1, `setInterval(() => { ${spin(20)} }, 1);`);
  await lane.until("spent 1", 3);
  expect(lane.count("fault 1")).toBe(0);
});
