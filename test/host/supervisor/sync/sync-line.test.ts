/** The line of a caller that blocks: it waits no longer than the budget, and believes no more than the other line does. */
import { MessageChannel } from "node:worker_threads";
import { expect, it, onTestFinished } from "vitest";
import { thrownBy } from "../../../support/errors.ts";
import { SyncLine } from "../../../../src/host/supervisor/sync/sync-line.ts";
import { portSync } from "../../../../src/host/supervisor/sync/sync-port.ts";
import type { RunRequest } from "../../../../src/host/supervisor/lane-client.ts";
import { writeReply } from "../../../../src/transport/call-frames.ts";

const request: RunRequest = {
  cause: 1,
  route: { kind: "route", route: 0, hook: "tool_result_persist", mode: "sync", steps: [[0, 0, 100, 10, 1_024]] },
  from: 0,
  chains: true,
  attempt: 1,
  spentMs: 0,
  event: "{}",
  context: "{}",
};

/** A line whose far end has said these things before anybody asked: the first run is number 1. */
function lineThatHeard(...messages: unknown[]): SyncLine {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  for (const message of messages) port2.postMessage(message);
  return new SyncLine(portSync(port1, new Int32Array(new SharedArrayBuffer(4))));
}

const reply = (id: number, body: string) => writeReply(id, true, [{ step: 0, status: "ok", wallUs: 1, cpuUs: 1, body }]);

it("gives the answer that is there", () => {
  expect(lineThatHeard([reply(1, `"mine"`)]).run(request, 1_000)).toMatchObject([{ status: "ok", body: `"mine"` }]);
});

it("drops answers to other runs, and waits for its own no longer than the budget", () => {
  const startedMs = performance.now();
  expect(lineThatHeard([reply(7, `"other"`)], []).run(request, 60)?.[0]).toBeUndefined();
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(55);
});

it("waits once more, for as long as a neighbour's turn may take, before it gives the run up", () => {
  const asked: string[] = [];
  const moreMs = (): number => {
    asked.push("more");
    return 60;
  };
  const startedMs = performance.now();
  expect(lineThatHeard().run(request, 20, moreMs)?.[0]).toBeUndefined();
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(75);
  expect(asked).toEqual(["more"]);
});

it("does not wait once more for a run that the lane has begun: the lane keeps its budgets", () => {
  const partly = writeReply(1, false, [{ step: 0, status: "ok", wallUs: 1, cpuUs: 1, body: "" }]);
  const asked: string[] = [];
  const line = lineThatHeard([partly]);
  expect(line.run(request, 20, () => asked.push("more"))).toMatchObject([{ status: "ok" }]);
  expect(asked).toEqual([]);
});

it.each([["text"], [["nonsense"]], [[5]], [{ length: 1 }], [[`{"kind":"reply"}\n`]], [["A1,1;5,0,0,0,0\n"]], [["A1,9\n"]]])(
  "an invalid frame (%j) is ignored or an error, never an answer",
  (message) => {
    const line = lineThatHeard(message);
    let answer: unknown;
    const error = thrownBy(() => (answer = line.run(request, 20)?.[0]));
    expect(error === undefined || error instanceof RangeError).toBe(true);
    expect(answer).toBeUndefined();
  },
);
