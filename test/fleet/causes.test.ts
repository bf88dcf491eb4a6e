/** A loop through two hosts of a fleet, a server and a gateway: with a key that the hosts share it is one chain, and ends at the depth limit. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Host } from "../../src/host/host-api.ts";
import { makeSigningKey } from "../../src/fleet/control/signature.ts";
import { LIMITS } from "../../src/protocol/limits.ts";
import { openHost } from "../../src/sdk/open.ts";
import { folder, QUICK } from "../support/files.ts";
import { credentialsOf, fleetHost, settingsOf, stateFolder } from "../support/fleet.ts";
import { plugin, silent } from "../support/host.ts";
import { keysOf, Nats, noNats } from "../support/nats.ts";
import { serve } from "../support/server.ts";

/** More rounds than a chain may have: then nothing but this ends the loop. */
const ENOUGH = 3 * LIMITS.causality.recursionDepth;

interface Played {
  readonly rounds: number;
  readonly depths: readonly number[];
  readonly hosts: ReadonlySet<string>;
  readonly refused: readonly string[];
}

async function play(causes: string | undefined): Promise<Played> {
  const [one, two, gate] = [keysOf("one", "host"), keysOf("two", "host"), keysOf("gate", "gateway")];
  await using nats = await Nats.start({ acme: [one, two, gate] });
  const operators = [makeSigningKey().publicKey];
  let rounds = 0;
  let gateway: Host | undefined;
  // Each round is of another session, so that both hosts take part.
  const round = () =>
    gateway!.run("message_sending", { to: "me", content: String(rounds++) }, { channelId: "c", sessionKey: `s${rounds}` });
  await using server = await serve(async ({ headers }, response) => {
    if (rounds < ENOUGH) await gateway!.rejoin(headers, round);
    response.end();
  });
  const looper = plugin(
    "looper",
    `api.on("message_sending", async () => {
       try { await fetch("${server.origin}/"); } catch (error) { return { content: error.code }; }
     }, { reentrant: true });`,
    { grants: { fetch: [server.origin] } },
  );
  const join_ = (keys: typeof one) => fleetHost(settingsOf(nats, keys, operators), stateFolder(), [looper], causes);
  await using first = await join_(one);
  await using second = await join_(two);
  const [depths, hosts, refused]: [number[], Set<string>, string[]] = [[], new Set(), []];
  for (const [name, { served }] of [
    ["one", first],
    ["two", second],
  ] as const)
    served.host.on("run", ({ outcome, chain }) => {
      depths.push(chain.depth);
      hosts.add(name);
      const { content } = (outcome.result ?? {}) as { content?: string };
      if (content !== undefined) refused.push(content);
    });
  await using opened = await openHost({ fleet: { name: "gate", servers: nats.urls, credentials: credentialsOf(gate) }, logger: silent });
  gateway = opened;
  await expect.poll(() => opened.has("message_sending")).toBe(true);
  await round();
  return { rounds, depths: depths.toSorted((a, b) => a - b), hosts, refused };
}

it.skipIf(noNats !== undefined)(
  "a loop through several hosts ends at the depth limit if they share a key for causes",
  { timeout: 60_000 },
  async () => {
    const file = join(folder({}, QUICK), "causes.key");
    writeFileSync(file, "k".repeat(64), { mode: 0o600 });
    const { rounds, depths, hosts, refused } = await play(file);
    expect(hosts).toEqual(new Set(["one", "two"]));
    expect(depths).toEqual(Array.from({ length: LIMITS.causality.recursionDepth + 1 }, (_, depth) => depth));
    expect(rounds).toBe(LIMITS.causality.recursionDepth + 1);
    expect(refused).toEqual(["ERR_RECURSION_DEPTH"]);
    // Without the key a chain ends wherever the other host takes over.
    expect((await play(undefined)).rounds).toBe(ENOUGH);
  },
);
