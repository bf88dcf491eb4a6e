/** Gates that hosts on other machines judge: who may ask whom, on a real NATS server. What fails: failures.test.ts. */
import { expect, it } from "vitest";
import type { Host } from "../../src/host/host-api.ts";
import { openHost } from "../../src/sdk/open.ts";
import { makeSigningKey } from "../../src/fleet/control/signature.ts";
import { connectNats } from "../../src/fleet/nats.ts";
import { SUBJECTS } from "../../src/fleet/subjects.ts";
import { credentialsOf, fleetHost, settingsOf, stateFolder } from "../support/fleet.ts";
import { plugin, silent } from "../support/host.ts";
import { keysOf, Nats, noNats } from "../support/nats.ts";
import type { Keys } from "../support/nats.ts";

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
