/**
 * The schedule with the test's clock: when jobs run, what happens to those that were missed, were begun and not ended,
 * or have no handler; and a real kill of a process in the middle of a job.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setImmediate as tick } from "node:timers/promises";
import { expect, it } from "vitest";
import type { FunctionOutcome } from "../../../../src/protocol/messages/functions.ts";
import { LIMITS } from "../../../../src/protocol/limits.ts";
import type { Chain } from "../../../../src/host/causality/causes.ts";
import { nextTime } from "../../../../src/host/services/schedule/cron.ts";
import { ScheduleDatabase } from "../../../../src/host/services/schedule/schedule-database.ts";
import type { NewJob } from "../../../../src/host/services/schedule/schedule-database.ts";
import { Scheduler } from "../../../../src/host/services/schedule/scheduler.ts";
import type { Worker } from "../../../../src/host/services/schedule/scheduler.ts";
import { thrownBy } from "../../../support/errors.ts";
import { folder } from "../../../support/files.ts";
import { recorder } from "../../../support/host.ts";

const MINUTE = 60_000;
/** A Monday, 12:00 UTC. */
const NOON = Date.UTC(2026, 0, 5, 12);

interface Begun {
  readonly id: string;
  readonly data: string;
  readonly chain: Chain;
  readonly context: { readonly occurrence: string; readonly attempt?: number; readonly dueAt: number };
  end(status?: FunctionOutcome["status"]): Promise<void>;
}

/** A clock that the test moves. */
function clockAt(startMs: number) {
  const clock = { ms: startMs, atMs: Number.POSITIVE_INFINITY, due: () => {} };
  return {
    now: () => clock.ms,
    setTimer: (inMs: number, due: () => void) => {
      Object.assign(clock, { atMs: clock.ms + inMs, due });
      return () => Object.assign(clock, { atMs: Number.POSITIVE_INFINITY });
    },
    sleepsUntil: () => clock.atMs,
    /** Fires the timers that are due on the way, and lets their work finish. */
    async pass(ms: number) {
      const endMs = clock.ms + ms;
      while (clock.atMs <= endMs) {
        clock.ms = clock.atMs;
        clock.atMs = Number.POSITIVE_INFINITY;
        clock.due();
        await calm();
      }
      clock.ms = endMs;
      await calm();
    },
  };
}

/**
 * All work here is promises over databases in memory and small files, which settle within a few turns of the event
 * loop.
 */
async function calm(): Promise<void> {
  for (let i = 0; i < 20; i++) await tick();
}

function stage({ path, startMs = NOON, workers }: { path?: string; startMs?: number; workers?: () => Worker[] } = {}) {
  const clock = clockAt(startMs);
  const log = recorder();
  const failures: unknown[] = [];
  const database = new ScheduleDatabase({ path, onSetAside: (aside) => failures.push(aside), onFailure: (error) => failures.push(error) });
  const begun: Begun[] = [];
  const scheduler = new Scheduler({
    database,
    clock,
    logger: log.logger,
    workers: workers ?? (() => [{ id: "p", heldUntilMs: undefined, hasHandler: (name) => name !== "nobody" }]),
    call: ({ id, data }, chain, context) => {
      const { promise, resolve } = Promise.withResolvers<FunctionOutcome>();
      const end = async (status: FunctionOutcome["status"] = "ok"): Promise<void> => {
        resolve({ status } as FunctionOutcome);
        await calm();
      };
      begun.push({ id, data, chain, context, end });
      return promise;
    },
  });
  const put = async (job: Partial<NewJob> & { id: string }): Promise<void> => {
    const made = clock.now();
    const due = job.pattern === undefined ? made : nextTime(job.pattern, job.timezone, made);
    await database.put({
      plugin: "p",
      name: "work",
      data: "1",
      pattern: undefined,
      timezone: undefined,
      due,
      made,
      chain: undefined,
      ...job,
    });
    scheduler.expect(job.due ?? due);
    await calm();
  };
  const ids = () => begun.map(({ id }) => id);
  return { clock, log, failures, database, scheduler, begun, put, ids };
}

