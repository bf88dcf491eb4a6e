/** Durable observe hooks on one machine: what is kept, how often it is tried, when it is given up, and what people can do about it. */
import { execFileSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, vi } from "vitest";
import { openHost } from "creel";
import type { Host, OpenOptions, PluginSpec } from "creel";
import { Deliveries } from "../../../src/host/durable/deliveries.ts";
import { Outbox, outboxFile } from "../../../src/host/durable/outbox.ts";
import type { DeliveryRow } from "../../../src/host/durable/outbox-tables.ts";
import { HostEvents } from "../../../src/host/report/events.ts";
import type { Facts } from "../../../src/host/report/events.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import type { Call } from "../../../src/protocol/outcome.ts";
import { sessionEndEvent } from "../../../src/sdk/gateway/session-events.ts";
import { creelHere } from "../../support/cli-in-process.ts";
import { folder, QUICK } from "../../support/files.ts";
import { plugin, recorder, silent } from "../../support/host.ts";
import { hasTmpfs } from "../../support/tmpfs.ts";

const stateFolder = () => join(folder({}, QUICK), "state");
const open = (stateDir: string, plugins: PluginSpec[], more: OpenOptions = {}) =>
  openHost({
    isolation: "thread",
    lanes: 1,
    plugins,
    logger: silent,
    config: { stateDir, hooks: { durable: ["session:end"] }, sandbox: { spare: false, walls: "none" }, audit: { enabled: false } },
    ...more,
  });
const plainConfig = (stateDir: string | undefined) => ({
  ...(stateDir !== undefined && { stateDir }),
  sandbox: { spare: false, walls: "none" as const },
  audit: { enabled: false },
});
const asking = (id: string, hooks?: PluginSpec["hooks"]): PluginSpec => ({
  ...plugin(
    id,
    `api.on("session:end", (e, ctx) => console.log(e.sessionKey, ctx.delivery?.attempt ?? "at once"), { durable: true });
     api.on("before_tool_call", () => {}, { durable: true });`,
  ),
  ...(hooks && { hooks }),
});
const end = (sessionKey: string, n = 0) => sessionEndEvent({ sessionId: "s", sessionKey, metadata: { n } });
const factsOf = (host: Host): Facts["delivery"][] => {
  const facts: Facts["delivery"][] = [];
  host.on("delivery", (fact) => void facts.push(fact));
  return facts;
};
const textsOf = (host: Host): string[] => {
  const texts: string[] = [];
  host.on("log", ({ plugin: id, text }) => void texts.push(`${id} ${text}`));
  return texts;
};
/** Says what it hears, and refuses the first attempt at every event of the session "bad". */
const hearer = (id: string) =>
  plugin(
    id,
    `api.on("session:end", (e, ctx) => {
      console.log(e.sessionKey, e.context.metadata.n, ctx.delivery.attempt, ctx.delivery.id);
      if (e.sessionKey === "bad" && "${id}" === "picky" && ctx.delivery.attempt < 2) throw new Error("not now");
    });`,
  );

/** What a host says to this configuration. */
async function wrong(durable: string[], stateDir?: string): Promise<string | void> {
  const config = { hooks: { durable }, ...(stateDir !== undefined && { stateDir }) };
  return openHost({ isolation: "thread", logger: silent, config }).then(
    (host) => host.close(),
    (error: Error) => error.message,
  );
}

/** Writes until the disk is full. */
function fill(path: string): void {
  const file = openSync(path, "w");
  try {
    for (const bytes of [65_536, 4_096, 512]) {
      const block = Buffer.alloc(bytes);
      try {
        for (;;) writeSync(file, block);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      }
    }
  } finally {
    closeSync(file);
  }
}

