/** Crons of a host that shares them with others: what it does with a time that is its own, another's, or nobody knows whose. */
import { expect, it } from "vitest";
import type { Claimed } from "../../../../src/host/duties.ts";
import { ScheduleDatabase } from "../../../../src/host/services/schedule/schedule-database.ts";
import { Scheduler } from "../../../../src/host/services/schedule/scheduler.ts";
import type { Job } from "../../../../src/host/services/schedule/schedule-database.ts";
import { LIMITS } from "../../../../src/protocol/limits.ts";
import { silent } from "../../../support/host.ts";

const MINUTE = 60_000;

it("a cron runs if it is claimed, goes on to its next time if another has it, and waits while that is unknown; a delayed job asks nobody", async () => {
  let nowMs = 10 * MINUTE + 1;
  let timer: { atMs: number; due: () => void } | undefined;
  const clock = {
    now: () => nowMs,
    setTimer: (inMs: number, due: () => void) => {
      timer = { atMs: nowMs + inMs, due };
      return () => (timer = undefined);
    },
  };
  let answer: Claimed = "unknown";
  const asked: number[] = [];
  const ran: string[] = [];
  const database = new ScheduleDatabase({ path: undefined, onSetAside: () => {}, onFailure: () => {} });
  const scheduler = new Scheduler({
    database,
    clock,
    logger: silent,
    workers: () => [{ id: "p", heldUntilMs: undefined, hasHandler: () => true }],
    duties: { claim: async ({ due }) => (asked.push(due), answer) },
    call: async ({ id, due }: Job) => (ran.push(`${id}@${due / MINUTE}`), { status: "ok", value: undefined, error: undefined } as never),
  });
  const job = { plugin: "p", name: "n", data: "null", made: 0, chain: undefined };
  await database.put({ ...job, id: "cron", pattern: "* * * * *", timezone: "UTC", due: 10 * MINUTE });
  await database.put({ ...job, id: "once", pattern: undefined, timezone: undefined, due: 10 * MINUTE });
  const dueOfCron = async () => (await database.list("p")).find(({ id }) => id === "cron")!.dueAt / MINUTE;
  const next = async (): Promise<void> => {
    await expect.poll(() => timer !== undefined && !scheduler.isWorking).toBe(true);
    const { atMs, due } = timer!;
    nowMs = Math.max(nowMs, atMs);
    due();
    await expect.poll(() => !scheduler.isWorking && scheduler.running === 0).toBe(true);
  };

  scheduler.open();
  await expect.poll(() => ran).toEqual(["once@10"]);
  await expect.poll(() => asked).toEqual([10 * MINUTE]);
  await expect.poll(() => scheduler.running).toBe(0);
  expect(await dueOfCron()).toBe(10);
  // It asks again after a pause, and not in a loop.
  const beforeMs = nowMs;
  answer = "taken";
  await next();
  expect(nowMs - beforeMs).toBe(LIMITS.schedule.claimAgainMs);
  expect(asked).toEqual([10 * MINUTE, 10 * MINUTE]);
  expect(await dueOfCron()).toBe(11);
  answer = "mine";
  nowMs = 11 * MINUTE;
  await next();
  expect(ran).toEqual(["once@10", "cron@11"]);
  expect(await dueOfCron()).toBe(12);
  await scheduler.close();
});
