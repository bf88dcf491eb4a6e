/** A host that cannot join its fleet says why, once, and goes on with what it has. */
import { describe, expect, it } from "vitest";
import { makeSigningKey } from "../../src/fleet/control/signature.ts";
import { fleetHost, settingsOf } from "../support/fleet.ts";
import { freePorts, keysOf, Nats, noNats, oldServer } from "../support/nats.ts";

const operators = [makeSigningKey().publicKey];

it(
  "a server that is away is a warning, and one that is too old an error, once each, also when it comes later",
  { timeout: 30_000 },
  async () => {
    const [port] = await freePorts(1);
    const { seed } = keysOf("one", "host");
    const servers = [`nats://127.0.0.1:${port}`];
    await using host = await fleetHost({
      name: "one",
      servers,
      seed,
      ca: undefined,
      operators,
      signingKey: undefined,
      auditDays: undefined,
    });
    const told = () => host.lines.flatMap(({ level, message }) => (message.includes("fleet") ? `${level} ${message}` : []));
    expect(told()).toEqual([expect.stringContaining("warn the fleet's server is away")]);
    await using _old = await oldServer(port);
    await expect
      .poll(told, { timeout: 10_000 })
      .toEqual([
        expect.stringContaining("warn the fleet's server is away"),
        expect.stringContaining("error the host cannot join the fleet"),
      ]);
  },
);

describe.skipIf(noNats !== undefined)("on a NATS server", () => {
  it("a key that the server does not know is an error that says so, and no server that is away", async () => {
    await using nats = await Nats.start({ acme: [keysOf("two", "host")] });
    await using host = await fleetHost(settingsOf(nats, keysOf("one", "host"), operators));
    const line = host.lines.find(({ message }) => message.includes("fleet"));
    expect(line).toMatchObject({ level: "error", fields: { err: { code: "ERR_FLEET_REFUSED", params: { name: "one" } } } });
    expect(line?.message).toContain("cannot join the fleet");
  });
});