it("a job is done once, when it is due, and one clock sleeps until then", async () => {
  const { clock, scheduler, database, begun, put, ids } = stage();
  scheduler.open();
  await put({ id: "later", due: NOON + 30_000, data: '{"a":1}' });
  await put({ id: "sooner", due: NOON + 10_000 });
  expect(clock.sleepsUntil()).toBe(NOON + 10_000);
  await clock.pass(9_999);
  expect(begun).toEqual([]);
  await clock.pass(1);
  expect(ids()).toEqual(["sooner"]);
  expect(clock.sleepsUntil()).toBe(NOON + 30_000);
  await begun[0]!.end();
  await clock.pass(10 * MINUTE);
  expect(ids()).toEqual(["sooner", "later"]);
  expect(begun[1]).toMatchObject({ data: '{"a":1}', context: { dueAt: NOON + 30_000 } });
  expect(begun[1]!.context.attempt).toBeUndefined();
  await begun[1]!.end("failed");
  // A failed one has had its attempt.
  await clock.pass(10 * MINUTE);
  expect(await database.list("p")).toEqual([]);
  expect(begun).toHaveLength(2);
  await scheduler.close();
});

it("a cron runs again and again; what it missed while it ran, or while no host was open, is one run", async () => {
  const path = join(folder({}), "schedule.sqlite");
  const first = stage({ path });
  first.scheduler.open();
  await first.put({ id: "c", pattern: "*/5 * * * *" });
  await first.clock.pass(5 * MINUTE);
  await first.begun[0]!.end();
  await first.clock.pass(5 * MINUTE);
  expect(first.begun.map(({ context }) => context.dueAt)).toEqual([NOON + 5 * MINUTE, NOON + 10 * MINUTE]);
  expect(new Set(first.begun.map(({ context }) => context.occurrence)).size).toBe(2);
  // While it runs, no second one begins.
  await first.clock.pass(7 * MINUTE);
  expect(first.begun).toHaveLength(2);
  await first.begun[1]!.end();
  expect(await first.database.list("p")).toMatchObject([{ dueAt: NOON + 20 * MINUTE }]);
  await first.scheduler.close();
  // Three hours later, given again by its plugin, as at every start.
  const second = stage({ path, startMs: NOON + 3 * 60 * MINUTE + MINUTE });
  await second.put({ id: "c", pattern: "*/5 * * * *", data: "2" });
  second.scheduler.open();
  await calm();
  expect(second.begun).toMatchObject([{ data: "2", context: { dueAt: NOON + 20 * MINUTE } }]);
  await second.begun[0]!.end();
  expect(await second.database.list("p")).toMatchObject([{ dueAt: NOON + 3 * 60 * MINUTE + 5 * MINUTE }]);
  // Another pattern is another job.
  await second.put({ id: "c", pattern: "0 9 * * *", timezone: "Asia/Tokyo" });
  expect(await second.database.list("p")).toMatchObject([{ dueAt: Date.UTC(2026, 0, 6), timezone: "Asia/Tokyo" }]);
  await second.scheduler.close();
});

it("a job that was replaced or cancelled while it ran does not take the new one with it", async () => {
  const { clock, scheduler, database, begun, put } = stage();
  scheduler.open();
  await put({ id: "a", due: NOON + 1_000 });
  await clock.pass(1_000);
  await put({ id: "a", due: NOON + 60_000, data: "2" });
  await begun[0]!.end();
  expect(await database.list("p")).toMatchObject([{ id: "a", dueAt: NOON + 60_000 }]);
  expect(await database.cancel("p", "a")).toBe(true);
  expect(await database.cancel("p", "a")).toBe(false);
  expect(await database.cancel("q", "a")).toBe(false);
  await clock.pass(10 * MINUTE);
  expect(begun).toHaveLength(1);
  await scheduler.close();
});

