/** A run that nobody waits for any more may still be in its turn: the lane that answers it, or not, says so. */
import { expect, it } from "vitest";
import { writeReply } from "../../../src/transport/call-frames.ts";
import type { StepReply } from "../../../src/transport/call-frames.ts";
import { playedLane, start } from "../../support/lane.ts";

const step = (position: number): StepReply => ({ step: position, status: "ok", wallUs: 10, cpuUs: 5, body: "" });

async function running(steps: number, more: Parameters<typeof start>[2] = {}) {
  const { lane, link } = playedLane();
  lane.connect(link, []);
  link.ready();
  const run = start(lane, steps, more);
  await Promise.resolve();
  return { lane, link, run };
}

it("a run that the host has given up is not answered by that: its lane may be in its turn, until it says otherwise", async () => {
  const { lane, link, run } = await running(2, { wallMs: 10 });
  expect((await run).steps[0]?.body).toContain("ERR_SANDBOX_STUCK");
  expect([0, 1].map((at) => lane.isAnswered(run.id, at))).toEqual([false, false]);
  link.say(writeReply(run.id, false, [step(0)]));
  expect([0, 1].map((at) => lane.isAnswered(run.id, at))).toEqual([true, false]);
  link.say(writeReply(run.id, true, [step(1)]));
  expect([0, 1].map((at) => lane.isAnswered(run.id, at))).toEqual([true, true]);
});

it("neither is one that was cancelled, but for the steps that the lane had answered", async () => {
  const { lane, link, run } = await running(2);
  link.say(writeReply(run.id, false, [step(0)]));
  lane.cancel(run.id);
  expect([0, 1, 2].map((at) => lane.isAnswered(run.id, at))).toEqual([true, false, true]);
});

it("a run that was never sent, or went with its process, is in no turn", async () => {
  const { lane, run } = await running(1);
  lane.cancel(run.id);
  lane.disconnect({ why: "killed" });
  const waiting = start(lane, 1);
  lane.cancel(waiting.id);
  expect([run, waiting].map(({ id }) => lane.isAnswered(id, 0))).toEqual([true, true]);
});

it("the host remembers a bounded number of them", async () => {
  const { lane, run } = await running(1);
  lane.cancel(run.id);
  for (let more = 0; more < 300; more++) {
    const other = start(lane, 1);
    await Promise.resolve();
    lane.cancel(other.id);
    expect(lane.isAnswered(other.id, 0)).toBe(false);
  }
  expect(lane.isAnswered(run.id, 0)).toBe(true);
});
