/** Who may do what in a fleet, with a real server and the permissions that `creel fleet keys` writes. */
import { chmodSync } from "node:fs";
import { join } from "node:path";
// oxlint-disable-next-line no-restricted-imports -- a host that uses its key in its own way.
import { connect, nkeyAuthenticator } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Bus } from "../../src/fleet/bus.ts";
import { controlRequest, here, quarantineNews, read as parsed } from "../../src/fleet/messages.ts";
import { connectNats, isOlder } from "../../src/fleet/nats.ts";
import { fleetSettings } from "../../src/fleet/settings.ts";
import { AuditReader } from "../../src/fleet/audit/reader.ts";
import { BUCKETS, EVENTS, LOGS, SUBJECTS } from "../../src/fleet/subjects.ts";
import { folder, QUICK } from "../support/files.ts";
import { keysOf, Nats, noNats, oldServer } from "../support/nats.ts";

if (noNats !== undefined) console.warn(`skipped: ${noNats}`);

it("a server that loses data in a crash is refused by its version", async () => {
  expect(["2.9.10", "2.10.22", "2.10.23", "2.10.27", "2.14.0", "3.0.0", "odd"].map((version) => isOlder(version, "2.10.23"))).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
    true,
  ]);
});

it("a server of Debian's version 2.9.10 is refused before anything is asked of it", async () => {
  await using server = await oldServer();
  const { seed } = keysOf("web-1", "host");
  await expect(connectNats({ name: "web-1", servers: [server.url], seed, ca: undefined })).rejects.toMatchObject({
    code: "ERR_FLEET_VERSION",
    params: { version: "2.9.10" },
  });
});

it("a key that other users can read is not used", async () => {
  const base = folder({ "web-1.nk": "SUSEED" }, QUICK);
  const operators = [`ed25519-${"A".repeat(43)}=`];
  const fleet = { name: "web-1", servers: ["nats://127.0.0.1:4222"], credentials: "web-1.nk", operators };
  chmodSync(join(base, "web-1.nk"), 0o644);
  await expect(fleetSettings({ fleet }, base)).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
    params: { field: "fleet.credentials" },
  });
  chmodSync(join(base, "web-1.nk"), 0o600);
  expect(await fleetSettings({ fleet }, base)).toMatchObject({ name: "web-1" });
  await expect(fleetSettings({}, base)).rejects.toMatchObject({ code: "ERR_FLEET_UNSET" });
});