it("jobs without a handler, or of plugins that are missing or held, wait, and no other job waits behind them", async () => {
  let workers: Worker[] = [];
  const { clock, scheduler, begun, put, ids } = stage({ workers: () => workers });
  const ready = { id: "p", heldUntilMs: undefined, hasHandler: (name: string) => name !== "nobody" };
  scheduler.open();
  await put({ id: "lost", name: "nobody" });
  await put({ id: "other", plugin: "gone" });
  await put({ id: "mine" });
  await clock.pass(MINUTE);
  expect(begun).toEqual([]);
  workers = [{ ...ready, heldUntilMs: NOON + 2 * MINUTE }];
  scheduler.look();
  await clock.pass(MINUTE - 1);
  expect(begun).toEqual([]);
  await clock.pass(1);
  expect(ids()).toEqual(["mine"]);
  // It was not called after all: it stays as if it had not begun.
  await begun[0]!.end("quarantined");
  expect(ids()).toEqual(["mine", "mine"]);
  expect(begun[1]!.context.attempt).toBeUndefined();
  workers = [];
  await begun[1]!.end("quarantined");
  await clock.pass(MINUTE);
  expect(begun).toHaveLength(2);
  workers = [{ ...ready, hasHandler: () => true }];
  scheduler.look();
  await calm();
  expect(ids().slice(2)).toEqual(["lost", "mine"]);
  await scheduler.close();
});

it("of many that are due so many run at a time, in their order", async () => {
  const { clock, scheduler, begun, put, ids } = stage();
  const all = Array.from({ length: 3 * LIMITS.schedule.jobsAtOnce }, (_, i) => `j${String(i).padStart(2, "0")}`);
  for (const [i, id] of all.entries()) await put({ id, due: NOON + i });
  await clock.pass(MINUTE);
  scheduler.open();
  await calm();
  expect(ids()).toEqual(all.slice(0, LIMITS.schedule.jobsAtOnce));
  for (let i = 0; i < all.length; i++) await begun[i]!.end();
  expect(ids()).toEqual(all);
  await scheduler.close();
});

it("a job that had not ended when the host closed runs again, and can see that; one that has ended does not", async () => {
  const path = join(folder({}), "schedule.sqlite");
  const first = stage({ path });
  first.scheduler.open();
  for (const id of ["1 ended", "2 late", "3 cut", "4 open"]) await first.put({ id });
  await first.clock.pass(1);
  await first.begun[0]!.end();
  first.scheduler.stop();
  await first.put({ id: "unbegun" });
  // One ends while the host lets calls finish; the other is cut off with the sandbox.
  await first.begun[1]!.end();
  await first.begun[2]!.end("crashed");
  await first.scheduler.close();
  const second = stage({ path, startMs: NOON + MINUTE });
  second.scheduler.open();
  await calm();
  expect(second.begun.map(({ id, context: { attempt } }) => [id, attempt])).toEqual([
    ["3 cut", 2],
    ["4 open", 2],
    ["unbegun", undefined],
  ]);
  expect(second.begun[1]!.context.occurrence).toBe(first.begun[3]!.context.occurrence);
  await second.scheduler.close();
});

it("two hosts with one file share the work: no job is begun by both", async () => {
  const path = join(folder({}), "schedule.sqlite");
  const [a, b] = [stage({ path }), stage({ path })];
  const all = Array.from({ length: 12 }, (_, i) => `j${i}`);
  for (const id of all) await a.put({ id });
  a.scheduler.open();
  b.scheduler.open();
  await calm();
  expect([...a.ids(), ...b.ids()].toSorted()).toEqual(all.toSorted());
  expect(Math.min(a.begun.length, b.begun.length)).toBeGreaterThan(0);
  for (const job of [...a.begun, ...b.begun]) await job.end();
  expect(await a.database.list("p")).toEqual([]);
  await a.scheduler.close();
  await b.scheduler.close();
});