describe("durable hooks", () => {
  it("are observe hooks, with a state folder: anything else is refused by its place in the configuration", async () => {
    expect(await wrong(["session:end", "before_tool_call"], stateFolder())).toContain("hooks.durable.1");
    expect(await wrong(["session:ended"], stateFolder())).toContain('did you mean "session:end"?');
    expect(await wrong(["session:end"])).toContain("set stateDir");
  });

  it("each plugin gets each event once it accepts it, in order per session, and nobody hears another's retries", async () => {
    await using host = await open(stateFolder(), [hearer("picky"), hearer("easy")]);
    const [facts, texts] = [factsOf(host), textsOf(host)];
    for (const n of [1, 2]) await host.emit("session:end", end("bad", n))?.kept;
    await host.emit("session:end", end("good", 3))?.kept;
    await vi.waitFor(() => expect(facts.filter(({ status }) => status === "delivered")).toHaveLength(6), 10_000);
    const heard = (id: string, session: string) =>
      texts.filter((line) => line.startsWith(`${id} ${session}`)).map((line) => line.split(" ").slice(2, 4).join("/"));
    await vi.waitFor(() => expect(heard("picky", "bad")).toEqual(["1/1", "1/2", "2/1", "2/2"]));
    expect([heard("picky", "good"), heard("easy", "bad"), heard("easy", "good")]).toEqual([["3/1"], ["1/1", "2/1"], ["3/1"]]);
    // The session without trouble did not wait for the other.
    expect(facts.findIndex(({ plugin: id, hook }) => id === "picky" && hook === "session:end")).toBeGreaterThanOrEqual(0);
    const ids = texts.filter((line) => line.startsWith("picky bad 1 ")).map((line) => line.split(" ")[4]);
    expect(ids[0]).toBe(ids[1]);
    // A handler that throws asks for another attempt: no strike.
    expect(host.inspect("picky").circuit).toMatchObject({ state: "closed" });
  });

  it("an event that fails its schema is the caller's error, now; run resolves once the event is kept", async () => {
    await using host = await open(stateFolder(), [hearer("easy")]);
    await expect(host.emit("session:end", { type: "session" } as never)?.kept).rejects.toMatchObject({ code: "ERR_EVENT_INVALID" });
    expect(await host.run("session:end", end("a"))).toMatchObject({ decision: "pass", calls: [] });
  });

  it("an event that stops its cell is tried once more and then given up; people list, show, replay and drop it", async () => {
    const stateDir = stateFolder();
    const lines = recorder();
    const bomb = plugin("bomb", `api.on("session:end", (e) => { if (e.sessionKey === "bomb") for (;;); });`);
    await using host = await open(stateDir, [bomb], { logger: lines.logger });
    const facts = factsOf(host);
    await host.emit("session:end", end("bomb"))?.kept;
    await host.emit("session:end", end("fine"))?.kept;
    await vi.waitFor(() => expect(facts.map(({ status }) => status).toSorted()).toEqual(["dead", "delivered", "failed"]), 20_000);
    expect(lines.lines.filter(({ message }) => message.includes("creel dead list"))).toHaveLength(1);
    const dead = async (...args: string[]) => creelHere("dead", ...args, "--state-dir", stateDir);
    const { id } = facts.find(({ status }) => status === "dead")!;
    expect(JSON.parse((await dead("list", "--json")).out)).toMatchObject([
      { id, plugin: "bomb", session: "bomb", attempts: 2, status: "cpu" },
    ]);
    expect((await dead("list")).out).toContain(id);
    expect((await dead("show", id)).out).toContain('"sessionKey": "bomb"');
    expect((await dead("show", "nobody")).err).toContain("creel dead list");
    expect((await dead("replay")).code).toBe(2);
    expect((await dead("replay", id)).code).toBe(0);
    expect(JSON.parse((await dead("list", "--json")).out)).toEqual([]);
    await host.close();
    const outbox = new Outbox({ stateDir, onSetAside: () => {}, onFailure: () => {} });
    const [row] = await outbox.adopt();
    await outbox.giveUp(row!.seq, { status: "cpu", why: "again", at: 0 });
    await outbox.close();
    expect(JSON.parse((await dead("drop", "--plugin", "bomb", "--json")).out)).toEqual({ dropped: 1 });
    expect((await dead("list")).out).toContain("no event was given up");
  });

  it("a plugin that does not serve gets its events later, and no attempt is counted", async () => {
    const stateDir = stateFolder();
    await using host = await open(stateDir, [hearer("easy")]);
    const [facts, texts] = [factsOf(host), textsOf(host)];
    const source = host.plugins().length;
    expect(source).toBe(1);
    await host.emit("session:end", end("a", 1))?.kept;
    await vi.waitFor(() => expect(facts).toHaveLength(1));
    await host.close();
    // Emitted by a host whose plugin cannot load, delivered by the next.
    const outbox = new Outbox({ stateDir, onSetAside: () => {}, onFailure: () => {} });
    await outbox.add(
      {
        id: "kept",
        hook: "session:end",
        session: "a",
        event: JSON.stringify(end("a", 2)),
        context: "{}",
        chain: undefined,
        plugins: ["easy", "away"],
      },
      () => {},
    );
    await outbox.close();
    await using second = await open(stateDir, [hearer("easy")]);
    const heard = textsOf(second);
    await vi.waitFor(() => expect([...texts, ...heard].filter((line) => line.includes("kept"))).toEqual(["easy a 2 1 kept"]), 10_000);
    await second.close();
    const rest = new Outbox({ stateDir, onSetAside: () => {}, onFailure: () => {} });
    expect(await rest.adopt()).toMatchObject([{ plugin: "away" }]);
    await rest.close();
  });

  it("emit never blocks on another process that holds the file", async () => {
    const stateDir = stateFolder();
    await using host = await open(stateDir, [hearer("easy")]);
    const other = new DatabaseSync(outboxFile(stateDir), { timeout: 0 });
    other.exec("BEGIN IMMEDIATE");
    let isKept = false;
    const startedMs = performance.now();
    const kept = host.emit("session:end", end("a"))!.kept.then(() => (isKept = true));
    expect(performance.now() - startedMs).toBeLessThan(1_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isKept).toBe(false);
    other.exec("COMMIT");
    other.close();
    await kept;
  });
});

