/** `creel --fleet <verb>`, each verb against two hosts on a real NATS server: what it prints, and what the hosts then do. */
// runs: creel --fleet install, update, release, explain, tail
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectNats } from "../../src/fleet/nats.ts";
import { makeSigningKey } from "../../src/fleet/control/signature.ts";
import { Operator } from "../../src/fleet/control/operator.ts";
import { creelHere } from "../support/cli-in-process.ts";
import { folder } from "../support/files.ts";
import { credentialsOf, fleetHost, settingsOf } from "../support/fleet.ts";
import type { FleetHost } from "../support/fleet.ts";
import { keysOf, Nats, noNats } from "../support/nats.ts";

const CLI = join(import.meta.dirname, "../../src/cli/main.ts");
const NAMES = ["web-1", "web-2"];

const manifest = (version: string) => JSON.stringify({ id: "gate", version, description: "a gate" });
const says = (word: string) => `export default (api) => { api.on("before_tool_call", () => ({ block: true, blockReason: "${word}" })); };`;

describe.skipIf(noNats !== undefined)("creel --fleet", () => {
  const keys = NAMES.map((name) => keysOf(name, "host"));
  const boss = keysOf("boss", "operator");
  const signing = makeSigningKey();
  const root = folder({ "plugin/creel.plugin.json": manifest("1.0.0"), "plugin/index.ts": says("one") });
  const config = join(root, "creel.json");
  let hosts: FleetHost[] = [];
  let nats: Nats;

  const creel = (...args: string[]) => creelHere("--fleet", ...args, "--config", config);
  const run = (at: number) => hosts[at]!.served.host.run("before_tool_call", { toolName: "t", params: {} });
  const reasons = async () => (await Promise.all([run(0), run(1)])).map(({ reason }) => reason);
  /** A person reads the digest first. */
  const accepted = async (...args: string[]) => {
    const refused = await creel(...args);
    const digest = /--accept (sha256-[\w+/=]+)/.exec(refused.err)?.[1];
    expect([refused.code === 0, refused.err]).toEqual([false, expect.stringContaining("--accept sha256-")]);
    return creel(...args, "--accept", digest!);
  };

  beforeAll(async () => {
    nats = await Nats.start({ acme: [...keys, boss] });
    writeFileSync(join(root, "boss.pem"), signing.pem, { mode: 0o600 });
    const fleet = {
      name: "boss",
      servers: nats.urls,
      credentials: credentialsOf(boss),
      operators: [signing.publicKey],
      signingKey: "boss.pem",
    };
    writeFileSync(config, JSON.stringify({ stateDir: "state", fleet }));
    hosts = await Promise.all(keys.map((key) => fleetHost(settingsOf(nats, key, [signing.publicKey]))));
  }, 60_000);
  afterAll(async () => {
    for (const host of hosts) await host[Symbol.asyncDispose]();
    await nats?.[Symbol.asyncDispose]();
  });

  it("install asks once, and both hosts have the plugin; update does the same", { timeout: 120_000 }, async () => {
    const installed = await accepted("install", join(root, "plugin"));
    expect(installed.out).toContain("2 of 2 hosts follow change 1");
    expect(await reasons()).toEqual(["one", "one"]);
    writeFileSync(join(root, "plugin/creel.plugin.json"), manifest("1.1.0"));
    writeFileSync(join(root, "plugin/index.ts"), says("two"));
    expect(await reasons()).toEqual(["one", "one"]);
    const updated = await accepted("update", "gate");
    expect(updated.out).toContain("2 of 2 hosts follow change 2");
    expect(await reasons()).toEqual(["two", "two"]);
  });

  it("explain finds a run on the host that made it", { timeout: 60_000 }, async () => {
    const { runId } = await run(1);
    const explained = await creel("explain", runId, "--json");
    const rows = JSON.parse(explained.out) as { host: string; ok: { decision?: string } | null }[];
    expect(rows.filter(({ ok }) => ok).map(({ host, ok }) => [host, ok!.decision])).toEqual([["web-2", "block"]]);
  });

  it("release is answered by each host", { timeout: 60_000 }, async () => {
    const released = await creel("release", "gate");
    expect([released.code, released.out]).toEqual([0, expect.stringMatching(/web-1: ready.*\n.*web-2: ready/)]);
  });

  it("tail prints what happens on every host until it is stopped", { timeout: 60_000 }, async () => {
    const args = [
      "-C",
      "source",
      "--disable-warning=ExperimentalWarning",
      CLI,
      "--fleet",
      "tail",
      "--fact",
      "run",
      "--json",
      "--config",
      config,
    ];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
    const exited = once(child, "exit");
    const seen = new Set<string>();
    // It says nothing on its output when it has begun to listen.
    const calls = setInterval(() => void reasons(), 250);
    try {
      for await (const line of createInterface(child.stdout)) {
        const { host, event, fact } = JSON.parse(line) as { host: string; event: string; fact: { outcome: { reason: string } } };
        expect([event, fact.outcome.reason]).toEqual(["run", "two"]);
        if (seen.add(host).size === NAMES.length) break;
      }
    } finally {
      clearInterval(calls);
      child.kill("SIGINT");
    }
    expect(await exited).toEqual([0, null]);
    expect(seen).toEqual(new Set(NAMES));
  });

  it("a host that is silent is named, and the change is no success", { timeout: 60_000 }, async () => {
    await using operator = await Operator.open(await connectNats(nats.accessOf(boss)));
    await hosts.pop()![Symbol.asyncDispose]();
    await expect.poll(() => operator.hosts().length).toBe(2);
    const disabled = await creel("disable", "gate");
    expect([disabled.code, disabled.out]).toEqual([1, expect.stringContaining("web-2 has not followed: it is silent")]);
  });
});
