/** The harness's clock and store: time that moves when the test says so, in the real sandbox, and entries that are there before the plugin. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHarness } from "creel/testing";
import type { Harness } from "creel/testing";
import { contract } from "../../support/host.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = new Date("2026-03-01T12:30:00.000Z");

const SOURCE = `
import { setTimeout as sleep } from "node:timers/promises";
export default (api) => {
  const say = (text) => api.logger.info(text);
  const time = () => new Date().toISOString();
  const doings = {
    time: () => [time(), new Date(Date.now()).toISOString(), Math.round(performance.timeOrigin + performance.now())].join(" "),
    dates: () => [new Date(0).toISOString(), new Date(2020, 0, 1) instanceof Date, Date().includes("2026"), Date.UTC(1970, 0, 2), new Date(5).constructor === Date].join(" "),
    hrtime: () => { const since = process.hrtime.bigint(); return String(since / 1_000_000n); },
    once: ({ ms }) => { setTimeout(() => say("rang at " + time()), ms); },
    stopped: () => { const timer = setTimeout(() => say("never"), 10); clearTimeout(timer); },
    every: ({ ms }) => { let rounds = 0; const timer = setInterval(() => { say("round " + ++rounds + " at " + time()); if (rounds === 3) clearInterval(timer); }, ms); },
    sleeper: async ({ ms }) => { const from = performance.now(); await sleep(ms); return "slept " + (performance.now() - from); },
    immediate: () => new Promise((resolve) => setImmediate(() => resolve("at once"))),
    chain: () => { setTimeout(async () => { await api.kv.set("chained", time()); setTimeout(() => say("second at " + time()), 1_000); }, 1_000); },
    abort: async ({ ms }) => { try { await fetch("https://slow.example.com/", { signal: AbortSignal.timeout(ms) }); } catch (error) { return error.name; } },
    put: ({ key, ttlMs }) => api.kv.set(key, { at: time() }, { ttlMs }),
    get: ({ key }) => api.kv.get(key).then((found) => JSON.stringify(found) ?? "nothing"),
    delay: ({ ms }) => api.schedule.delay("job", ms),
    cron: ({ pattern }) => api.schedule.cron("cron", pattern, { timezone: "UTC" }),
    jobs: () => api.schedule.list().then((jobs) => jobs.map(({ name, dueAt }) => name + "@" + dueAt.toISOString()).join()),
    wake: async () => { setTimeout(() => { const end = 1e12; for (let i = 0; i < end; i++); }, 1_000); },
  };
  api.schedule.on("job", (_, job) => say("job at " + time() + " due " + job.dueAt.toISOString()));
  api.schedule.on("cron", () => say("cron at " + time()));
  const loaded = api.kv.get("seen");
  api.on("message_sending", async (event) => {
    const { does, ...argument } = JSON.parse(event.content);
    return { content: String(await doings[does](argument)) };
  });
  api.on("message_sent", async () => say("loaded with " + JSON.stringify(await loaded)));
};
`;

const plugin = { id: "timely", source: SOURCE };
const permissions = ["kv", "schedule", "fetch:https://slow.example.com"];

const doing = (harness: Harness, does: string, argument: object = {}): Promise<string | undefined> =>
  harness
    .run("message_sending", { to: "user", content: JSON.stringify({ does, ...argument }) }, { channelId: "chat" })
    .then(({ result }) => result?.content);
const lines = (harness: Harness, since = 0): string[] => harness.logs.slice(since).map(({ text }) => text);
const later = (ms: number): string => new Date(START.getTime() + ms).toISOString();

contract("the harness's clock", (isolation) => {
  const fresh = (): Promise<Harness> => createHarness({ plugin, permissions, isolation, clock: START });
  let harness: Harness;
  let from = 0;
  const now = (): number => harness.now.getTime() - START.getTime();
  beforeAll(async () => {
    harness = await fresh();
  });
  afterAll(() => harness.close());

  it("is what the plugin's Date, performance and hrtime show, and stands still", async () => {
    const at = START.getTime();
    expect(await doing(harness, "time")).toBe(`${later(0)} ${later(0)} ${at}`);
    const ticks = Number(await doing(harness, "hrtime"));
    await harness.advance(90_000);
    expect(await doing(harness, "time")).toBe(`${later(90_000)} ${later(90_000)} ${at + 90_000}`);
    expect(Number(await doing(harness, "hrtime")) - ticks).toBe(90_000);
    expect(await doing(harness, "dates")).toBe("1970-01-01T00:00:00.000Z true true 86400000 true");
  });

  it("rings timers in the order of their times, each at its own time, those that timers start as well", async () => {
    from = harness.logs.length;
    const begun = now();
    await doing(harness, "every", { ms: 10_000 });
    await doing(harness, "once", { ms: 15_000 });
    await doing(harness, "stopped");
    await doing(harness, "chain");
    await harness.advance(9_999);
    expect(lines(harness, from)).toEqual([`second at ${later(begun + 2_000)}`]);
    expect(await harness.kv.get("chained")).toBe(later(begun + 1_000));
    await harness.advance(HOUR);
    expect(lines(harness, from).slice(1)).toEqual([
      `round 1 at ${later(begun + 10_000)}`,
      `rang at ${later(begun + 15_000)}`,
      `round 2 at ${later(begun + 20_000)}`,
      `round 3 at ${later(begun + 30_000)}`,
    ]);
  });

  it("ends what a handler waits for, and does not hold up setImmediate", async () => {
    expect(await doing(harness, "immediate")).toBe("at once");
    const slept = doing(harness, "sleeper", { ms: 5_000 });
    await harness.advance(5_000);
    expect(await slept).toBe("slept 5000");
  });

  it("runs jobs and crons when they are due", async () => {
    from = harness.logs.length;
    const begun = now();
    await doing(harness, "delay", { ms: 20 * MINUTE });
    await doing(harness, "cron", { pattern: "0 * * * *" });
    const due = [later(begun + 20 * MINUTE), new Date(Math.ceil((START.getTime() + begun) / HOUR) * HOUR).toISOString()] as const;
    expect((await doing(harness, "jobs"))!.split(",").toSorted()).toEqual([`cron@${due[1]}`, `job@${due[0]}`]);
    expect(lines(harness, from)).toEqual([]);
    await harness.advance(3 * HOUR);
    expect(lines(harness, from).filter((line) => line.startsWith("job"))).toEqual([`job at ${due[0]} due ${due[0]}`]);
    const hours = [0, 1, 2].map((more) => `cron at ${new Date(new Date(due[1]).getTime() + more * HOUR).toISOString()}`);
    expect(lines(harness, from).filter((line) => line.startsWith("cron"))).toEqual(hours);
  });

  it("ends the lifetimes of entries", async () => {
    await doing(harness, "put", { key: "brief", ttlMs: MINUTE });
    await harness.advance(MINUTE - 1);
    expect(await doing(harness, "get", { key: "brief" })).not.toBe("nothing");
    await harness.advance(1);
    expect(await doing(harness, "get", { key: "brief" })).toBe("nothing");
    expect(await harness.kv.get("brief")).toBeUndefined();
  });

  it("goes on without a server that does not answer, and so reaches the plugin's own timeout", async () => {
    harness.network("https://slow.example.com", () => new Promise(() => {}));
    const aborted = doing(harness, "abort", { ms: 30_000 });
    await expect.poll(() => harness.fetches.length).toBe(1);
    await harness.advance(30_000);
    expect(await aborted).toBe("TimeoutError");
  });

  it("survives a reload, and a cell that a timer has cost", async () => {
    await using own = await fresh();
    await doing(own, "wake");
    await doing(own, "once", { ms: 2_000 });
    await own.advance(1_500);
    await own.host.reload("timely");
    await own.advance(500);
    expect(await doing(own, "time")).toContain(later(2_000));
    expect(lines(own).filter((line) => line.startsWith("rang"))).toEqual([]);
    await doing(own, "once", { ms: 10 });
    await own.advance(10);
    expect(lines(own).at(-1)).toBe(`rang at ${later(2_010)}`);
  });
});

describe("the harness's clock", () => {
  it("is real unless it is asked for, and refuses steps that are none", async () => {
    await using real = await createHarness({ plugin, permissions });
    await expect(real.advance(1)).rejects.toThrow('create it with clock: "fake"');
    expect(() => real.now).toThrow('create it with clock: "fake"');
    expect(Math.abs(Date.parse((await doing(real, "time"))!.split(" ")[0]!) - Date.now())).toBeLessThan(MINUTE);
    await using fake = await createHarness({ plugin, permissions, clock: "fake" });
    for (const ms of [-1, Number.NaN, Infinity]) await expect(fake.advance(ms)).rejects.toThrow("time moves by 0 ms or more");
    await expect(createHarness({ plugin, clock: new Date("no date") })).rejects.toThrow("a valid Date");
  });

  it("moves the time of a plugin whose coverage is taken, too", async () => {
    await using harness = await createHarness({ plugin, permissions, clock: START, coverage: true });
    await doing(harness, "chain");
    await harness.advance(HOUR);
    expect(lines(harness)).toEqual([`second at ${later(2_000)}`]);
  });
});

describe("the harness's entries", () => {
  it("are there when the plugin is loaded, can be read and changed by the test, and outlive a reload", async () => {
    await using harness = await createHarness({ plugin, permissions, kv: { seen: { count: 3 }, "a/b": [1, null] } });
    await harness.emit("message_sent", { to: "user", content: "x", success: true }, { channelId: "chat" });
    expect(lines(harness)).toEqual(['loaded with {"count":3}']);
    expect(await doing(harness, "get", { key: "a/b" })).toBe("[1,null]");
    await doing(harness, "put", { key: "new" });
    expect(Object.keys(await harness.kv.entries())).toEqual(["a/b", "new", "seen"]);
    expect(await harness.kv.delete("a/b")).toBe(true);
    await harness.kv.set("seen", 4);
    await harness.host.reload("timely");
    expect(await doing(harness, "get", { key: "seen" })).toBe("4");
    expect(await harness.kv.get("a/b")).toBeUndefined();
  });

  it("are refused when the store would not take them", async () => {
    const made = (kv: Record<string, unknown>): Promise<Harness> => createHarness({ plugin, permissions, kv });
    await expect(made({ "": 1 })).rejects.toThrow('the entry "" cannot be stored');
    await expect(made({ fn: () => 1 })).rejects.toThrow('the entry "fn" cannot be stored');
    const big = createHarness({ plugin, grants: { kv: { maxBytes: 1_000 } }, kv: { big: "x".repeat(2_000) } });
    await expect(big).rejects.toThrow(/1000 bytes/);
  });
});
