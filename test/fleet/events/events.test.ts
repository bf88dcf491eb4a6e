/** Durable events through the servers (`through: "jetstream"`), on a real NATS server: what hosts deliver, what stays, what is given up. */
import { chmodSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { PluginSpec } from "../../../src/discovery/plugin-spec.ts";
import type { Bus } from "../../../src/fleet/bus.ts";
import { makeSigningKey } from "../../../src/fleet/control/signature.ts";
import { Operator } from "../../../src/fleet/control/operator.ts";
import { connectNats } from "../../../src/fleet/nats.ts";
import { accountsConfig } from "../../../src/fleet/permissions.ts";
import { BUCKETS, consumerOf, EVENTS, LOGS, SUBJECTS } from "../../../src/fleet/subjects.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { sessionEndEvent } from "../../../src/sdk/gateway/session-events.ts";
import { creelHere } from "../../support/cli-in-process.ts";
import { folder } from "../../support/files.ts";
import { credentialsOf, fleetHost, settingsOf, stateFolder } from "../../support/fleet.ts";
import type { FleetHost } from "../../support/fleet.ts";
import { plugin } from "../../support/host.ts";
import { putInstalled } from "../../support/installed.ts";
import { keysOf, Nats, noNats } from "../../support/nats.ts";
import type { Keys } from "../../support/nats.ts";

const HOOKS = { durable: ["session:end"] };
/** Says what it hears. What it does besides, the event says. */
const hearer = (id: string): PluginSpec =>
  plugin(
    id,
    `api.on("session:end", ({ context }, { delivery }) => {
      const { n, does } = context.metadata;
      console.log("heard", n, delivery.id, delivery.attempt);
      if (does === "throw") throw new Error("not this one");
      if (does === "loop" && "${id}" === "first") for (;;);
    });`,
    { hooks: { budgets: { "session:end": { cpuMs: 50 } } } },
  );
const signing = makeSigningKey();
let count = 0;
const event = (n: number | string, does = "") =>
  sessionEndEvent({
    sessionId: `s${++count}`,
    sessionKey: `k${count}`,
    metadata: { n, does, pad: n === "large" ? "x".repeat(1_100_000) : "" },
  });

interface Heard {
  readonly host: string;
  readonly plugin: string;
  readonly n: string;
  readonly id: string;
  readonly attempt: number;
}

const emit = ({ served }: FleetHost, n: number | string, does?: string): Promise<void> =>
  served.host.emit("session:end", event(n, does))!.kept;
const waiting = async ({ served }: FleetHost) => (await served.host.stats()).outbox?.waiting;

/** The operator's creel.json, with the arguments that name it. */
function operatorsConfig(nats: Nats, keys: Keys): string[] {
  const base = folder({ "ann.pem": signing.pem });
  chmodSync(join(base, "ann.pem"), 0o600);
  const fleet = {
    name: keys.member.name,
    servers: nats.urls,
    credentials: credentialsOf(keys),
    operators: [signing.publicKey],
    signingKey: "ann.pem",
    durable: { through: "jetstream" },
  };
  const file = join(base, "creel.json");
  writeFileSync(file, JSON.stringify({ stateDir: "state", fleet, hooks: HOOKS }));
  return ["--config", file];
}

describe.skipIf(noNats !== undefined)("durable events through the servers of a fleet", () => {
  const keys = { one: keysOf("one", "host"), two: keysOf("two", "host"), boss: keysOf("boss", "operator") };
  const heard: Heard[] = [];
  const facts: { host: string; plugin: string; id: string; status: string; attempt: number }[] = [];
  let nats: Nats;
  let bus: Bus;
  let operator: Operator;
  let one: FleetHost;
  let two: FleetHost;

  const start = async (server: Nats, key: Keys, plugins: PluginSpec[], state = stateFolder()): Promise<FleetHost> => {
    const settings = { ...settingsOf(server, key, [signing.publicKey]), isRelayed: true };
    const host = await fleetHost(settings, state, plugins, undefined, { hooks: HOOKS });
    host.served.host.on("delivery", (fact) => void facts.push({ ...fact, host: key.member.name }));
    host.served.host.on("log", ({ plugin: id, text }) => {
      const [word, n, delivery, attempt] = text.split(" ") as [string, string, string, string];
      if (word === "heard") heard.push({ host: key.member.name, plugin: id, n, id: delivery, attempt: Number(attempt) });
    });
    return host;
  };
  const of = (n: number | string) => heard.filter((line) => line.n === String(n));
  const onServers = async () => (await operator.events.backlogs())!.reduce((sum, { waiting: w, unsettled }) => sum + w + unsettled, 0);

  beforeAll(async () => {
    nats = await Nats.start({ acme: Object.values(keys) });
    bus = await connectNats(nats.accessOf(keys.boss));
    operator = await Operator.listen(bus);
    await operator.events.make(1);
    await operator.events.makeConsumers(["first", "second", "first"]);
    const plugins = [hearer("first"), hearer("second")];
    [one, two] = await Promise.all([start(nats, keys.one, plugins), start(nats, keys.two, plugins)]);
  }, 60_000);
  afterEach(() => void vi.useRealTimers());
  afterAll(async () => {
    await operator?.[Symbol.asyncDispose]();
    for (const host of [one, two]) await host?.[Symbol.asyncDispose]();
    await nats?.[Symbol.asyncDispose]();
  });

  it("each plugin hears each event once, on either host; nothing is left in the outbox or on the servers", async () => {
    for (let n = 0; n < 60; n++) await emit(n % 2 ? one : two, n);
    await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(120);
    expect(new Set(heard.map(({ host }) => host))).toEqual(new Set(["one", "two"]));
    for (let n = 0; n < 60; n++) {
      expect(
        of(n)
          .map(({ plugin: id }) => id)
          .toSorted(),
      ).toEqual(["first", "second"]);
      expect(new Set(of(n).map(({ id }) => id)).size).toBe(1);
      expect(of(n).every(({ attempt }) => attempt === 1)).toBe(true);
    }
    await expect.poll(async () => [await waiting(one), await waiting(two), await onServers()]).toEqual([0, 0, 0]);
  });

  it("a handler that throws is called again, on any host, under the same id; after a day the event is given up and can be delivered again", async () => {
    await emit(one, "poison", "throw");
    await expect.poll(() => of("poison").filter(({ plugin: id }) => id === "first").length, { timeout: 20_000 }).toBeGreaterThan(2);
    const attempts = of("poison").filter(({ plugin: id }) => id === "first");
    expect(new Set(attempts.map(({ id }) => id)).size).toBe(1);
    expect(attempts.map(({ attempt }) => attempt)).toEqual(attempts.map((_, at) => at + 1));
    // Others do not wait behind it.
    await emit(one, "innocent");
    await expect.poll(() => of("innocent").length).toBe(2);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + LIMITS.outbox.maxAgeMs + 60_000 });
    await expect.poll(async () => (await operator.events.dead(undefined, undefined)).length, { timeout: 20_000 }).toBe(2);
    const [letter] = await operator.events.dead(undefined, "first");
    expect(letter).toMatchObject({
      plugin: "first",
      hook: "session:end",
      status: "failed",
      why: "the handler threw: not this one",
      id: attempts[0]!.id,
    });
    expect(["one", "two"]).toContain(letter!.host);
    await expect.poll(onServers).toBe(0);
    vi.useRealTimers();
    const config = operatorsConfig(nats, keys.boss);
    const dead = (...args: string[]) => creelHere("--fleet", "dead", ...args, ...config);
    expect((await dead("list")).out).toMatch(new RegExp(`^${letter!.id} +${letter!.host} +first +session:end`, "m"));
    expect((await dead("show", letter!.id)).out).toContain('"n": "poison"');
    expect((await dead("show", "nothing")).code).toBe(1);
    const before = of("poison").filter(({ plugin: id }) => id === "first").length;
    expect((await dead("replay", "--plugin", "first")).out).toContain("1 will be delivered again");
    await expect.poll(() => of("poison").filter(({ plugin: id }) => id === "first").length, { timeout: 10_000 }).toBeGreaterThan(before);
    expect((await dead("drop", "--all", "--json")).out).toContain('"dropped":1');
    expect(JSON.parse((await dead("list", "--json")).out)).toEqual([]);
    // It would be tried for another day.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + LIMITS.outbox.maxAgeMs + 60_000 });
    await expect.poll(onServers, { timeout: 20_000 }).toBe(0);
  });

  it("an event that uses up the budget of its plugin is given up after its second attempt, on the host that had it", async () => {
    await emit(two, "bomb", "loop");
    await expect
      .poll(async () => (await operator.events.dead(undefined, "first")).some(({ status }) => status === "cpu"), { timeout: 20_000 })
      .toBe(true);
    const letter = (await operator.events.dead(undefined, "first")).find(({ status }) => status === "cpu");
    expect(
      facts
        .filter(({ id, plugin: whose }) => id === letter!.id && whose === "first")
        .map(({ status, attempt, host }) => [status, attempt, host]),
    ).toEqual([
      ["failed", 1, letter!.host],
      ["dead", 2, letter!.host],
    ]);
    expect(of("bomb").filter(({ plugin: id }) => id === "second")).toHaveLength(1);
    await expect.poll(onServers).toBe(0);
  });

  it("while the server is away events stay in the outbox, and go on when it is back", async () => {
    await nats.kill();
    for (let n = 1_000; n < 1_030; n++) await emit(one, n);
    expect(await waiting(one)).toBe(60);
    expect(of(1_000)).toEqual([]);
    await nats.restart();
    await expect.poll(() => heard.filter(({ n }) => Number(n) >= 1_000).length, { timeout: 20_000 }).toBe(60);
    await expect.poll(() => waiting(one)).toBe(0);
  });

  it("one that is larger than the servers take is delivered by its own host; words of no event are dropped, and no other plugin hears them", async () => {
    await emit(two, "large");
    await expect.poll(() => of("large").length, { timeout: 20_000 }).toBe(2);
    expect(of("large").every(({ host }) => host === "two")).toBe(true);
    const stolen = await connectNats(nats.accessOf(keys.two));
    const subject = SUBJECTS.event("two", consumerOf("first"));
    const body = {
      v: 1,
      id: "x",
      plugin: "second",
      hook: "session:end",
      session: "",
      event: JSON.stringify(event("forged")),
      context: "{}",
      chain: null,
      made: Date.now(),
    };
    await stolen.queue(EVENTS).append(subject, JSON.stringify(body), "a");
    await stolen.queue(EVENTS).append(subject, "no event", "b");
    await stolen.queue(EVENTS).append(subject, JSON.stringify({ ...body, plugin: "first", event: '{"type":"session"}' }), "c");
    await expect
      .poll(async () => (await operator.events.dead("x", "first")).map(({ status }) => status), { timeout: 10_000 })
      .toEqual(["invalid"]);
    await expect.poll(onServers).toBe(0);
    expect(of("forged")).toEqual([]);
    // A cause that nobody can read is none.
    const uncaused = { ...body, id: "y", plugin: "first", chain: "{", event: JSON.stringify(event("uncaused")) };
    await stolen.queue(EVENTS).append(subject, JSON.stringify(uncaused), "d");
    await expect.poll(() => of("uncaused").length, { timeout: 10_000 }).toBe(1);
    await stolen.close();
  });

  it("with the accounts.conf of an earlier version events stay in the outbox, and doctor says so in a sentence", async () => {
    const members = [keysOf("old", "host"), keysOf("ann", "operator")] as const;
    const whole = accountsConfig({ accounts: { acme: members.map(({ member }) => member) } });
    const accounts = whole
      .replaceAll(/, "(?:creel\.(?:event|dead)|\$JS\.ACK|\$JS\.API\.(?:CONSUMER|STREAM\.[A-Z.]+\.creel_(?:events|dead)))[^"]*"/g, "")
      .replaceAll("STREAM.MSG.GET.KV_creel_duties", "DIRECT.GET.KV_creel_duties.>")
      .replaceAll("STREAM.MSG.GET.", "DIRECT.GET.");
    expect(accounts).not.toMatch(/creel[._](?:event|dead)|MSG\.GET/);
    await using old = await Nats.withAccounts(accounts, 1);
    await using host = await start(old, members[0], [hearer("first")]);
    for (let n = 2_000; n < 2_010; n++) await emit(host, n);
    const said = await creelHere("fleet", "doctor", ...operatorsConfig(old, members[1]));
    expect(said.out).toContain("accounts.conf is of an earlier version and gives no rights for durable events: they stay in the outbox");
    expect(said.out).toContain("with a stolen key of a host, the servers can be made to send orders in an operator's name");
    expect(said.out).toContain("old cannot pass on durable events, and keeps those that it has");
    expect(said.code).toBe(1);
    expect([await waiting(host), of(2_000)]).toEqual([10, []]);
    // What it could read before, it still can.
    await using ann = await Operator.listen(await connectNats(old.accessOf(members[1])));
    await ann.makeDuties(1);
    await ann.makeQuarantine(1);
    const reader = await connectNats(old.accessOf(members[0]));
    const duties = await reader.bucket(BUCKETS.duties);
    await duties.put("x", Buffer.from("1"), 0);
    expect((await duties.get("x"))?.revision).toBe(1);
    await reader.log(LOGS.quarantine).append(SUBJECTS.quarantine("old"), "{}", "q");
    expect(await reader.log(LOGS.quarantine).next(0)).toMatchObject({ number: 1, subject: SUBJECTS.quarantine("old") });
    await reader.close();
  });

  it("a push makes the place for events, and a consumer for each plugin of the lock or of a host; what had waited in the outbox is delivered", async () => {
    const [host, ann] = [keysOf("new", "host"), keysOf("ann", "operator")];
    await using fresh = await Nats.start({ acme: [host, ann] });
    const config = operatorsConfig(fresh, ann);
    await using started = await start(fresh, host, [hearer("first")]);
    for (let n = 3_000; n < 3_005; n++) await emit(started, n);
    expect(await waiting(started)).toBe(5);
    expect((await creelHere("fleet", "doctor", ...config)).out).toContain("the servers have no place for them");
    const installed = join(dirname(config[1]!), "state");
    await putInstalled(installed, "listener", 'export default (api) => { api.on("session:end", () => {}); };', {
      hooks: [{ hook: "session:end", priority: 0 }],
    });
    await putInstalled(installed, "other", "export default () => {};");
    expect((await creelHere("fleet", "push", ...config)).out).toContain("1 of 1 hosts follow change 1");
    await expect.poll(() => heard.filter(({ n }) => Number(n) >= 3_000).length, { timeout: 20_000 }).toBe(5);
    const said = await creelHere("fleet", "doctor", ...config);
    expect(said.out).toMatch(/\d+ durable events wait on the servers/);
    await using asker = await Operator.listen(await connectNats(fresh.accessOf(ann)));
    expect((await asker.events.backlogs())!.map(({ consumer }) => consumer)).toEqual(["p_first", "p_listener"]);
    await expect.poll(async () => await waiting(started)).toBe(0);
  });
});
