/** Crons and services of plugins in a fleet of real processes: once for all hosts, also when one of them is killed, stopped or cut off. */
import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Bus } from "../../../src/fleet/bus.ts";
import { FleetDuties } from "../../../src/fleet/duties/shared-duties.ts";
import { makeSigningKey } from "../../../src/fleet/control/signature.ts";
import { Operator } from "../../../src/fleet/control/operator.ts";
import { connectNats } from "../../../src/fleet/nats.ts";
import { accountsConfig } from "../../../src/fleet/permissions.ts";
import { BUCKETS } from "../../../src/fleet/subjects.ts";
import type { Claimed, Occurrence } from "../../../src/host/duties.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { folder } from "../../support/files.ts";
import { startHostProcess } from "../../support/fleet-failures.ts";
import { settingsOf } from "../../support/fleet.ts";
import { plugin, recorder, silent } from "../../support/host.ts";
import { keysOf, Nats, noNats } from "../../support/nats.ts";
import { serve } from "../../support/server.ts";

const NAMES = ["one", "two", "three"];
const occurrence: Occurrence = { plugin: "p", id: "daily", pattern: "0 0 * * *", timezone: null, due: 1_000 };

const dutiesOf = (bus: Bus, name: string, run = "r1") => new FleetDuties({ bus, name, run, logger: silent });

/** As the scheduler does: again, while nobody can say. */
async function claimed(duties: FleetDuties, wanted: Occurrence): Promise<Claimed> {
  for (;;) {
    const said = await duties.claim(wanted);
    if (said !== "unknown") return said;
    await sleep(100);
  }
}

