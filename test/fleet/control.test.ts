/** One lock for many hosts, on real NATS servers: who is there, one consent, what is refused, and what a host does while the server is away. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signIndex, makeSigningKey, verifiedIndex } from "../../src/fleet/control/signature.ts";
import { readStored } from "../../src/state/store.ts";
import { writeApplied } from "../../src/fleet/control/applied.ts";
import { SharedLock } from "../../src/fleet/control/shared-lock.ts";
import { Steward } from "../../src/fleet/control/steward.ts";
import { Operator } from "../../src/fleet/control/operator.ts";
import { connectNats } from "../../src/fleet/nats.ts";
import { BUCKETS, SUBJECTS } from "../../src/fleet/subjects.ts";
import type { Bus } from "../../src/fleet/bus.ts";
import { openState } from "../../src/state/state.ts";
import { silentLogger } from "../../src/host/report/silent-logger.ts";
import { fleetHost, settingsOf, stateFolder } from "../support/fleet.ts";
import type { FleetHost } from "../support/fleet.ts";
import { putInstalled } from "../support/installed.ts";
import { keysOf, Nats, noNats } from "../support/nats.ts";

if (noNats !== undefined) console.warn(`skipped: ${noNats}`);

const says = (word: string) => `export default (api) => { api.on("message_sending", (e) => ({ content: e.content + " ${word}" })); };`;
const heard = (host: FleetHost) =>
  host.served.host.run("message_sending", { to: "me", content: "x" }, { channelId: "c" }).then(({ result }) => result?.content);
const NAMES = ["one", "three", "two"];

describe.skipIf(noNats !== undefined)("three hosts of a fleet", () => {
  const keys = Object.fromEntries(NAMES.map((name) => [name, keysOf(name, "host")]));
  const boss = keysOf("boss", "operator");
  const signing = makeSigningKey();
  const operators = [signing.publicKey];
  const own = stateFolder();
  let nats: Nats;
  let hosts: FleetHost[] = [];
  let bus: Bus;
  let operator: Operator;
  const push = () => operator.push(own, operators, signing.pem, "ann", 1).then((pushed) => pushed?.serial);
  const all = () => Promise.all(hosts.map(heard));
  const rawLock = async () => bus.bucket(BUCKETS.lock);

  beforeAll(async () => {
    nats = await Nats.start({ acme: [...Object.values(keys), boss] });
    hosts = await Promise.all(NAMES.map((name) => fleetHost(settingsOf(nats, keys[name]!, operators))));
    bus = await connectNats(nats.accessOf(boss));
    operator = await Operator.open(bus);
  }, 60_000);
  afterAll(async () => {
    await operator?.[Symbol.asyncDispose]();
    for (const host of hosts) await host[Symbol.asyncDispose]();
    await nats?.[Symbol.asyncDispose]();
  });

  it("say that they are there, each under its own name", () => {
    expect(operator.hosts().map(({ host, serial, plugins }) => [host, serial, plugins])).toEqual(NAMES.map((name) => [name, 0, []]));
  });

  it("one consent reaches all of them; a new version, a switch and a removal, too", { timeout: 60_000 }, async () => {
    await putInstalled(own.dir, "greeter", says("one"));
    expect(await push()).toBe(1);
    const followed = await operator.followed(1, 30_000);
    expect(followed).toEqual(NAMES.map((host) => ({ host, serial: 1, isDone: true, why: undefined })));
    expect(await all()).toEqual(["x one", "x one", "x one"]);
    expect(await push()).toBeUndefined();
    await putInstalled(own.dir, "greeter", says("two"));
    expect(await push()).toBe(2);
    await operator.followed(2, 30_000);
    expect(await all()).toEqual(["x two", "x two", "x two"]);
    await own.transaction((tx) => tx.update("greeter", { enabled: false }).id);
    await push();
    await operator.followed(3, 30_000);
    expect(await all()).toEqual([undefined, undefined, undefined]);
    await own.transaction((tx) => tx.update("greeter", { enabled: true }).id);
    await putInstalled(own.dir, "second", says("more"));
    await push();
    await operator.followed(4, 30_000);
    expect(await all()).toEqual(["x two more", "x two more", "x two more"]);
    await own.transaction((tx) => tx.remove("second").id);
    await push();
    await operator.followed(5, 30_000);
    expect(await all()).toEqual(["x two", "x two", "x two"]);
  });

  it("answer an operator what looks and what switches a plugin, and nothing else", async () => {
    const answers = await operator.ask("inspect", { plugin: "greeter" });
    expect(answers.map(({ host, ok }) => [host, (ok as { status: string }).status])).toEqual(NAMES.map((name) => [name, "ready"]));
    const runs = await operator.ask("run", { hook: "message_sending", event: { to: "me", content: "x" } });
    expect(runs.map(({ error }) => error?.message)).toEqual(NAMES.map(() => expect.stringContaining('for "run"') as string));
    const facts: string[] = [];
    const stop = new AbortController();
    const following = operator.follow({ facts: ["run"] }, stop.signal, (host, fact) => facts.push(`${host} ${fact}`));
    await expect.poll(async () => (await all(), new Set(facts).size), { timeout: 15_000 }).toBe(3);
    stop.abort();
    await following;
    expect(new Set(facts)).toEqual(new Set(NAMES.map((name) => `${name} run`)));
  });

  it(
    "refuse a list that another key has signed, one that was changed, an older one, and name it; the plugins stay",
    { timeout: 60_000 },
    async () => {
      const lock = await rawLock();
      const good = (await lock.get("index"))!;
      const goodText = Buffer.from(good.bytes).toString();
      const content = verifiedIndex(goodText, operators);
      const stranger = makeSigningKey();
      const forged = JSON.stringify(signIndex({ ...content, serial: 6, plugins: {} }, stranger.pem));
      const changed = goodText.replace('\\"serial\\":5', '\\"serial\\":6');
      const older = JSON.stringify(signIndex({ ...content, serial: 3 }, signing.pem));
      let { revision } = good;
      for (const [text, why] of [
        [forged, `signed with ${stranger.publicKey}`],
        [changed, "changed after"],
        [older, "change 3, but this host already has change 5"],
      ] as const) {
        expect(text).not.toBe(goodText);
        revision = (await lock.put("index", Buffer.from(text), revision))!;
        bus.publish(SUBJECTS.changed, "{}");
        await expect
          .poll(() => operator.hosts().map(({ fault }) => fault?.message), { timeout: 15_000 })
          .toEqual(NAMES.map(() => expect.stringContaining(why) as string));
      }
      expect(await all()).toEqual(["x two", "x two", "x two"]);
      await lock.put("index", good.bytes, revision);
      bus.publish(SUBJECTS.changed, "{}");
      await expect.poll(() => operator.hosts().map(({ fault }) => fault), { timeout: 15_000 }).toEqual([undefined, undefined, undefined]);
    },
  );

  it("refuse a bundle with other bytes than the signed ones, keep the old version, and take it once an operator has repaired it", async () => {
    await putInstalled(own.dir, "greeter", says("three"));
    const entry = (await own.read()).get("greeter")!;
    // Whoever may write there puts another plugin's files in its place.
    const evil = stateFolder();
    await putInstalled(evil.dir, "greeter", says("evil"));
    const evilStore = (await evil.read()).get("greeter")!.store;
    const lock = await SharedLock.open(bus, operators);
    const files = () => readStored(evil.dir, evilStore, () => true);
    const serial = await lock.publish([{ entry, files }], await lock.list(), "ann", signing.pem);
    writeApplied(own.dir, { serial, plugins: (await lock.list())!.index.plugins });
    bus.publish(SUBJECTS.changed, "{}");
    expect((await operator.followed(serial, 30_000)).map(({ host, isDone, why }) => [host, isDone, why])).toEqual(
      NAMES.map((name) => [name, false, expect.stringContaining("greeter cannot be used: their bytes are not the signed ones") as string]),
    );
    expect(await all()).toEqual(["x two", "x two", "x two"]);
    expect((await openState(hosts[0]!.state.dir).read()).get("greeter")!.store).not.toBe(entry.store);
    expect(await operator.push(own, operators, signing.pem, "ann", 1)).toEqual({ serial, repaired: ["greeter"] });
    await expect.poll(all, { timeout: 30_000 }).toEqual(["x three", "x three", "x three"]);
    expect(await push()).toBeUndefined();
  });

  it("wait for what the server they read from does not have yet: that is no fault", async () => {
    const missed = new Map<string, number>();
    // As a server that is behind: it has each key from the third look on.
    const behind: Pick<Bus, "bucket"> = {
      bucket: async (name) => {
        const bucket = await bus.bucket(name);
        return {
          replicas: () => bucket.replicas(),
          put: (...change) => bucket.put(...change),
          get: async (key) => {
            const times = (missed.get(key) ?? 0) + 1;
            missed.set(key, times);
            return times < 3 ? undefined : bucket.get(key);
          },
        };
      },
    };
    const { index } = (await (await SharedLock.open(bus, operators)).list())!;
    const late = stateFolder();
    const faults: unknown[] = [];
    const steward = new Steward({
      bus: behind as Bus,
      state: late,
      host: { reload: () => hosts[0]!.served.host.inspect("greeter") as never, plugins: () => [] },
      operators,
      logger: silentLogger,
      changed: () => faults.push(steward.fault),
    });
    await steward.look(index.serial);
    expect([steward.serial, faults]).toEqual([index.serial, [undefined]]);
    expect([...(await late.read()).keys()]).toEqual(["greeter"]);
    expect([...missed.values()].every((times) => times >= 3)).toBe(true);
    await steward.close();
  });

  it("name a plugin that did not load as a change says, although they have the change; the version before goes on", async () => {
    await putInstalled(own.dir, "greeter", `export default () => { throw new Error("not like this"); };`);
    const serial = (await push())!;
    expect(await operator.followed(serial, 30_000)).toEqual(
      NAMES.map((host) => ({ host, serial, isDone: false, why: expect.stringMatching(/greeter did not load: .*not like this/) as string })),
    );
    expect(await all()).toEqual(["x three", "x three", "x three"]);
    await putInstalled(own.dir, "greeter", says("two"));
    const next = (await push())!;
    expect((await operator.followed(next, 30_000)).map(({ isDone }) => isDone)).toEqual([true, true, true]);
    expect(operator.hosts().map(({ fault }) => fault)).toEqual([undefined, undefined, undefined]);
  });

  it("a host that was there before and is silent is named, and so is a fleet without hosts", async () => {
    expect(await operator.followed(1, 100, ["web-9"])).toContainEqual({
      host: "web-9",
      serial: 0,
      isDone: false,
      why: "it is silent; it was there before",
    });
    const lonely = keysOf("ann", "operator");
    await using empty = await Nats.start({ acme: [lonely] });
    await using nobody = await Operator.open(await connectNats(empty.accessOf(lonely)));
    expect(await nobody.followed(1, 100)).toEqual([]);
  });

  it("start and serve while the server is away, and follow when it is back", { timeout: 60_000 }, async () => {
    await nats.kill();
    const [first, ...others] = hosts;
    await first![Symbol.asyncDispose]();
    hosts = [await fleetHost(settingsOf(nats, keys.one!, operators), first!.state), ...others];
    expect(await all()).toEqual(["x two", "x two", "x two"]);
    expect(hosts[0]!.lines.some(({ message }) => message.includes("server is away"))).toBe(true);
    await nats.restart();
    await expect.poll(() => bus.isConnected, { timeout: 15_000 }).toBe(true);
    await putInstalled(own.dir, "greeter", says("four"));
    const serial = (await push())!;
    await expect.poll(() => operator.hosts().filter((host) => host.serial === serial).length, { timeout: 30_000 }).toBe(3);
    expect(await all()).toEqual(["x four", "x four", "x four"]);
  });
});
