/** Gates that hosts on other machines judge: real processes on a real NATS server. The long table: scripts/fleet-failures.ts. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Host } from "../../src/host/host-api.ts";
import { openHost } from "../../src/sdk/open.ts";
import { makeSigningKey } from "../../src/fleet/control/signature.ts";
import { connectNats } from "../../src/fleet/nats.ts";
import { SUBJECTS } from "../../src/fleet/subjects.ts";
import { Fleet } from "../support/fleet-failures.ts";
import { credentialsOf, fleetHost, settingsOf, stateFolder } from "../support/fleet.ts";
import { plugin, silent } from "../support/host.ts";
import { keysOf, Nats, noNats } from "../support/nats.ts";
import type { Keys } from "../support/nats.ts";

describe.skipIf(noNats !== undefined)("a gateway whose gates are judged by a fleet", () => {
  let fleet: Fleet;
  beforeAll(async () => {
    fleet = await Fleet.start(["one", "two"]);
  }, 90_000);
  afterAll(() => fleet?.[Symbol.asyncDispose]());

  it("has them judged, and a second host does what was in flight on one that was killed; nothing passes unjudged, nothing rejects", async () => {
    const calm = await fleet.gates("none", 40, 0, 0, async () => {});
    expect(calm).toMatchObject({ wronglyAllowed: 0, rejected: 0, byPolicy: 0, second: 0 });
    const killed = await fleet.gates("host killed", 40, 0, 400, async () => fleet.signal("one", "SIGKILL"));
    expect(killed).toMatchObject({ wronglyAllowed: 0, rejected: 0, byPolicy: 0 });
    expect(killed.second).toBeGreaterThan(0);
  }, 60_000);

  it("judges on after the server was killed and came back, and blocks by policy while it is away for longer", async () => {
    const back = await fleet.gates("server back", 20, 10, 50, async () => {
      await fleet.nats.kill();
      await fleet.nats.restart();
    });
    expect(back).toMatchObject({ wronglyAllowed: 0, rejected: 0 });
    await fleet.nats.kill();
    const away = await fleet.gates("server away", 10, 0, 0, async () => {});
    expect(away).toMatchObject({ wronglyAllowed: 0, rejected: 0, byPolicy: 10 });
    expect(away.slowestMs).toBeLessThan(5_000);
    await fleet.nats.restart();
    await expect
      .poll(() => fleet.gates("after", 4, 0, 0, async () => {}), { timeout: 20_000 })
      .toMatchObject({ byPolicy: 0, wronglyAllowed: 0, rejected: 0 });
  }, 60_000);
});

it.skipIf(noNats !== undefined)(
  "a gateway can neither speak as another gateway, nor change what is installed, nor answer for a host",
  async () => {
    const [mine, other, host] = [keysOf("mine", "gateway"), keysOf("other", "gateway"), keysOf("one", "host")];
    await using nats = await Nats.start({ acme: [mine, other, host] });
    const [bus, theirs, one] = await Promise.all([mine, other, host].map((keys) => connectNats(nats.accessOf(keys))));
    const heard: string[] = [];
    await one!.subscribe(SUBJECTS.run("one", "*"), ({ subject, respond }) => (heard.push(subject), respond("{}")));
    bus!.publish(SUBJECTS.run("one", "other"), "{}");
    bus!.publish(SUBJECTS.control("one"), "{}");
    bus!.publish(SUBJECTS.here("one"), "{}");
    expect(await bus!.request(SUBJECTS.run("one", "mine"), "{}", 5_000)).toBe("{}");
    expect(heard).toEqual([SUBJECTS.run("one", "mine")]);
    await expect(bus!.subscribe(SUBJECTS.ask("other", "*"), () => {})).rejects.toMatchObject({ code: "ERR_FLEET_FORBIDDEN" });
    await expect(bus!.bucket("creel_lock").then((bucket) => bucket.put("index", Buffer.from("x"), 0))).rejects.toMatchObject({
      code: expect.stringMatching(/^ERR_FLEET_/) as string,
    });
    await Promise.all([bus!.close(), theirs!.close(), one!.close()]);
  },
);

const READER = plugin(
  "reader",
  `api.on("message_sending", async (e) => ({ content: JSON.stringify(await api.session.get(e.content)) }));
   api.on("before_tool_call", () => ({ requireApproval: { title: "Sure?", description: "really" } }));
   api.registerTool({ name: "twice", description: "d", parameters: {}, execute: async (_, { n }) => ({ content: [{ type: "text", text: String(2 * n) }] }) });`,
  { grants: { session: ["get"] } },
);

const read = async (host: Host, key: string) =>
  (await host.run("message_sending", { to: "me", content: key }, { channelId: "chat" })).result?.content;

it.skipIf(noNats !== undefined)(
  "a host asks the gateway that made the run for its session and its user, and no other gateway",
  async () => {
    const [a, b, one] = [keysOf("a", "gateway"), keysOf("b", "gateway"), keysOf("one", "host")];
    await using nats = await Nats.start({ acme: [a, b, one] });
    await using _host = await fleetHost(settingsOf(nats, one, [makeSigningKey().publicKey]), stateFolder(), [READER]);
    const asked: string[] = [];
    const join = (keys: Keys, decision: "allow-once" | "deny") => {
      const { name } = keys.member;
      return openHost({
        fleet: { name, servers: nats.urls, credentials: credentialsOf(keys) },
        logger: silent,
        gateway: {
          getSession: (key) => (asked.push(`${name} ${key}`), { of: name }),
          requestApproval: async () => (asked.push(`${name} user`), decision),
        },
      });
    };
    await using first = await join(a, "allow-once");
    await using second = await join(b, "deny");
    expect([await read(first, "x"), await read(second, "y")]).toEqual(['{"of":"a"}', '{"of":"b"}']);
    const tool = { toolName: "rm", params: {} };
    expect((await first.run("before_tool_call", tool)).decision).toBe("pass");
    expect((await second.run("before_tool_call", tool)).decision).toBe("block");
    expect(asked).toEqual(["a x", "b y", "a user", "b user"]);
    expect((await first.call({ tool: "twice" }, { n: 4 })).value).toMatchObject({ content: [{ text: "8" }] });
    // The caller's own mistake rejects, as it does at home.
    await expect(first.run("message_sending", { to: 1 } as never)).rejects.toMatchObject({ code: "ERR_EVENT_INVALID" });
  },
);

it.skipIf(noNats !== undefined)("a fleet in which no host is there is not joined, and wrong options are named", async () => {
  const keys = keysOf("a", "gateway");
  await using nats = await Nats.start({ acme: [keys] });
  const fleet = { name: "a", servers: nats.urls, credentials: credentialsOf(keys) };
  await expect(openHost({ fleet: { ...fleet, name: "A!" }, logger: silent })).rejects.toThrow("fleet.name");
  await expect(openHost({ fleet, connect: "x.sock", logger: silent })).rejects.toMatchObject({ code: "ERR_HOST_OPTIONS" });
  await expect(openHost({ fleet, logger: silent })).rejects.toMatchObject({ code: "ERR_FLEET_NOBODY" });
});
