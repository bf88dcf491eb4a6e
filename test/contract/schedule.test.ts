/** `api.schedule`, asked from inside a cell: jobs are done, survive restarts and a real kill, wait for their plugin, and cannot hide a loop. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Facts, Host, PluginSpec, SessionPatch } from "creel";
import { LIMITS } from "../../src/protocol/limits.ts";
import { folder } from "../support/files.ts";
import { contract, next, open, plugin, recorder, sharedHost } from "../support/host.ts";

/** Does whatever a test wants, with `schedule` in scope; says every job it does. An error becomes its code, or its message. */
const DOER = `
const settle = (work) => Promise.resolve().then(work).catch((error) => error.code ?? error.message);
api.schedule.on("say", (data, job) => { api.logger.info("did " + JSON.stringify([data, job.name, job.attempt, job.dueAt instanceof Date])); return () => "no data"; });
api.schedule.on("throw", () => { throw new Error("no"); });
api.schedule.on("for ever", (data) => { api.logger.info("began " + data); return new Promise(() => {}); }, { timeoutMs: 20 });
api.on("message_sending", async ({ content }) => ({
  metadata: { answer: await new Function("schedule", "settle", "api", "return (async () => {" + content + "})()")(api.schedule, settle, api) },
}));`;

const doer = (id: string, more: Partial<PluginSpec> = {}) => plugin(id, DOER, { grants: { schedule: true }, ...more });

async function ask(host: Pick<Host, "run">, id: string, content: string): Promise<unknown> {
  const outcome = await host.run("message_sending", { to: "u", content }, { channelId: "chat" }, { plugin: id });
  expect(outcome.calls).toMatchObject([{ status: "ok" }]);
  return outcome.result?.metadata?.answer;
}

/** A new version has forgotten the handler of its jobs. */
const lost = plugin("lost", `void api.schedule.delay("old name", 1);`, { grants: { schedule: true } });

const did = (host: Pick<Host, "on">, data: string): Promise<Facts["log"]> =>
  next(host, "log", ({ text }) => text.startsWith(`did [${data},`));