describe.skipIf(noNats !== undefined)("on a NATS server with the permissions of a fleet", () => {
  const keys = { one: keysOf("one", "host"), two: keysOf("two", "host"), boss: keysOf("boss", "operator") };
  const other = { one: keysOf("one", "host"), boss: keysOf("boss", "operator") };
  let nats: Nats;
  let one: Bus;
  let two: Bus;
  let boss: Bus;
  let stranger: Bus;
  let strangersHost: Bus;
  beforeAll(async () => {
    nats = await Nats.start({ acme: Object.values(keys), rival: Object.values(other) });
    [one, two, boss, stranger, strangersHost] = (await Promise.all(
      [keys.one, keys.two, keys.boss, other.boss, other.one].map((key) => connectNats(nats.accessOf(key))),
    )) as [Bus, Bus, Bus, Bus, Bus];
    await one.subscribe(SUBJECTS.control("one"), ({ text, respond }) => respond(`one heard ${text}`));
  });
  afterAll(async () => {
    for (const bus of [one, two, boss, stranger, strangersHost]) await bus?.close();
    await nats?.[Symbol.asyncDispose]();
  });

  it("an operator is answered by the host that it asks, and told at once when there is none", async () => {
    expect(await boss.request(SUBJECTS.control("one"), "hello", 5_000)).toBe("one heard hello");
    await expect(boss.request(SUBJECTS.control("two"), "hello", 5_000)).rejects.toMatchObject({ code: "ERR_FLEET_NOBODY" });
  });

  it("a host cannot answer for another, ask another, or listen to what another is told", async () => {
    const forbidden = { code: "ERR_FLEET_FORBIDDEN" };
    await expect(two.subscribe(SUBJECTS.control("one"), () => {})).rejects.toMatchObject(forbidden);
    await expect(two.subscribe(SUBJECTS.control("*"), () => {})).rejects.toMatchObject(forbidden);
    await expect(two.subscribe("_INBOX_boss.>", () => {})).rejects.toMatchObject(forbidden);
    await expect(two.subscribe(">", () => {})).rejects.toMatchObject(forbidden);
    await expect(two.request(SUBJECTS.control("one"), "do it", 2_000)).rejects.toMatchObject(forbidden);
  });

  it("a host cannot say that it is another, and cannot send an answer that nobody asked for", async () => {
    const heard: string[] = [];
    const off = await boss.subscribe(SUBJECTS.here("*"), ({ subject, text }) => heard.push(`${subject} ${text}`));
    two.publish(SUBJECTS.here("one"), "I am one");
    two.publish("_INBOX_boss.guess", "unasked");
    two.publish(SUBJECTS.here("two"), "I am two");
    await expect.poll(() => heard).toEqual(["creel.here.two I am two"]);
    off();
  });

  it("a tenant reaches no host of another, although its names are the same", async () => {
    await expect(stranger.request(SUBJECTS.control("one"), "hello", 5_000)).rejects.toMatchObject({ code: "ERR_FLEET_NOBODY" });
    const heard: string[] = [];
    const off = await stranger.subscribe(SUBJECTS.here("*"), ({ text }) => heard.push(text));
    one.publish(SUBJECTS.here("one"), "for acme");
    strangersHost.publish(SUBJECTS.here("one"), "for rival");
    await expect.poll(() => heard).toEqual(["for rival"]);
    off();
  });

  it("hosts read what operators write, write nothing, and make no bucket; of two writers one is told that it was late", async () => {
    const bucket = await boss.makeBucket(BUCKETS.lock, 1);
    expect(await bucket.put("index", Buffer.from("first"), 0)).toBe(1);
    expect(await bucket.put("index", Buffer.from("late"), 0)).toBeUndefined();
    expect(await bucket.put("index", Buffer.from("second"), 1)).toBe(2);
    const read = await one.bucket(BUCKETS.lock);
    expect(Buffer.from((await read.get("index"))!.bytes).toString()).toBe("second");
    expect(await read.get("nothing")).toBeUndefined();
    await expect(read.put("index", Buffer.from("mine"), 2)).rejects.toMatchObject({ code: "ERR_FLEET_FORBIDDEN" });
    await expect(one.makeBucket("creel_own", 1)).rejects.toMatchObject({ code: "ERR_FLEET_FORBIDDEN" });
    await expect((await stranger.bucket(BUCKETS.lock)).get("index")).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_FLEET_/) });
  });

  it("a host cannot have the server send or store its words in the name of another", async () => {
    await boss.makeBucket(BUCKETS.duties, 1);
    await boss.makeLog(LOGS.audit, [SUBJECTS.audit("*")], 1, 1);
    await boss.makeQueue(EVENTS, [SUBJECTS.event("*", "*")], 1);
    await boss.queue(EVENTS).makeConsumer("p_x", SUBJECTS.event("*", "p_x"));
    const raw = await connect({ servers: nats.urls, authenticator: nkeyAuthenticator(keys.two.seed), inboxPrefix: "_INBOX_two" });
    await using _ = { [Symbol.asyncDispose]: () => raw.close() };
    const heard: string[] = [];
    const off = await one.subscribe(SUBJECTS.release, ({ text }) => heard.push(text));
    let refused = 0;
    void (async () => {
      for await (const { type } of raw.status()) if (type === "error") refused += 1;
    })();
    const came: string[] = [];
    raw.subscribe("_INBOX_two.seen", { callback: (_error, message) => void came.push(message.string()) });
    // An entry that hosts may write, and an event: both to the subject of somebody else.
    const words = JSON.stringify({ v: 1, log: "forged", n: 0, plugin: "forged" });
    await (await two.bucket(BUCKETS.duties)).put("one", Buffer.from(words), 0);
    const direct = `$JS.API.DIRECT.GET.KV_${BUCKETS.duties}`;
    const asks = [
      [`${direct}.$KV.${BUCKETS.duties}.one`, ""],
      [direct, JSON.stringify({ last_by_subj: `$KV.${BUCKETS.duties}.one`, no_hdr: true })],
      [`$JS.API.STREAM.MSG.GET.KV_${BUCKETS.duties}`, JSON.stringify({ last_by_subj: `$KV.${BUCKETS.duties}.one` })],
      [`$JS.API.CONSUMER.MSG.NEXT.${EVENTS}.p_x`, "1"],
      [SUBJECTS.event("two", "p_x"), words],
    ] as const;
    for (const n of [1, 2, 3, 4]) await two.queue(EVENTS).append(SUBJECTS.event("two", "p_x"), words, `forged-${n}`);
    for (const reply of [SUBJECTS.release, SUBJECTS.audit("one"), "_INBOX_two.seen"])
      for (const [subject, text] of asks) raw.publish(subject, text, { reply });
    // The server has sent them: those to its own inbox have come. The first two it may not ask for.
    await expect.poll(() => came.length, { timeout: 5_000 }).toBe(3);
    expect(came).toContain(words);
    expect(refused).toBe(6);
    boss.publish(SUBJECTS.release, "by the operator");
    await expect.poll(() => heard).toContain("by the operator");
    expect(heard.filter((text) => parsed(quarantineNews, text) || parsed(controlRequest, text) || parsed(here, text))).toEqual([]);
    // In the log, and in nobody's name.
    const log = boss.log(LOGS.audit);
    await expect.poll(() => log.next(2)).toBeDefined();
    expect(await Array.fromAsync(new AuditReader(log).lines())).toEqual([]);
    off();
  });

  it("a host neither makes nor empties a queue, a log or a consumer, and takes from no other log", async () => {
    const forbidden = { code: "ERR_FLEET_FORBIDDEN" };
    await expect(one.makeQueue(EVENTS, [SUBJECTS.event("*", "*")], 1)).rejects.toMatchObject(forbidden);
    await expect(one.queue(EVENTS).makeConsumer("p_own", SUBJECTS.event("*", "p_own"))).rejects.toMatchObject(forbidden);
    await expect(one.queue(EVENTS).backlogs()).rejects.toMatchObject(forbidden);
    await expect(one.queue(LOGS.audit).take("p_x", 100)).rejects.toMatchObject(forbidden);
    await expect(one.queue(EVENTS).append(SUBJECTS.event("two", "p_x"), "{}", "as two")).rejects.toMatchObject(forbidden);
    await expect(one.log(LOGS.dead).delete(1)).rejects.toMatchObject(forbidden);
    for (const verb of ["PURGE", "DELETE", "UPDATE", "MSG.DELETE", "MSG.GET", "INFO"])
      await expect(one.request(`$JS.API.STREAM.${verb}.${EVENTS}`, "{}", 2_000)).rejects.toMatchObject(forbidden);
    for (const subject of [`CONSUMER.DELETE.${EVENTS}.p_x`, `CONSUMER.PAUSE.${EVENTS}.p_x`, `CONSUMER.DURABLE.CREATE.${EVENTS}.p_y`])
      await expect(one.request(`$JS.API.${subject}`, "{}", 2_000)).rejects.toMatchObject(forbidden);
    // Another tenant's servers know nothing of it.
    await expect(strangersHost.queue(EVENTS).take("p_x", 100)).rejects.toMatchObject({ code: "ERR_FLEET_NOBODY" });
  });

  it("a server that dies settles what waits for it, and its return is noticed", async () => {
    const own = keysOf("three", "host");
    await using lonely = await Nats.start({ acme: [own, keys.boss] });
    const [host, asker] = await Promise.all([connectNats(lonely.accessOf(own)), connectNats(lonely.accessOf(keys.boss))]);
    await host.subscribe(SUBJECTS.control("three"), () => {});
    const changes: boolean[] = [];
    asker.onChange((isConnected) => changes.push(isConnected));
    const waiting = asker.request(SUBJECTS.control("three"), "never answered", 600_000);
    waiting.catch(() => {});
    await lonely.kill();
    await expect(waiting).rejects.toMatchObject({ code: "ERR_FLEET_AWAY" });
    // What answers meanwhile asks for its limits.
    expect(asker.server.maxPayload).toBe(1_048_576);
    await expect(asker.request(SUBJECTS.control("three"), "hello", 600_000)).rejects.toMatchObject({ code: "ERR_FLEET_AWAY" });
    await lonely.restart();
    await expect.poll(() => changes, { timeout: 15_000 }).toEqual([false, true]);
    await Promise.all([host.close(), asker.close()]);
  });
});
