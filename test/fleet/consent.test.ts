/** How long one consent takes: hosts in processes of their own, with sandboxes of their own, on a cluster of three real NATS servers. */
import type { ChildProcess } from "node:child_process";
import { loadavg } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeSigningKey } from "../../src/fleet/control/signature.ts";
import { Operator } from "../../src/fleet/control/operator.ts";
import type { Bus } from "../../src/fleet/bus.ts";
import { connectNats } from "../../src/fleet/nats.ts";
import { SUBJECTS } from "../../src/fleet/subjects.ts";
import { folder } from "../support/files.ts";
import { startHostProcess } from "../support/fleet-failures.ts";
import { settingsOf, stateFolder } from "../support/fleet.ts";
import { putInstalled } from "../support/installed.ts";
import { keysOf, Nats, noNats } from "../support/nats.ts";

const NAMES = ["one", "three", "two"];
const ROUNDS = 10;
const says = (round: number) => `export default (api) => { api.on("message_sending", () => ({ content: "${round}" })); };`;

describe.skipIf(noNats !== undefined)("one consent of an operator", () => {
  const keys = NAMES.map((name) => keysOf(name, "host"));
  const boss = keysOf("boss", "operator");
  const gate = keysOf("gate", "gateway");
  const signing = makeSigningKey();
  const operators = [signing.publicKey];
  const own = stateFolder();
  let children: ChildProcess[] = [];
  let nats: Nats;
  let operator: Operator;
  let gateway: Bus;

  /** What this host's plugin makes of a message. */
  const heard = async (host: string): Promise<unknown> => {
    const params = { hook: "message_sending", event: { to: "me", content: "x" }, ctx: { channelId: "c" } };
    const said = await gateway.request(SUBJECTS.run(host, "gate"), JSON.stringify({ method: "run", params, id: 1, offers: [] }), 10_000);
    return (JSON.parse(said) as { ok: { result: { content: string } } }).ok.result.content;
  };

  beforeAll(async () => {
    nats = await Nats.start({ acme: [...keys, boss, gate] }, 3);
    const root = folder({});
    const start = (key: (typeof keys)[number]) =>
      startHostProcess(join(root, key.member.name), settingsOf(nats, key, operators), [], { isolation: "process" });
    children = await Promise.all(keys.map(start));
    gateway = await connectNats(nats.accessOf(gate));
    operator = await Operator.open(await connectNats(nats.accessOf(boss)));
  }, 120_000);
  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    await gateway?.close();
    await operator?.[Symbol.asyncDispose]();
    await nats?.[Symbol.asyncDispose]();
  });

  // A quick machine needs a tenth of it. On a busy one the fastest round counts, and no round may take as long as a person would wait.
  it("is signed, stored on three servers, and served by three hosts in under a second", { timeout: 240_000 }, async () => {
    // A cluster that has just begun has no leader yet, and the first change makes the buckets: that is no consent.
    await putInstalled(own.dir, "greeter", says(0));
    await expect
      .poll(() => operator.push(own, operators, signing.pem, "ann", 3).then(Boolean, () => false), { timeout: 60_000 })
      .toBe(true);
    const tookMs: number[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      await putInstalled(own.dir, "greeter", says(round));
      const startedMs = performance.now();
      // As the command does, with a connection of its own.
      await using yes = await Operator.listen(await connectNats(nats.accessOf(boss)));
      const { serial } = (await yes.push(own, operators, signing.pem, "ann", 3))!;
      const followed = await operator.followed(serial, 30_000, NAMES);
      tookMs.push(Math.round(performance.now() - startedMs));
      expect(followed).toEqual(NAMES.map((host) => ({ host, serial, isDone: true, why: undefined })));
      expect(await Promise.all(NAMES.map(heard))).toEqual(NAMES.map(() => String(round)));
    }
    const sorted = tookMs.toSorted((a, b) => a - b);
    console.log(
      `one consent on ${NAMES.length} hosts, ms: median ${sorted[ROUNDS / 2]}, fastest ${sorted[0]}, slowest ${sorted.at(-1)}; load ${loadavg()[0]!.toFixed(1)}`,
    );
    expect(sorted[0]).toBeLessThan(1_000);
    expect(sorted.at(-1)).toBeLessThan(10_000);
  });
});