describe("a plugin that asks for durable events", () => {
  it("gets them if the operator allows it; the others are called at once, and inspect says who asked in vain", async () => {
    const plain = plugin("plain", `api.on("session:end", (e, ctx) => console.log(e.sessionKey, ctx.delivery?.attempt ?? "at once"));`);
    const plugins = [asking("allowed", { durable: true }), asking("unheard"), asking("denied", { durable: false }), plain];
    await using host = await open(stateFolder(), plugins, { config: plainConfig(stateFolder()) });
    const texts = textsOf(host);
    await host.emit("session:end", end("a"))?.kept;
    await vi.waitFor(
      () => expect(texts.toSorted()).toEqual(["allowed a 1", "denied a at once", "plain a at once", "unheard a at once"]),
      10_000,
    );
    const outcome = await host.run("session:end", end("b"));
    expect(outcome.calls.map(({ plugin: id }) => id).toSorted()).toEqual(["denied", "plain", "unheard"]);
    expect((await host.run("session:end", end("c"), {}, { plugin: "allowed" })).calls).toEqual([]);
    await vi.waitFor(() => expect(texts).toContain("allowed c 1"), 10_000);
    const said = (id: string) => host.inspect(id).diagnostics.filter((line) => line.includes("durable"));
    const kind = '"durable" has no effect on "before_tool_call": only observe hooks can be delivered later';
    expect(said("unheard")).toEqual([expect.stringContaining("plugins.entries.unheard.hooks.durable") as string, kind]);
    expect([said("allowed"), said("denied")]).toEqual([[kind], [kind]]);
    expect(host.inspect("allowed").hooks.map(({ hook, isDurable }) => [hook, isDurable])).toEqual([
      ["session:end", true],
      ["before_tool_call", false],
    ]);
    expect(await host.stats()).toMatchObject({ outbox: { dead: 0, limitBytes: expect.any(Number) as number } });
  });

  it("is refused without a state folder, by its place in the configuration", async () => {
    const opened = open("", [asking("allowed", { durable: true })], { config: plainConfig(undefined) });
    await expect(opened).rejects.toThrow("plugins.0.hooks.durable");
  });

  it("whose host could not load it gets what was emitted meanwhile", async () => {
    const stateDir = stateFolder();
    const dir = folder(
      { "creel.plugin.json": JSON.stringify({ id: "late", main: "index.js", hooks: ["session:end"] }), "index.js": "(" },
      QUICK,
    );
    const spec: PluginSpec = { path: dir, hooks: { durable: true } };
    await using host = await open(stateDir, [spec], { config: plainConfig(stateDir), allowFailed: true });
    const texts = textsOf(host);
    await host.emit("session:end", end("a"))?.kept;
    writeFileSync(
      join(dir, "index.js"),
      `export default (api) => { api.on("session:end", (e) => console.log(e.sessionKey), { durable: true }); };`,
    );
    expect(await host.reload("late")).toMatchObject({ status: "ready" });
    await vi.waitFor(() => expect(texts).toEqual(["late a"]), 10_000);
  });
});