describe.skipIf(noNats !== undefined)("what plugins do without being called", () => {
  const keys = Object.fromEntries(NAMES.map((name) => [name, keysOf(name, "host")]));
  const boss = keysOf("boss", "operator");
  const children = new Map<string, ChildProcess>();
  const buses: Bus[] = [];
  let nats: Nats;
  let operator: Operator;
  const connected = async (name: string): Promise<Bus> => {
    const bus = await connectNats(nats.accessOf(keys[name]!));
    buses.push(bus);
    return bus;
  };

  beforeAll(async () => {
    nats = await Nats.start({ acme: [...Object.values(keys), boss] });
    operator = await Operator.listen(await connectNats(nats.accessOf(boss)));
  }, 60_000);
  afterAll(async () => {
    for (const child of children.values()) child.kill("SIGKILL");
    for (const bus of buses) await bus.close();
    await operator?.[Symbol.asyncDispose]();
    await nats?.[Symbol.asyncDispose]();
  });

  it("is done by each host as long as no operator has made a place for claims, and that is said once", async () => {
    const { logger, lines } = recorder();
    const duties = new FleetDuties({ bus: await connected("one"), name: "one", run: "r1", logger });
    expect([await duties.claim(occurrence), await duties.claim(occurrence)]).toEqual(["mine", "mine"]);
    expect(lines.filter(({ message }) => message.includes("creel fleet push"))).toHaveLength(1);
    await operator.makeDuties(1);
    expect(await duties.claim(occurrence)).toBe("mine");
    expect(await dutiesOf(await connected("two"), "two").claim(occurrence)).toBe("taken");
  });

  it("of all that claim one time of a cron one gets it; a time that is past, too; another pattern is another cron", async () => {
    const all = await Promise.all(NAMES.map(async (name) => dutiesOf(await connected(name), name)));
    for (let due = 2_000; due < 2_020; due++) {
      const said = await Promise.all(all.map((duties) => duties.claim({ ...occurrence, due })));
      expect(said.toSorted()).toEqual(["mine", "taken", "taken"]);
    }
    const [first, second] = all as [FleetDuties, FleetDuties];
    expect(await first.claim({ ...occurrence, id: "b" })).toBe("mine");
    // It was cut off by a crash, and its own store has it run again.
    expect(await first.claim({ ...occurrence, id: "b" })).toBe("mine");
    expect(await second.claim({ ...occurrence, id: "b", due: 999 })).toBe("taken");
    expect(await second.claim({ ...occurrence, id: "b", due: 999, pattern: "* * * * *" })).toBe("mine");
    await nats.kill();
    await expect.poll(() => second.claim({ ...occurrence, due: 5_000 }), { timeout: 10_000 }).toBe("unknown");
    await nats.restart();
    await expect.poll(() => second.claim({ ...occurrence, due: 5_000 }), { timeout: 10_000 }).toBe("mine");
  });

  it("of three servers the leader is killed: each time of a cron is still one host's", { timeout: 90_000 }, async () => {
    await using cluster = await Nats.start({ acme: [...Object.values(keys), boss] }, 3);
    await using maker = await Operator.listen(await connectNats(cluster.accessOf(boss)));
    const made = () =>
      maker.makeDuties(3).then(
        () => true,
        () => false,
      );
    await expect.poll(made, { timeout: 60_000 }).toBe(true);
    const own = await Promise.all(NAMES.map(async (name) => connectNats(cluster.accessOf(keys[name]!))));
    const all = own.map((bus, at) => dutiesOf(bus, NAMES[at]!));
    for (let due = 1; due <= 30; due++) {
      const claiming = all.map((duties) => claimed(duties, { ...occurrence, due }));
      const led = due === 10 ? await cluster.leaderOf("KV_creel_duties") : undefined;
      expect(led !== undefined).toBe(due === 10);
      if (led !== undefined) await cluster.kill(led);
      expect((await Promise.all(claiming)).toSorted()).toEqual(["mine", "taken", "taken"]);
    }
    for (const bus of own) await bus.close();
  });

  it("is done by each host if the server's accounts are of an earlier version", async () => {
    const { member } = keys.one!;
    const accounts = accountsConfig({ accounts: { acme: [member] } }).replace(
      /"[^"]*creel_duties[^"]*", ?|, "[^"]*creel_duties[^"]*"/g,
      "",
    );
    expect(accounts).not.toContain("duties");
    await using earlier = await Nats.withAccounts(accounts, 1);
    const bus = await connectNats(earlier.accessOf(keys.one!));
    const { logger, lines } = recorder();
    expect(await new FleetDuties({ bus, name: "one", run: "r1", logger }).claim(occurrence)).toBe("mine");
    expect(lines.filter(({ message }) => message.includes("creel fleet keys"))).toHaveLength(1);
    await bus.close();
  });

  it(
    "a lease that is given back is taken at once, and a holder that cannot write gives up before another takes it",
    { timeout: 60_000 },
    async () => {
      const [one, two] = [await connected("one"), await connected("two")];
      const first = dutiesOf(one, "one");
      const said: string[] = [];
      const note = (name: string) => (isMine: boolean) => void said.push(`${name} ${isMine}`);
      first.serve("mail", note("one"));
      await expect.poll(() => said).toEqual(["one true"]);
      const second = dutiesOf(two, "two");
      second.serve("mail", note("two"));
      await sleep(LIMITS.fleet.leaseMs + 1_500);
      expect(said).toEqual(["one true"]);
      await first.close();
      await expect.poll(() => said, { timeout: 5_000 }).toEqual(["one true", "one false", "two true"]);
      // As a network that swallows its writes.
      await two.close();
      await expect.poll(() => said, { timeout: LIMITS.fleet.leaseMs }).toEqual(["one true", "one false", "two true", "two false"]);
      const third = dutiesOf(one, "one", "r2");
      third.serve("mail", note("again"));
      await expect.poll(() => said.at(-1), { timeout: 2 * LIMITS.fleet.leaseMs }).toBe("again true");
      await third.close();
      await second.close();
    },
  );

  it("what a host has written there is read with care", async () => {
    const one = await connected("one");
    const bucket = await one.bucket(BUCKETS.duties);
    const duties = dutiesOf(one, "one");
    expect(await duties.claim({ ...occurrence, plugin: "odd" })).toBe("mine");
    const text = JSON.stringify(["odd", "daily", "0 0 * * *", null]);
    const key = `cron.${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;
    const { revision } = (await bucket.get(key))!;
    await bucket.put(key, Buffer.from("no claim"), revision);
    expect(await dutiesOf(await connected("two"), "two").claim({ ...occurrence, plugin: "odd" })).toBe("mine");
  });

  it(
    "three hosts with the same cron and service: a minute is one job, one host serves; when it is killed or stopped, another does",
    { timeout: 180_000 },
    async () => {
      const heard: { kind: string; host: string }[] = [];
      await using server = await serve(({ body }, response) => {
        heard.push(JSON.parse(String(body)) as (typeof heard)[number]);
        response.end();
      });
      const post = (object: string) => `await fetch("${server.origin}/", { method: "POST", body: JSON.stringify(${object}) });`;
      const worker = (host: string) =>
        plugin(
          "worker",
          `api.schedule.on("tick", async () => { ${post(`{ kind: "tick", host: "${host}" }`)} });
         void api.schedule.cron("tick", "* * * * *");
         api.registerService({
           id: "poller",
           async start() { ${post(`{ kind: "start", host: "${host}" }`)} },
           async stop() { ${post(`{ kind: "stop", host: "${host}" }`)} },
         });`,
          { grants: { fetch: [server.origin], schedule: true } },
        );
      const root = folder({});
      const operators = [makeSigningKey().publicKey];
      // Their next minute begins when all of them are there.
      const skewMs = 45_000 - (Date.now() % 60_000);
      await Promise.all(
        NAMES.map(async (name) =>
          children.set(
            name,
            await startHostProcess(join(root, name), settingsOf(nats, keys[name]!, operators), [worker(name)], { skewMs }),
          ),
        ),
      );
      const starts = () => heard.filter(({ kind }) => kind === "start").map(({ host }) => host);
      const ticks = () => heard.filter(({ kind }) => kind === "tick").length;
      await expect.poll(starts, { timeout: 15_000 }).toHaveLength(1);
      await expect.poll(ticks, { timeout: 75_000 }).toBe(1);
      // Of all three the minute is over.
      await sleep(1_500);
      expect(ticks()).toBe(1);
      const [first] = starts() as [string];
      children.get(first)!.kill("SIGKILL");
      await expect.poll(() => starts().length, { timeout: 30_000 }).toBe(2);
      const second = starts()[1]!;
      expect(second).not.toBe(first);
      children.get(second)!.kill("SIGSTOP");
      await expect.poll(() => starts().length, { timeout: 30_000 }).toBe(3);
      expect(new Set(starts()).size).toBe(3);
      children.get(second)!.kill("SIGCONT");
      // It hears that it is not the one any more, and stops; the third goes on.
      await expect.poll(() => heard.some(({ kind, host }) => kind === "stop" && host === second), { timeout: 15_000 }).toBe(true);
      expect(starts()).toHaveLength(3);
    },
  );
});