contract("schedule", (isolation) => {
  const shared = sharedHost(isolation, { plugins: [doer("a"), doer("b"), doer("none", { grants: {} }), lost] });

  it("a job is done when its time has come, with its data, and is gone then", async () => {
    const { host } = shared;
    const done = did(host, '{"to":["x"]}');
    const id = await ask(host, "a", `return schedule.delay("say", 1, { to: ["x"] })`);
    expect((await done).text).toBe('did [{"to":["x"]},"say",1,true]');
    expect(id).toMatch(/^[\w-]{12}$/);
    await expect.poll(() => ask(host, "a", `return schedule.list()`), { timeout: 10_000 }).toEqual([]);
  });

  it("the operator sees which jobs wait for a handler", async () => {
    const { host } = shared;
    await expect
      .poll(() => host.inspect("lost").diagnostics, { timeout: 10_000 })
      .toEqual(['jobs wait for a handler named "old name", which the plugin does not declare']);
  });

  it("jobs are listed, replaced and cancelled by their ids, and are nobody else's", async () => {
    const { host } = shared;
    expect(
      await ask(
        host,
        "a",
        `await schedule.delay("say", 60_000, "old", { id: "one" });
         await schedule.delay("say", 3_600_000, "new", { id: "one" });
         await schedule.cron("say", "0 9 * * 1-5", null, { timezone: "Europe/Berlin" });
         await schedule.cron("say", "0 9 * * 1-5", null, { timezone: "Europe/Berlin" });
         const jobs = await schedule.list();
         return jobs.map(({ dueAt, ...job }) => [job, dueAt > new Date()]).sort(([a], [b]) => a.id.localeCompare(b.id));`,
      ),
    ).toEqual([
      [{ id: "one", name: "say" }, true],
      [{ id: "say", name: "say", pattern: "0 9 * * 1-5", timezone: "Europe/Berlin" }, true],
    ]);
    expect(await ask(host, "b", `return [await schedule.list(), await schedule.cancel("one")]`)).toEqual([[], false]);
    expect(
      await ask(
        host,
        "a",
        `return [await schedule.cancel("one"), await schedule.cancel("say"), await schedule.cancel("one"), await schedule.list()]`,
      ),
    ).toEqual([true, true, false, []]);
  });

  it("what cannot be scheduled is refused with a code, and schedules nothing", async () => {
    const { host } = shared;
    const refused = (await ask(
      host,
      "b",
      `const tries = {
         "no handler": () => schedule.delay("nobody", 1), "no name": () => schedule.cron(undefined, "* * * * *"), "a late handler": () => schedule.on("late", () => {}),
         "a function": () => schedule.delay("say", 1, () => 1), "a bigint": () => schedule.delay("say", 1, 1n),
         "a negative delay": () => schedule.delay("say", -1), "no delay": () => schedule.delay("say"), "an endless one": () => schedule.delay("say", Infinity),
         "a very long one": () => schedule.delay("say", 1e15), "text": () => schedule.delay("say", "5"), "much data": () => schedule.delay("say", 1, "é".repeat(${LIMITS.schedule.jobDataBytes / 2})),
         "a strange id": () => schedule.delay("say", 1, 0, { id: "a\\nb" }), "half an id": () => schedule.delay("say", 1, 0, { id: "\\ud83e" }), "an empty id": () => schedule.delay("say", 1, 0, { id: "" }),
         "seconds": () => schedule.cron("say", "* * * * * *"), "no pattern": () => schedule.cron("say", "often"), "never": () => schedule.cron("say", "0 0 30 2 *"),
         "a date": () => schedule.cron("say", "2040-01-01T00:00:00"), "nowhere": () => schedule.cron("say", "* * * * *", 0, { timezone: "Mars/Base" }),
         "a long pattern": () => schedule.cron("say", "*".repeat(${LIMITS.schedule.cronChars + 1})),
       };
       const answers = {};
       for (const [name, attempt] of Object.entries(tries)) answers[name] = await settle(attempt);
       return [answers, await schedule.list()];`,
    )) as [Record<string, string>, unknown];
    const [answers, rest] = refused;
    const codes = Object.groupBy(Object.keys(answers), (name) => (answers[name]!.startsWith("ERR_") ? answers[name]! : "in the cell"));
    expect(codes).toEqual({
      "in the cell": ["no handler", "no name", "a late handler", "a function", "a bigint"],
      ERR_SERVICE_ARGUMENT: expect.arrayContaining([
        "a negative delay",
        "much data",
        "a strange id",
        "half an id",
        "a long pattern",
      ]) as string[],
      ERR_SCHEDULE_PATTERN: ["seconds", "no pattern", "never", "a date", "nowhere"],
    });
    expect(rest).toEqual([]);
    expect(
      await ask(
        host,
        "none",
        `return Promise.all([settle(() => schedule.delay("say", 1)), settle(() => schedule.list()), settle(() => schedule.cancel("x"))])`,
      ),
    ).toEqual(Array(3).fill("ERR_GRANT_MISSING"));
    expect(
      await ask(
        host,
        "b",
        `for (let i = 0; i < 150; i++) { const code = await settle(() => schedule.cron("say", "0 0 30 2 *")); if (code === "ERR_SCHEDULE_RATE") return code; }`,
      ),
    ).toBe("ERR_SCHEDULE_RATE");
  });

  it("a job has the budgets of a call; one that fails has had its turn", async () => {
    const { host } = shared;
    const calls: string[] = [];
    const both = next(host, "call", ({ hook, call }) => hook === "job" && calls.push(`${call.status} ${call.error?.code}`) === 2);
    await ask(host, "a", `await schedule.delay("throw", 1); await schedule.delay("for ever", 1)`);
    await both;
    expect(calls.toSorted()).toEqual(["failed ERR_CALL_FAILED", "timeout ERR_CALL_TIMEOUT"]);
    await expect.poll(() => ask(host, "a", `return schedule.list()`), { timeout: 10_000 }).toEqual([]);
  });

  it("jobs that wait when the host closes are done after the next start, once", async () => {
    const stateDir = folder({});
    const log = recorder();
    const start = () => open(isolation, { config: { stateDir }, plugins: [doer("a")], logger: log.logger });
    {
      await using host = await start();
      await ask(
        host,
        "a",
        `await schedule.delay("say", 100, "missed"); await schedule.delay("say", 150, "too"); await schedule.delay("say", 1e9, "not yet")`,
      );
    }
    await using host = await start();
    await expect.poll(() => ask(host, "a", `return (await schedule.list()).length`), { timeout: 10_000 }).toBe(1);
    const told = log.lines.filter(({ message }) => message === "plugin log").map(({ fields }) => fields.text);
    expect(told).toEqual(['did ["missed","say",1,true]', 'did ["too","say",1,true]']);
  });

  it("a plugin that is disabled finds its jobs when it is back", async () => {
    const { host } = shared;
    const [mine, other] = [did(host, '"mine"'), did(host, '"other"')];
    await ask(host, "a", `await schedule.delay("say", 100, "mine")`);
    host.disable("a");
    // Due later than the first, which waits all the same.
    await ask(host, "b", `await schedule.delay("say", 120, "other")`);
    expect((await other).plugin).toBe("b");
    let isDone = false;
    void mine.then(() => (isDone = true));
    // Whatever the job had said would be here by now.
    await ask(host, "b", `return 1`);
    expect(isDone).toBe(false);
    await host.reload("a");
    expect((await mine).plugin).toBe("a");
  });

  it("a loop of patches and jobs stops at the depth limit, while a job that comes again and again does not", async () => {
    const applied: SessionPatch[] = [];
    const patchSession = async (patch: SessionPatch) => ({ sessionEntry: { n: applied.push(patch) } });
    await using host = await open(isolation, {
      gateway: { patchSession },
      plugins: [
        plugin(
          "loop",
          `api.schedule.on("patch", (key) => api.session.patch({ key }).catch((error) => api.logger.error(error.code)));
           api.on("session:patch", (event) => { if (event.sessionKey === "agent:main:loop") return api.schedule.delay("patch", 1, event.sessionKey); }, { reentrant: true });`,
          { grants: { schedule: true, session: ["patch"] } },
        ),
        plugin(
          "steady",
          `let n = 0;
           api.schedule.on("again", async (key) => {
             await api.session.patch({ key }).catch((error) => api.logger.error(error.code));
             if (++n === ${LIMITS.causality.recursionDepth + 2}) return api.logger.info("enough");
             await api.schedule.delay("again", 1, key);
           });
           api.on("message_sending", () => void api.schedule.delay("again", 1, "agent:main:steady"));`,
          { grants: { schedule: true, session: ["patch"] } },
        ),
      ],
    });
    const stopped = next(host, "recursion");
    const enough = next(host, "log", ({ plugin: id }) => id === "steady");
    await host.run("message_sending", { to: "u", content: "" }, { channelId: "chat" });
    await host.patchSession({ key: "agent:main:loop" });
    expect(await stopped).toMatchObject({
      plugin: "loop",
      limit: "depth",
      chain: { path: Array(LIMITS.causality.recursionDepth + 1).fill("loop:job") },
    });
    // The first came from outside.
    expect(applied.filter(({ key }) => key === "agent:main:loop")).toHaveLength(LIMITS.causality.recursionDepth + 1);
    expect((await enough).text).toBe("enough");
  });
});

it("a gateway that is killed in the middle of a job does it again after its start, and tells the job", async () => {
  const stateDir = folder({});
  const gateway = () =>
    spawn(process.execPath, ["-C", "source", join(import.meta.dirname, "fixtures/job-gateway.ts"), stateDir], {
      stdio: ["ignore", "pipe", "inherit"],
    });
  const first = gateway();
  const [said] = (await once(first.stdout, "data")) as [Buffer];
  expect(said.toString()).toMatch(/^begun 1 \S+\n$/);
  first.kill("SIGKILL");
  await once(first, "exit");
  expect(existsSync(join(stateDir, "schedule.sqlite"))).toBe(true);
  const second = gateway();
  const [again] = (await once(second.stdout, "data")) as [Buffer];
  // The same occurrence.
  expect(again.toString()).toBe(said.toString().replace("begun 1", "begun 2"));
  second.kill("SIGKILL");
  await once(second, "exit");
}, 30_000);