it("a gateway that is killed in the middle of a job leaves it to the next, which begins it at once", async () => {
  const path = join(folder({}), "schedule.sqlite");
  const { database, put } = stage({ path });
  await put({ id: "a" });
  await database.close();
  const child = spawn(process.execPath, ["-C", "source", join(import.meta.dirname, "fixtures/job-worker.ts"), path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  expect(said.toString()).toBe("a 1\n");
  const next = stage({ path });
  next.scheduler.open();
  await calm();
  // It is running.
  expect(next.begun).toEqual([]);
  child.kill("SIGKILL");
  await once(child, "exit");
  next.scheduler.look();
  await calm();
  expect(next.begun).toMatchObject([{ id: "a", context: { attempt: 2 } }]);
  await next.begun[0]!.end();
  expect(await next.database.list("p")).toEqual([]);
  await next.scheduler.close();
}, 20_000);

it("a job that was begun many times and never ended is dropped, and that is logged", async () => {
  const path = join(folder({}), "schedule.sqlite");
  const first = stage({ path });
  await first.put({ id: "deadly" });
  for (let attempt = 1; attempt <= LIMITS.schedule.jobAttempts; attempt++) {
    const life = new ScheduleDatabase({ path, onSetAside: () => {}, onFailure: () => {} });
    expect(await life.begin("p", NOON, 1, () => true)).toMatchObject([{ attempt }]);
    await life.close();
  }
  first.scheduler.open();
  await calm();
  expect(first.begun).toEqual([]);
  expect(first.log.lines).toMatchObject([
    { level: "error", fields: { plugin: "p", job: "deadly", attempts: LIMITS.schedule.jobAttempts } },
  ]);
  expect(await first.database.list("p")).toEqual([]);
  await first.scheduler.close();
});

it("a job continues the chain it was scheduled in; after a while it starts a new one", async () => {
  const chain: Chain = {
    rootRunId: "h-1",
    depth: 3,
    path: ["p:a", "p:b", "p:c"],
    runIds: ["h-1", "h-2", "h-3"],
    by: "p",
    client: undefined,
  };
  const { clock, scheduler, begun, put } = stage();
  scheduler.open();
  await put({ id: "soon", due: NOON + 1_000, chain: JSON.stringify(chain) });
  await put({ id: "late", due: NOON + LIMITS.causality.causeTokenMs, chain: JSON.stringify(chain) });
  await put({ id: "free", due: NOON + LIMITS.causality.causeTokenMs });
  await clock.pass(LIMITS.causality.causeTokenMs);
  expect(begun.map((job) => job.chain.depth)).toEqual([3, 0, 0]);
  expect(begun[0]!.chain).toEqual(chain);
  expect(new Set(begun.map((job) => job.chain.rootRunId)).size).toBe(3);
  await scheduler.close();
});

it("a plugin may have so many jobs; to replace one is always possible", async () => {
  const { database, put } = stage();
  for (let i = 0; i < LIMITS.schedule.jobs; i++) await database.put({ ...blank, id: String(i) });
  await expect(put({ id: "more" })).rejects.toMatchObject({ code: "ERR_SCHEDULE_QUOTA" });
  await put({ id: "7" });
  await put({ id: "more", plugin: "q" });
});
const blank = { plugin: "p", name: "work", data: "1", pattern: undefined, timezone: undefined, due: NOON, made: NOON, chain: undefined };

it("patterns that are invalid, never match, or name seconds, dates or time zones that do not exist are refused quickly", () => {
  const strange = [
    "",
    "* * * * * *",
    "* * * *",
    "99 * * * *",
    "0 0 30 2 *",
    "0 0 31 4,6 *",
    "2030-01-01T00:00:00",
    "@never",
    "a b c d e",
    "* * * * *\n",
    "5/0 * * * *",
  ];
  const startedMs = performance.now();
  for (const pattern of strange)
    expect([pattern, thrownBy(() => nextTime(pattern, undefined, NOON))]).toMatchObject([pattern, { code: "ERR_SCHEDULE_PATTERN" }]);
  expect(thrownBy(() => nextTime("* * * * *", "Nowhere/Else", NOON))).toMatchObject({ code: "ERR_SCHEDULE_PATTERN" });
  expect(performance.now() - startedMs).toBeLessThan(2_000);
  expect(nextTime("@daily", "UTC", NOON)).toBe(Date.UTC(2026, 0, 6));
  expect(nextTime("* * * * *", undefined, NOON)).toBe(NOON + MINUTE);
});