describe("the outbox", () => {
  const event = { hook: "session:end", session: "", event: "{}", context: "{}", chain: undefined };
  const quiet = { onSetAside: () => {}, onFailure: () => {} };

  it("refuses what is over its quota, all or none, and takes more when rows are gone", async () => {
    const outbox = new Outbox({ stateDir: stateFolder(), quotaBytes: 600, ...quiet });
    await outbox.add({ ...event, id: "a", plugins: ["p", "q"] }, () => {});
    await expect(outbox.add({ ...event, id: "b", plugins: ["p", "q"] }, () => {})).rejects.toMatchObject({ code: "ERR_OUTBOX_FULL" });
    const rows = await outbox.adopt();
    expect(rows.map(({ plugin: id }) => id)).toEqual(["p", "q"]);
    for (const { seq } of rows) await outbox.delivered((await outbox.begin(seq))!);
    await outbox.add({ ...event, id: "b", plugins: ["p"] }, () => {});
    await outbox.close();
  });

  it.skipIf(!hasTmpfs)(
    "refuses events before the disk is full, and a full disk makes no delivered event come again (needs root)",
    async () => {
      const disk = folder({}, QUICK);
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=20m", "tmpfs", disk]);
      try {
        const outbox = new Outbox({ stateDir: join(disk, "state"), ...quiet });
        await outbox.adopt();
        const large = { ...event, event: JSON.stringify("x".repeat(200_000)), plugins: ["p"] };
        let kept = 0;
        await expect(
          (async () => {
            for (; kept < 100; kept++) await outbox.add({ ...large, id: String(kept) }, () => {});
          })(),
        ).rejects.toMatchObject({ code: "ERR_OUTBOX_FULL" });
        expect(kept).toBeGreaterThan(2);
        const rows = await outbox.adopt();
        expect(rows).toHaveLength(kept);
        const first = (await outbox.begin(rows[0]!.seq))!;
        fill(join(disk, "filler"));
        await expect(outbox.begin(rows[1]!.seq)).rejects.toMatchObject({ code: "ERR_STORE_FAILED" });
        await outbox.delivered(first);
        rmSync(join(disk, "filler"));
        await outbox.adopt();
        expect(await outbox.begin(first.seq)).toBeUndefined();
        expect((await outbox.report()).waiting).toBe(kept - 1);
        await outbox.close();
      } finally {
        execFileSync("umount", [disk]);
      }
    },
  );

  it("rows of a host that lives are left alone; those of one that has ended are taken over, in order", async () => {
    const stateDir = stateFolder();
    const first = new Outbox({ stateDir, ...quiet });
    const second = new Outbox({ stateDir, ...quiet });
    for (const id of ["a", "b"]) await first.add({ ...event, id, plugins: ["p"] }, () => {});
    expect(await second.adopt()).toEqual([]);
    await first.close();
    expect((await second.adopt()).map(({ seq }) => seq)).toEqual([1, 2]);
    await second.close();
  });

  it("a row is given up by its age, however often it was tried, and not before", async () => {
    const clock = { ms: 0 };
    const outbox = new Outbox({ stateDir: stateFolder(), now: () => clock.ms, ...quiet });
    const failed: Call = {
      plugin: "p",
      priority: 0,
      status: "failed",
      wallMs: 1,
      cpuMs: 1,
      error: { code: "ERR_CALL_FAILED", message: "no" },
    };
    const attempts: number[] = [];
    const deliveries = new Deliveries({
      outbox,
      events: new HostEvents("h", () => {}),
      logger: silent,
      now: () => clock.ms,
      deliver: async ({ attempt }: DeliveryRow) => {
        attempts.push(attempt);
        return [failed];
      },
    });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      await outbox.add({ ...event, id: "a", plugins: ["p"] }, (rows) => deliveries.take(rows));
      await deliveries.open();
      for (let at = 0; at < 40; at++) await vi.advanceTimersByTimeAsync(LIMITS.outbox.longestPauseMs);
      expect(attempts.length).toBeGreaterThan(30);
      expect(await outbox.dead()).toEqual([]);
      clock.ms = LIMITS.outbox.maxAgeMs + 1;
      await vi.advanceTimersByTimeAsync(LIMITS.outbox.longestPauseMs);
      expect(await outbox.dead()).toMatchObject([{ id: "a", attempt: attempts.length }]);
    } finally {
      vi.useRealTimers();
      deliveries.stop();
      await outbox.close();
    }
  });

  it("what nobody listens to any more is dropped, and never reported as delivered", async () => {
    const outbox = new Outbox({ stateDir: stateFolder(), ...quiet });
    const events = new HostEvents("h", () => {});
    const told = Promise.withResolvers<Facts["delivery"]>();
    events.on("delivery", told.resolve);
    const deliveries = new Deliveries({ outbox, events, logger: silent, now: Date.now, deliver: async () => "gone" });
    await deliveries.open();
    await outbox.add({ ...event, id: "a", plugins: ["p"] }, (rows) => deliveries.take(rows));
    expect(await told.promise).toMatchObject({ id: "a", status: "dropped", why: expect.stringContaining("does not listen") as string });
    expect((await outbox.report()).waiting).toBe(0);
    deliveries.stop();
    await outbox.close();
  });
});
