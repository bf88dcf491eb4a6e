/** Quarantine for good on real NATS servers: what one host has found holds on all that have the same code, until an operator releases it everywhere. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Bus } from "../../src/fleet/bus.ts";
import { makeSigningKey } from "../../src/fleet/control/signature.ts";
import { Operator } from "../../src/fleet/control/operator.ts";
import { connectNats } from "../../src/fleet/nats.ts";
import { LOGS, SUBJECTS } from "../../src/fleet/subjects.ts";
import { fleetHost, settingsOf, stateFolder } from "../support/fleet.ts";
import type { FleetHost } from "../support/fleet.ts";
import { putInstalled } from "../support/installed.ts";
import { keysOf, Nats, noNats } from "../support/nats.ts";
import type { Keys } from "../support/nats.ts";

const NAMES = ["one", "two", "three"];
const GATE = `export default (api) => {
  api.on("before_tool_call", (e) => { if (e.toolName === "bad") throw new Error("boom"); return { params: { seen: true } }; });
};`;
/** It sleeps until it is called. */
const HOOKS = { hooks: [{ hook: "before_tool_call", priority: 0 }], functions: [] };

const pass = (seconds: number) => void vi.setSystemTime(Date.now() + seconds * 1_000);

describe.skipIf(noNats !== undefined)("a plugin that one host of a fleet has quarantined for good", () => {
  const keys = Object.fromEntries(NAMES.map((name) => [name, keysOf(name, "host")])) as Record<string, Keys>;
  const boss = keysOf("boss", "operator");
  const signing = makeSigningKey();
  const own = stateFolder();
  const hosts = new Map<string, FleetHost>();
  let nats: Nats;
  let bus: Bus;
  let operator: Operator;

  const host = (name: string) => hosts.get(name)!.served.host;
  const call = (name: string, toolName = "ls") => host(name).run("before_tool_call", { toolName, params: {} });
  const states = () => NAMES.map((name) => (hosts.has(name) ? host(name).inspect("gate").circuit.state : "away"));
  const start = async (name: string): Promise<void> => {
    hosts.set(name, await fleetHost(settingsOf(nats, keys[name]!, [signing.publicKey]), hosts.get(name)?.state));
  };
  const quarantined = (name: string): object =>
    (JSON.parse(readFileSync(join(hosts.get(name)!.state.dir, "quarantine.json"), "utf8")) as { plugins: object }).plugins;
  const away = (name: string) => hosts.get(name)![Symbol.asyncDispose]();
  /** Its breaker opens three times within ten minutes. */
  const ruin = async (name: string): Promise<void> => {
    for (const seconds of [0, 60, 120]) {
      pass(seconds);
      // The first call after a pause tries it; a closed one takes several.
      do await call(name, "bad");
      while (host(name).inspect("gate").circuit.state === "closed");
    }
  };

  beforeAll(async () => {
    nats = await Nats.start({ acme: [...Object.values(keys), boss] });
    bus = await connectNats(nats.accessOf(boss));
    operator = await Operator.listen(bus);
    await operator.makeQuarantine(1);
    await putInstalled(own.dir, "gate", GATE, HOOKS);
    await operator.push(own, [signing.publicKey], signing.pem, "ann", 1);
    await Promise.all(NAMES.map(start));
    await operator.present();
  }, 60_000);
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterEach(() => void vi.useRealTimers());
  afterAll(async () => {
    await operator?.[Symbol.asyncDispose]();
    for (const one of hosts.values()) await one[Symbol.asyncDispose]();
    await nats?.[Symbol.asyncDispose]();
  });

  it(
    "is in quarantine on all of them, also where it had never been called, and is released on all of them",
    { timeout: 60_000 },
    async () => {
      // It sleeps on the third.
      for (const name of ["one", "two"]) expect((await call(name)).result?.params).toEqual({ seen: true });
      await ruin("one");
      await expect.poll(() => states().slice(0, 2), { timeout: 15_000 }).toEqual(["quarantined", "quarantined"]);
      await expect.poll(async () => (await call("three"), states()[2]), { timeout: 15_000 }).toBe("quarantined");
      // The others' gates follow their failure policy, as the first one's does.
      for (const name of NAMES) expect((await call(name)).decision).toBe("block");
      expect(host("two").inspect("gate").circuit.why).toMatch(/^host one of the fleet quarantined it: .*boom/);
      expect((await operator.release("gate")).map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
      await expect.poll(states, { timeout: 15_000 }).toEqual(["closed", "closed", "closed"]);
      for (const name of NAMES) expect((await call(name)).result?.params).toEqual({ seen: true });
    },
  );

  it("is so on a host that was away, and a release reaches one that was away, too", { timeout: 60_000 }, async () => {
    await away("three");
    await ruin("two");
    await expect.poll(() => states().slice(0, 2), { timeout: 15_000 }).toEqual(["quarantined", "quarantined"]);
    await away("one");
    await start("three");
    // It has read of it by then, before anybody has called the plugin.
    expect(host("three").inspect("gate").status).toBe("asleep");
    expect(Object.keys(quarantined("three"))).toEqual(["gate"]);
    await operator.release("gate");
    await start("one");
    await expect.poll(() => Object.keys(quarantined("three")), { timeout: 15_000 }).toEqual([]);
    expect((await call("three")).decision).toBe("pass");
    await expect.poll(async () => (await call("one"), states()), { timeout: 15_000 }).toEqual(["closed", "closed", "closed"]);
  });

  it("is free again with other code, and what is said of the code before does not concern it", { timeout: 60_000 }, async () => {
    await ruin("one");
    await expect.poll(() => states(), { timeout: 15_000 }).toEqual(["quarantined", "quarantined", "quarantined"]);
    await putInstalled(own.dir, "gate", GATE.replace("boom", "bang"), HOOKS);
    const { serial } = (await operator.push(own, [signing.publicKey], signing.pem, "ann", 1))!;
    await operator.followed(serial, 30_000, NAMES);
    for (const name of NAMES) expect((await call(name)).result?.params).toEqual({ seen: true });
    expect(states()).toEqual(["closed", "closed", "closed"]);
  });

  it("stays in quarantine on a host where it sleeps, whatever another host says of other code", { timeout: 60_000 }, async () => {
    await ruin("three");
    await expect.poll(() => states(), { timeout: 15_000 }).toEqual(["quarantined", "quarantined", "quarantined"]);
    await away("three");
    const { gate } = quarantined("three") as { gate: object };
    const stolen = await connectNats(nats.accessOf(keys.two!));
    const text = JSON.stringify({ plugin: "gate", entry: { ...gate, bundle: "sha256-of other code" } });
    await stolen.log(LOGS.quarantine).append(SUBJECTS.quarantine("two"), text, "stolen");
    await stolen.close();
    await start("three");
    expect(host("three").inspect("gate").status).toBe("asleep");
    expect((await call("three")).decision).toBe("block");
    expect(states()[2]).toBe("quarantined");
  });

  it("cannot be named in the name of another host, nor released by a host", async () => {
    const forbidden = { code: "ERR_FLEET_FORBIDDEN" };
    const two = await connectNats(nats.accessOf(keys.two!));
    const log = two.log(LOGS.quarantine);
    await expect(log.append(SUBJECTS.quarantine("one"), "{}", "a")).rejects.toMatchObject(forbidden);
    await expect(log.append(SUBJECTS.release, "{}", "b")).rejects.toMatchObject(forbidden);
    await two.close();
  });
});
